#include "models/core/registration.h"

#include <dlfcn.h>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace torchstone {

void load_plugin(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) throw std::runtime_error(fmt::format("plug-in {}: no such file", path));
  const CollectRegistrations collect;
  // Absolute: a bare name would be looked up in the library path.
  if (!dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_GLOBAL))
    throw std::runtime_error(fmt::format("plug-in {}: {}", path, dlerror()));
  const Registrations& found = collect.registrations();
  if (!found.errors.empty())
    throw std::runtime_error(fmt::format("plug-in {}: {}", path, fmt::join(found.errors, "; ")));
  if (found.added == 0) {
    throw std::runtime_error(
        fmt::format("plug-in {}: registered nothing; expected a TORCHSTONE_MODEL, TORCHSTONE_BACKEND, TORCHSTONE_CHECK "
                    "or TORCHSTONE_REPORT_WRITER in it, and that it was not loaded before",
                    path));
  }
}

}  // namespace torchstone
