#include "models/core/plugin.h"

#include <dlfcn.h>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/core/registry.h"

namespace torchstone {

void load_plugin(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) throw std::runtime_error(fmt::format("plug-in {}: no such file", path));
  const auto before = all_models().size();
  std::vector<std::string> errors;
  collect_registration_errors(&errors);
  // Absolute: a bare name would be looked up in the library path.
  void* library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_GLOBAL);
  collect_registration_errors(nullptr);
  if (!library) throw std::runtime_error(fmt::format("plug-in {}: {}", path, dlerror()));
  if (!errors.empty()) throw std::runtime_error(fmt::format("plug-in {}: {}", path, fmt::join(errors, "; ")));
  if (all_models().size() == before) {
    throw std::runtime_error(
        fmt::format("plug-in {}: registered no model; expected a TORCHSTONE_MODEL in it, and that "
                    "it was not loaded before",
                    path));
  }
}

}  // namespace torchstone
