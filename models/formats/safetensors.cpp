#include "models/formats/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <fstream>
#include <ranges>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "models/formats/model_file.h"

namespace torchstone::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and is not converted");

constexpr uint64_t length_bytes = 8;              // before the header
constexpr uint64_t longest_header = 100'000'000;  // bytes; the limit of the reference implementation
constexpr size_t most_dimensions = 64;

struct TensorEntry {
  std::string name;
  torch::Dtype dtype;
  std::vector<int64_t> shape;
  uint64_t begin, end;  ///< in the data, which follows the header
};

constexpr std::array<std::pair<const char*, torch::Dtype>, 10> dtypes = {{{"F64", torch::kFloat64},
                                                                          {"F32", torch::kFloat32},
                                                                          {"F16", torch::kFloat16},
                                                                          {"BF16", torch::kBFloat16},
                                                                          {"I64", torch::kInt64},
                                                                          {"I32", torch::kInt32},
                                                                          {"I16", torch::kInt16},
                                                                          {"I8", torch::kInt8},
                                                                          {"U8", torch::kUInt8},
                                                                          {"BOOL", torch::kBool}}};

/// Parses a header, and refuses equal keys, of which nlohmann-json keeps the last. The tensors' names are at depth 1,
/// their fields at depth 2, and nothing nests deeper than the lists in those.
nlohmann::json parse_json(const std::string& text, const std::string& file) {
  constexpr size_t most_events = 8'000'000;  // half a million tensors
  size_t events = 0;
  std::vector<std::set<std::string>> keys(8);
  const auto check = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    using Event = nlohmann::json::parse_event_t;
    if (depth > 4) refuse(file, "header: nested deeper than the format allows");
    if (++events > most_events)
      refuse(file,
             fmt::format("header: more than {} names, numbers and lists (expected at most that many)", most_events));
    if (event == Event::object_start) keys[static_cast<size_t>(depth) + 1].clear();
    if (event == Event::key && !keys[static_cast<size_t>(depth)].insert(value.get<std::string>()).second) {
      refuse(file, fmt::format("header: duplicate name \"{}\"", value.get<std::string>()));
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::parse_error& error) {
    refuse(file, fmt::format("byte {}: the header is not JSON: {}", length_bytes + error.byte - 1, error.what()));
  } catch (const nlohmann::json::exception& error) {  // a number that no double holds (1e999)
    refuse(file, fmt::format("the header cannot be read: {}", error.what()));
  }
}

uint64_t elements_of(const std::vector<int64_t>& shape, const std::string& where, const std::string& file) {
  int64_t span = 1;  // counts 0 as 1, as the computation of strides does
  bool empty = false;
  for (const auto size : shape) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(span, std::max<int64_t>(size, 1), &span)) {
      refuse(file, where + ": the shape's product overflows 64 bits");
    }
  }
  return empty ? 0 : static_cast<uint64_t>(span);
}

std::vector<int64_t> integers(const nlohmann::json& list, const std::string& where, const std::string& file) {
  if (!list.is_array()) refuse(file, fmt::format("{}: {}, expected a list of integers", where, list.type_name()));
  std::vector<int64_t> values;
  for (const auto& item : list) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > INT64_MAX) {
      refuse(file, fmt::format("{}[{}]: expected an integer from 0 to 2^63 - 1", where, values.size()));
    }
    values.push_back(item.get<int64_t>());
    if (values.size() > most_dimensions)
      refuse(file, fmt::format("{}: {} numbers (expected at most {})", where, list.size(), most_dimensions));
  }
  return values;
}

TensorEntry parse_entry(const std::string& name, const nlohmann::json& fields, const std::string& file) {
  const auto where = fmt::format("tensor \"{}\"", name);
  if (!fields.is_object()) refuse(file, fmt::format("{}: {}, expected an object", where, fields.type_name()));
  for (const auto* key : {"dtype", "shape", "data_offsets"}) {
    if (!fields.contains(key)) refuse(file, fmt::format("{}: {} is missing", where, key));
  }
  const auto& dtype = fields["dtype"];
  const auto* known = std::find_if(dtypes.begin(), dtypes.end(), [&](const auto& pair) { return dtype == pair.first; });
  if (known == dtypes.end()) {
    refuse(file, fmt::format("{}: dtype {} is unknown, expected one of {}", where,
                             dtype.is_string() ? dtype.get<std::string>() : dtype.type_name(),
                             fmt::join(std::views::keys(dtypes), " ")));
  }
  const auto offsets = integers(fields["data_offsets"], where + ": data_offsets", file);
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    refuse(file, where + ": data_offsets must be [begin, end] with begin <= end");
  }
  TensorEntry entry{name, known->second, integers(fields["shape"], where + ": shape", file),
                    static_cast<uint64_t>(offsets[0]), static_cast<uint64_t>(offsets[1])};
  uint64_t bytes = elements_of(entry.shape, where, file);
  if (__builtin_mul_overflow(bytes, c10::elementSize(entry.dtype), &bytes)) {
    refuse(file, where + ": the byte count overflows 64 bits");
  }
  if (bytes != entry.end - entry.begin) {
    refuse(file, fmt::format("{}: its offsets span {} bytes, its shape and dtype need {}", where,
                             entry.end - entry.begin, bytes));
  }
  return entry;
}

/// Reads the names of a header. Returns the tensors sorted by offset; they cover the data without gap or overlap.
std::vector<TensorEntry> parse_header(const std::string& text, uint64_t data_bytes, const std::string& file,
                                      std::map<std::string, std::string>& metadata) {
  const auto json = parse_json(text, file);
  if (!json.is_object()) refuse(file, fmt::format("byte 8: header is {}, expected an object", json.type_name()));
  std::vector<TensorEntry> entries;
  for (const auto& [name, fields] : json.items()) {
    if (name != "__metadata__") {
      entries.push_back(parse_entry(name, fields, file));
      continue;
    }
    if (!fields.is_object()) refuse(file, "__metadata__: expected an object");
    for (const auto& [key, value] : fields.items()) {
      if (!value.is_string()) refuse(file, fmt::format("__metadata__: {} is not a string", key));
      metadata[key] = value.get<std::string>();
    }
  }
  std::ranges::sort(entries, {}, [](const auto& entry) { return std::tie(entry.begin, entry.end); });
  uint64_t place = 0;
  for (const auto& entry : entries) {
    if (entry.begin != place) {
      refuse(file, fmt::format("tensor \"{}\": begins at data byte {}, expected {} ({})", entry.name, entry.begin,
                               place, entry.begin < place ? "overlap" : "gap"));
    }
    place = entry.end;
  }
  if (place != data_bytes) {
    refuse(file, fmt::format("the tensors need {} bytes of data, the file holds {}", place, data_bytes));
  }
  return entries;
}

torch::Tensor read_tensor(std::istream& stream, const TensorEntry& entry, const std::string& file) {
  auto tensor = torch::empty(entry.shape, entry.dtype);
  const auto bytes = static_cast<std::streamsize>(entry.end - entry.begin);
  auto* data = static_cast<char*>(tensor.data_ptr());
  if (bytes > 0 && !stream.read(data, bytes)) refuse(file, fmt::format("tensor \"{}\": cannot be read", entry.name));
  if (entry.dtype == torch::kBool && std::any_of(data, data + bytes, [](char c) { return c != 0 && c != 1; })) {
    refuse(file, fmt::format("tensor \"{}\": a BOOL byte is neither 0 nor 1", entry.name));
  }
  return tensor;
}

}  // namespace

SafeTensors read_safetensors(std::istream& stream, const std::string& name) {
  const auto stream_size = size_of(stream);
  if (!stream_size) refuse(name, "cannot be read");
  const uint64_t size = *stream_size;
  uint64_t length = 0;
  if (size < length_bytes) refuse(name, fmt::format("{} bytes long, expected at least {}", size, length_bytes));
  stream.read(reinterpret_cast<char*>(&length), length_bytes);
  if (length > longest_header)
    refuse(name, fmt::format("byte 0: header of {} bytes, at most {} are allowed", length, longest_header));
  if (length > size - length_bytes) {
    refuse(name,
           fmt::format("byte 0: header of {} bytes, but only {} follow (truncated?)", length, size - length_bytes));
  }
  std::string text(length, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(length))) refuse(name, "the header cannot be read");
  SafeTensors content;
  for (const auto& entry : parse_header(text, size - length_bytes - length, name, content.metadata))
    content.tensors[entry.name] = read_tensor(stream, entry, name);
  return content;
}

SafeTensors read_safetensors(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) refuse(path, "no such file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) refuse(path, "cannot be opened");
  return read_safetensors(stream, path);
}

void write_safetensors(std::ostream& stream, const std::string& name, const SafeTensors& content) {
  nlohmann::json header = nlohmann::json::object();
  if (!content.metadata.empty()) header["__metadata__"] = content.metadata;
  uint64_t place = 0;
  for (const auto& [key, tensor] : content.tensors) {
    const auto* dtype = std::ranges::find(dtypes, tensor.scalar_type(), &std::pair<const char*, torch::Dtype>::second);
    if (dtype == dtypes.end())
      refuse(name, fmt::format("tensor \"{}\": the format has no {}", key, c10::toString(tensor.scalar_type())));
    if (key == "__metadata__") refuse(name, "no tensor may be called __metadata__");
    const auto end = place + static_cast<uint64_t>(tensor.numel()) * tensor.element_size();
    header[key] = {{"dtype", dtype->first}, {"shape", tensor.sizes().vec()}, {"data_offsets", {place, end}}};
    place = end;
  }
  auto text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns the data
  const uint64_t length = text.size();
  stream.write(reinterpret_cast<const char*>(&length), length_bytes)
      .write(text.data(), static_cast<std::streamsize>(length));
  for (const auto& [key, tensor] : content.tensors) {
    const auto data = tensor.detach().cpu().contiguous();
    stream.write(static_cast<const char*>(data.data_ptr()), static_cast<std::streamsize>(data.nbytes()));
  }
  if (!stream.flush()) refuse(name, "cannot be written");
}

}  // namespace torchstone::formats
