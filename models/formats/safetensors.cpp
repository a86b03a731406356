#include "models/formats/safetensors.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/formats/refuse.h"
#include "models/formats/safetensors_header.h"

namespace torchstone::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and is read as it lies");

constexpr uint64_t longest_header = 100'000'000;  // bytes; the limit of the reference implementation

torch::Tensor read_tensor(std::istream& stream, const SafeTensorsEntry& entry, const std::string& file) {
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
  stream.seekg(0, std::ios::end);
  const auto end = stream.tellg();
  stream.seekg(0);
  if (!stream || end < 0) refuse(name, "cannot be read");
  const auto size = static_cast<uint64_t>(end);
  uint64_t length = 0;
  if (size < safetensors_length_bytes)
    refuse(name, fmt::format("{} bytes long, expected at least {}", size, safetensors_length_bytes));
  stream.read(reinterpret_cast<char*>(&length), safetensors_length_bytes);
  if (length > longest_header)
    refuse(name, fmt::format("byte 0: header of {} bytes, at most {} are allowed", length, longest_header));
  if (length > size - safetensors_length_bytes) {
    refuse(name, fmt::format("byte 0: header of {} bytes, but only {} follow (truncated?)", length,
                             size - safetensors_length_bytes));
  }
  std::string text(length, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(length))) refuse(name, "the header cannot be read");
  auto header = parse_safetensors_header(text, size - safetensors_length_bytes - length, name);
  SafeTensors content;
  content.metadata = std::move(header.metadata);
  for (const auto& entry : header.entries) content.tensors[entry.name] = read_tensor(stream, entry, name);
  return content;
}

SafeTensors read_safetensors(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) refuse(path, "no such file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) refuse(path, "cannot be opened");
  return read_safetensors(stream, path);
}

void write_safetensors(const std::string& path, const SafeTensors& content) {
  nlohmann::json header = nlohmann::json::object();
  if (!content.metadata.empty()) header["__metadata__"] = content.metadata;
  uint64_t place = 0;
  for (const auto& [name, tensor] : content.tensors) {
    const auto* dtype = safetensors_dtype(tensor.scalar_type());
    if (!dtype)
      refuse(path, fmt::format("tensor \"{}\": the format has no {}", name, c10::toString(tensor.scalar_type())));
    if (name == "__metadata__") refuse(path, "no tensor may be called __metadata__");
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
    stream.write(reinterpret_cast<const char*>(&length), safetensors_length_bytes)
        .write(text.data(), static_cast<std::streamsize>(length));
    for (const auto& [name, tensor] : content.tensors) {
      const auto data = tensor.detach().cpu().contiguous();
      stream.write(static_cast<const char*>(data.data_ptr()), static_cast<std::streamsize>(data.nbytes()));
    }
    if (!stream.flush()) refuse(aside, "cannot be written");
  }
  std::error_code error;
  std::filesystem::rename(aside, path, error);
  if (error) refuse(path, error.message());
}

}  // namespace torchstone::formats
