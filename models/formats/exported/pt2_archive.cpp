#include "models/formats/exported/pt2_archive.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/formats/exported/json_place.h"
#include "models/formats/model_file.h"
#include "models/formats/pickle/pickle.h"

namespace torchstone::formats::exported {
namespace {

constexpr const char* expected = "expected an archive of torch.export.save";

void require_zip(std::istream& stream) {
  std::string start(4, '\0');
  if (!stream.read(start.data(), 4) || start != "PK\3\4")
    throw std::invalid_argument(fmt::format("no zip archive; {}", expected));
}

/// A name that a program which unpacks the archive would write elsewhere. Nothing is unpacked here; such an archive was
/// made by hand all the same.
bool leaves_its_folder(const std::string& name) {
  if (name.empty() || name.starts_with('/') || name.find('\\') != std::string::npos) return true;
  std::istringstream parts(name);
  for (std::string part; std::getline(parts, part, '/');) {
    if (part == "..") return true;
  }
  return false;
}

}  // namespace

Archive::Archive(const std::string& path) : path_(path) {
  if (!std::filesystem::is_regular_file(path)) throw std::invalid_argument("no such file");
  std::ifstream stream(path, std::ios::binary);
  require_zip(stream);
  reader_ = std::make_unique<caffe2::serialize::PyTorchStreamReader>(path);
  open(std::filesystem::file_size(path));
}

Archive::Archive(std::istream& stream) {
  require_zip(stream);
  stream.seekg(0, std::ios::end);
  const auto size = stream.tellg();
  stream.seekg(0);
  reader_ = std::make_unique<caffe2::serialize::PyTorchStreamReader>(&stream);
  open(static_cast<uint64_t>(std::max<std::streamoff>(size, 0)));
}

void Archive::open(uint64_t file_bytes) {
  file_bytes_ = file_bytes;
  require_possible_sizes(*reader_, file_bytes_);
  for (const auto& name : reader_->getAllRecords()) {
    if (leaves_its_folder(name))
      throw std::invalid_argument(fmt::format("a record named \"{}\" (expected names within the archive)", name));
    names_.insert(name);
  }
  if (has("constants.pkl")) throw std::invalid_argument(fmt::format("a TorchScript file; {}", expected));
  if (has("data.pkl")) throw std::invalid_argument(fmt::format("a file of torch.save; {}", expected));
  if (!has("archive_format") || text("archive_format") != "pt2")
    throw std::invalid_argument(fmt::format("no record archive_format that says pt2; {}", expected));
  if (has("archive_version") && text("archive_version") != "0")
    throw std::invalid_argument(fmt::format("version {} of the archive (expected 0, which PyTorch 2.11 to 2.13 writes)",
                                            text("archive_version")));
  if (has("byteorder") && text("byteorder") != "little") throw std::invalid_argument("expected little-endian numbers");
  if (programs().empty())
    throw std::invalid_argument(
        fmt::format("holds no program in models/, perhaps an AOTInductor package, which is "
                    "compiled already; {}",
                    expected));
}

Archive::~Archive() = default;

std::vector<std::string> Archive::programs() const {
  const std::string folder = "models/", ending = ".json";
  std::vector<std::string> programs;
  for (const auto& name : names_) {
    if (name.starts_with(folder) && name.ends_with(ending) && name.size() > folder.size() + ending.size())
      programs.push_back(name.substr(folder.size(), name.size() - folder.size() - ending.size()));
  }
  return programs;
}

std::pair<at::DataPtr, size_t> Archive::bytes(const std::string& record) {
  if (!has(record)) throw std::invalid_argument(fmt::format("expected a record {}", record.substr(0, 200)));
  auto [data, size] = reader_->getRecord(record);
  return {std::move(data), size};
}

std::string Archive::text(const std::string& record) {
  const auto [data, size] = bytes(record);
  return {static_cast<const char*>(data.get()), size};
}

nlohmann::json Archive::json(const std::string& record) { return parse_json(text(record), record); }

c10::IValue Archive::saved(const std::string& record) {
  std::istringstream stream(text(record));
  return read_pt(stream, record);
}

}  // namespace torchstone::formats::exported
