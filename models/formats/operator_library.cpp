#include "models/formats/operator_library.h"

#include <algorithm>
#include <dlfcn.h>
#include <filesystem>
#include <stdexcept>

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

namespace torchstone::formats {
namespace {

std::vector<std::string>& loaded() {
  static std::vector<std::string> libraries;
  return libraries;
}

size_t known_operators() { return c10::Dispatcher::singleton().getAllOpNames().size(); }

[[noreturn]] void refuse_library(const std::string& path, const std::string& why) {
  throw std::runtime_error(fmt::format("library {}: {}", path, why));
}

}  // namespace

void load_operator_library(const std::string& path) {
  if (std::ranges::find(loaded(), path) != loaded().end()) return;
  if (!std::filesystem::is_regular_file(path)) refuse_library(path, "no such file");
  const size_t before = known_operators();
  try {
    // Absolute: a bare name would be looked up in the library path.
    if (dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
      refuse_library(path, dlerror());
  } catch (const c10::Error& error) {  // two libraries with one operator
    refuse_library(path, error.what_without_backtrace());
  }
  if (known_operators() == before)
    refuse_library(path, "registered no operator; expected a TORCH_LIBRARY in it, and that it was not loaded before");
  loaded().push_back(path);
}

const std::vector<std::string>& operator_libraries() { return loaded(); }

}  // namespace torchstone::formats
