#include "models/formats/model_file.h"

#include <algorithm>
#include <cctype>
#include <dlfcn.h>
#include <istream>

#include <ATen/core/dispatch/Dispatcher.h>
#include <caffe2/serialize/inline_container.h>

namespace torchstone::formats {
namespace {

namespace fs = std::filesystem;

bool is_exported_folder(const fs::path& path) {
  std::error_code error;  // a name may be too long for the file system
  return fs::exists(path / "eval.pt2", error) || fs::exists(path / "train.pt2", error);
}

std::vector<std::string>& loaded_libraries() {
  static std::vector<std::string> libraries;
  return libraries;
}

size_t known_operators() { return c10::Dispatcher::singleton().getAllOpNames().size(); }

}  // namespace

bool is_model_file(const std::string& path) {
  return path.ends_with(".pt") || path.ends_with(".pt2") || is_exported_folder(path);
}

bool is_exported_model(const std::string& path) { return is_model_file(path) && !path.ends_with(".pt"); }

std::string model_name_of(const std::string& path) {
  fs::path file = fs::path(path).lexically_normal();
  if (!file.has_filename()) file = file.parent_path();  // `folder/`
  const bool named_file = path.ends_with(".pt") || path.ends_with(".pt2");
  std::string name = named_file ? file.stem().string() : file.filename().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name.empty() ? "model" : name;
}

std::optional<uint64_t> size_of(std::istream& stream) {
  stream.seekg(0, std::ios::end);
  const auto size = stream.tellg();
  stream.seekg(0);
  return stream && size >= 0 ? std::optional(static_cast<uint64_t>(size)) : std::nullopt;
}

void require_possible_sizes(caffe2::serialize::PyTorchStreamReader& archive, uint64_t file_bytes) {
  constexpr uint64_t most_of_other_records = uint64_t{256} << 20;
  constexpr size_t most_records = 1'000'000;
  const auto names = archive.getAllRecords();
  if (names.size() > most_records)
    throw std::invalid_argument(fmt::format("{} records (expected at most {})", names.size(), most_records));
  uint64_t of_tensors = 0, of_others = 0;
  for (const auto& name : names) {
    const uint64_t size = archive.getRecordSize(name);
    uint64_t& sum = name.starts_with("data/") || name.starts_with("constants/") ? of_tensors : of_others;
    if (__builtin_add_overflow(sum, size, &sum)) throw std::invalid_argument("the sizes of its records overflow");
  }
  if (of_tensors > file_bytes)
    throw std::invalid_argument(
        fmt::format("its tensors are stored in {} bytes, more than the {} of the file: records "
                    "are compressed or overlap (expected neither)",
                    of_tensors, file_bytes));
  if (of_others > most_of_other_records)
    throw std::invalid_argument(fmt::format("its code and pickles take {} bytes unpacked (expected at most {})",
                                            of_others, most_of_other_records));
}

void load_operator_library(const std::string& path) {
  if (std::ranges::find(loaded_libraries(), path) != loaded_libraries().end()) return;
  const std::string library = "library " + path;
  if (!fs::is_regular_file(path)) refuse(library, "no such file");
  const size_t before = known_operators();
  try {
    // The path is absolute because dlopen searches the library path for a bare name.
    if (dlopen(fs::absolute(path).c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) refuse(library, dlerror());
  } catch (const c10::Error& error) {  // two libraries with one operator
    refuse(library, error.what_without_backtrace());
  }
  if (known_operators() == before)
    refuse(library, "registered no operator; expected a TORCH_LIBRARY in it, and that it was not loaded before");
  loaded_libraries().push_back(path);
}

const std::vector<std::string>& operator_libraries() { return loaded_libraries(); }

}  // namespace torchstone::formats
