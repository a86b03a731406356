#include "models/formats/model_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace torchstone::formats {
namespace {

namespace fs = std::filesystem;

bool is_exported_folder(const fs::path& path) {
  std::error_code error;  // a name may be too long to be asked for
  return fs::exists(path / "eval.pt2", error) || fs::exists(path / "train.pt2", error);
}

}  // namespace

bool is_model_file(const std::string& path) {
  return path.ends_with(".pt") || path.ends_with(".pt2") || is_exported_folder(path);
}

std::string model_name_of(const std::string& path) {
  fs::path file = fs::path(path).lexically_normal();
  if (!file.has_filename()) file = file.parent_path();  // `folder/`
  const bool named_file = path.ends_with(".pt") || path.ends_with(".pt2");
  std::string name = named_file ? file.stem().string() : file.filename().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name.empty() ? "model" : name;
}

}  // namespace torchstone::formats
