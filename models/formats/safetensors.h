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

/// Reads a file with the dtypes F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL. Throws std::runtime_error with the file, the
/// byte or the tensor, and what was expected, for anything that the format forbids. Examples are headers over 100 MB,
/// duplicate names, unknown dtypes, and byte counts that do not match the shape. Offsets may not overlap, leave gaps or
/// exceed the file.
SafeTensors read_safetensors(const std::string& path);
/// Reads from a seekable stream; `name` is used in errors.
SafeTensors read_safetensors(std::istream& stream, const std::string& name);

/// Writes to a stream; `name` is used in errors. The tensors may be on any device; their layout must be strided. Throws
/// std::runtime_error.
void write_safetensors(std::ostream& stream, const std::string& name, const SafeTensors& content);

}  // namespace torchstone::formats
