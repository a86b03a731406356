#pragma once
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
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

/// The JSON header of a safetensors file.

namespace torchstone::formats {

constexpr uint64_t safetensors_length_bytes = 8;  ///< the length of the header stands before it

/// What the header says about one tensor.
struct SafeTensorsEntry {
  std::string name;
  torch::Dtype dtype;
  std::vector<int64_t> shape;
  uint64_t begin, end;  ///< in the data, which starts behind the header
};

struct SafeTensorsHeader {
  std::vector<SafeTensorsEntry> entries;  ///< sorted by `begin`; they cover the data without gap or overlap
  std::map<std::string, std::string> metadata;
};

/// The format's name of a dtype ("F32"); nullptr when it has none.
const char* safetensors_dtype(torch::Dtype dtype);

/// `file` stands in the errors. Throws std::runtime_error for everything that the format forbids.
SafeTensorsHeader parse_safetensors_header(const std::string& text, uint64_t data_bytes, const std::string& file);

}  // namespace torchstone::formats
