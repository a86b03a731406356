#pragma once
#include <iosfwd>
#include <map>
#include <string>

#include <torch/torch.h>

namespace torchstone::formats {

/// Content of a safetensors file (https://github.com/huggingface/safetensors#format): a little-endian u64 header
/// length, a JSON header {name: {dtype, shape, data_offsets}} and the raw bytes.
struct SafeTensors {
  std::map<std::string, torch::Tensor> tensors;  ///< on the CPU, contiguous
  std::map<std::string, std::string> metadata;   ///< the header's "__metadata__"
};

/// Reads F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL. Throws std::runtime_error naming the file, the byte or the tensor,
/// and what was expected, for anything that the format forbids: truncation, a header over 100 MB, offsets that overlap,
/// leave gaps or run out of the file, a byte count that does not fit the shape, duplicate names, an unknown dtype.
SafeTensors read_safetensors(const std::string& path);
/// The same from a seekable stream; `name` is used in errors.
SafeTensors read_safetensors(std::istream& stream, const std::string& name);

/// Writes to a temporary name and renames, so that a file that exists is complete. The tensors may be on any device;
/// their layout must be strided. Throws std::runtime_error.
void write_safetensors(const std::string& path, const SafeTensors& content);

}  // namespace torchstone::formats
