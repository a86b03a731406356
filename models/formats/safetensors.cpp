#include "models/formats/safetensors.h"

#include <array>
#include <bit>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace torchstone::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and is read as it lies");

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeader = 100'000'000;  // the limit of the reference implementation
constexpr std::array<std::pair<const char*, torch::Dtype>, 10> kDtypes = {{{"F64", torch::kFloat64},
                                                                           {"F32", torch::kFloat32},
                                                                           {"F16", torch::kFloat16},
                                                                           {"BF16", torch::kBFloat16},
                                                                           {"I64", torch::kInt64},
                                                                           {"I32", torch::kInt32},
                                                                           {"I16", torch::kInt16},
                                                                           {"I8", torch::kInt8},
                                                                           {"U8", torch::kUInt8},
                                                                           {"BOOL", torch::kBool}}};

[[noreturn]] void fail(const std::string& file, const std::string& text) {
  throw std::runtime_error(fmt::format("{}: {}", file, text));
}

/// What the header says about one tensor.
struct Entry {
  std::string name;
  torch::Dtype dtype;
  std::vector<int64_t> shape;
  uint64_t begin, end;  // in the data, which starts behind the header
};

/// nlohmann-json keeps the last of two equal keys; a header with two must be refused. Depth 1 holds the tensors' names,
/// depth 2 their fields, and nothing nests deeper than the lists in those.
nlohmann::json parse_header(const std::string& text, const std::string& file) {
  std::vector<std::set<std::string>> keys(8);
  const auto check = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    using Event = nlohmann::json::parse_event_t;
    if (depth > 4) fail(file, "header: nested deeper than the format allows");
    if (event == Event::object_start) keys[static_cast<size_t>(depth) + 1].clear();
    if (event == Event::key && !keys[static_cast<size_t>(depth)].insert(value.get<std::string>()).second) {
      fail(file, fmt::format("header: duplicate name \"{}\"", value.get<std::string>()));
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::parse_error& error) {
    fail(file, fmt::format("byte {}: the header is no JSON: {}", kLengthBytes + error.byte - 1, error.what()));
  }
}

uint64_t elements_of(const std::vector<int64_t>& shape, const std::string& where, const std::string& file) {
  int64_t span = 1;  // with 0 taken as 1: strides are computed so
  bool empty = false;
  for (const auto size : shape) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(span, std::max<int64_t>(size, 1), &span)) {
      fail(file, where + ": the shape's product overflows 64 bits");
    }
  }
  return empty ? 0 : static_cast<uint64_t>(span);
}

std::vector<int64_t> integers(const nlohmann::json& list, const std::string& where, const std::string& file) {
  if (!list.is_array()) fail(file, fmt::format("{}: {}, expected a list of integers", where, list.type_name()));
  std::vector<int64_t> values;
  for (const auto& item : list) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > INT64_MAX) {
      fail(file, fmt::format("{}[{}]: expected an integer from 0 to 2^63 - 1", where, values.size()));
    }
    values.push_back(item.get<int64_t>());
  }
  return values;
}

Entry parse_entry(const std::string& name, const nlohmann::json& fields, const std::string& file) {
  const auto where = fmt::format("tensor \"{}\"", name);
  if (!fields.is_object()) fail(file, fmt::format("{}: {}, expected an object", where, fields.type_name()));
  for (const auto* key : {"dtype", "shape", "data_offsets"}) {
    if (!fields.contains(key)) fail(file, fmt::format("{}: {} is missing", where, key));
  }
  const auto& dtype = fields["dtype"];
  const auto* known =
      std::find_if(kDtypes.begin(), kDtypes.end(), [&](const auto& pair) { return dtype == pair.first; });
  if (known == kDtypes.end()) {
    std::string names;
    for (const auto& [label, type] : kDtypes) names += fmt::format(" {}", label);
    fail(file, fmt::format("{}: dtype {} is unknown, expected one of{}", where,
                           dtype.is_string() ? dtype.get<std::string>() : dtype.type_name(), names));
  }
  const auto offsets = integers(fields["data_offsets"], where + ": data_offsets", file);
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    fail(file, where + ": data_offsets must be [begin, end] with begin <= end");
  }
  Entry entry{name, known->second, integers(fields["shape"], where + ": shape", file),
              static_cast<uint64_t>(offsets[0]), static_cast<uint64_t>(offsets[1])};
  uint64_t bytes = elements_of(entry.shape, where, file);
  if (__builtin_mul_overflow(bytes, c10::elementSize(entry.dtype), &bytes)) {
    fail(file, where + ": the byte count overflows 64 bits");
  }
  if (bytes != entry.end - entry.begin) {
    fail(file, fmt::format("{}: its offsets span {} bytes, its shape and dtype need {}", where, entry.end - entry.begin,
                           bytes));
  }
  return entry;
}

/// Sorted by place; they must cover the data without gap or overlap.
std::vector<Entry> parse_entries(const nlohmann::json& header, uint64_t data_bytes, const std::string& file,
                                 std::map<std::string, std::string>& metadata) {
  std::vector<Entry> entries;
  for (const auto& [name, fields] : header.items()) {
    if (name != "__metadata__") {
      entries.push_back(parse_entry(name, fields, file));
      continue;
    }
    if (!fields.is_object()) fail(file, "__metadata__: expected an object");
    for (const auto& [key, value] : fields.items()) {
      if (!value.is_string()) fail(file, fmt::format("__metadata__: {} is no string", key));
      metadata[key] = value.get<std::string>();
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  uint64_t place = 0;
  for (const auto& entry : entries) {
    if (entry.begin != place) {
      fail(file, fmt::format("tensor \"{}\": begins at data byte {}, expected {} ({})", entry.name, entry.begin, place,
                             entry.begin < place ? "overlap" : "gap"));
    }
    place = entry.end;
  }
  if (place != data_bytes) {
    fail(file, fmt::format("the tensors need {} bytes of data, the file holds {}", place, data_bytes));
  }
  return entries;
}

torch::Tensor read_tensor(std::istream& stream, const Entry& entry, const std::string& file) {
  auto tensor = torch::empty(entry.shape, entry.dtype);
  const auto bytes = static_cast<std::streamsize>(entry.end - entry.begin);
  auto* data = static_cast<char*>(tensor.data_ptr());
  if (bytes > 0 && !stream.read(data, bytes)) fail(file, fmt::format("tensor \"{}\": cannot be read", entry.name));
  if (entry.dtype == torch::kBool && std::any_of(data, data + bytes, [](char c) { return c != 0 && c != 1; })) {
    fail(file, fmt::format("tensor \"{}\": a BOOL byte is neither 0 nor 1", entry.name));
  }
  return tensor;
}

const char* dtype_name(torch::Dtype dtype) {
  for (const auto& [name, type] : kDtypes) {
    if (type == dtype) return name;
  }
  return nullptr;
}

}  // namespace

SafeTensors read_safetensors(std::istream& stream, const std::string& name) {
  stream.seekg(0, std::ios::end);
  const auto end = stream.tellg();
  stream.seekg(0);
  if (!stream || end < 0) fail(name, "cannot be read");
  const auto size = static_cast<uint64_t>(end);
  uint64_t length = 0;
  if (size < kLengthBytes) fail(name, fmt::format("{} bytes long, expected at least {}", size, kLengthBytes));
  stream.read(reinterpret_cast<char*>(&length), kLengthBytes);
  if (length > kMaxHeader)
    fail(name, fmt::format("byte 0: header of {} bytes, at most {} are allowed", length, kMaxHeader));
  if (length > size - kLengthBytes) {
    fail(name, fmt::format("byte 0: header of {} bytes, but only {} follow (truncated?)", length, size - kLengthBytes));
  }
  std::string text(length, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(length))) fail(name, "the header cannot be read");
  const auto header = parse_header(text, name);
  if (!header.is_object()) fail(name, fmt::format("byte 8: header is {}, expected an object", header.type_name()));
  SafeTensors content;
  for (const auto& entry : parse_entries(header, size - kLengthBytes - length, name, content.metadata)) {
    content.tensors[entry.name] = read_tensor(stream, entry, name);
  }
  return content;
}

SafeTensors read_safetensors(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) fail(path, "no such file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(path, "cannot be opened");
  return read_safetensors(stream, path);
}

void write_safetensors(const std::string& path, const SafeTensors& content) {
  nlohmann::json header = nlohmann::json::object();
  if (!content.metadata.empty()) header["__metadata__"] = content.metadata;
  uint64_t place = 0;
  for (const auto& [name, tensor] : content.tensors) {
    const auto* dtype = dtype_name(tensor.scalar_type());
    if (!dtype)
      fail(path, fmt::format("tensor \"{}\": the format has no {}", name, c10::toString(tensor.scalar_type())));
    if (name == "__metadata__") fail(path, "no tensor may be called __metadata__");
    const auto end = place + static_cast<uint64_t>(tensor.numel()) * tensor.element_size();
    header[name] = {{"dtype", dtype}, {"shape", tensor.sizes().vec()}, {"data_offsets", {place, end}}};
    place = end;
  }
  auto text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns the data
  const auto aside = path + ".part";
  {
    std::ofstream stream(aside, std::ios::binary);
    const uint64_t length = text.size();
    stream.write(reinterpret_cast<const char*>(&length), kLengthBytes)
        .write(text.data(), static_cast<std::streamsize>(length));
    for (const auto& [name, tensor] : content.tensors) {
      const auto data = tensor.detach().cpu().contiguous();
      stream.write(static_cast<const char*>(data.data_ptr()), static_cast<std::streamsize>(data.nbytes()));
    }
    if (!stream.flush()) fail(aside, "cannot be written");
  }
  std::error_code error;
  std::filesystem::rename(aside, path, error);
  if (error) fail(path, error.message());
}

}  // namespace torchstone::formats
