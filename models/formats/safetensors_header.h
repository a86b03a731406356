#pragma once
/// The JSON header of a safetensors file.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <torch/torch.h>

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
