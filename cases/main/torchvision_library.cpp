#include "cases/main/torchvision_library.h"

#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "fixtures/base/process.h"
#include "fixtures/compile/toolchain.h"
#include "models/formats/operator_library.h"

namespace torchstone {
namespace {

constexpr auto marker = "torchvision is in ";

/// The package's folder, without importing it: an import fails where its library does not fit PyTorch. Empty when there
/// is none.
std::string folder_of_torchvision(const std::string& python) try {
  const std::string script = fmt::format(
      "import importlib.util as u\ns = u.find_spec('torchvision')\n"
      "print('{}' + s.submodule_search_locations[0] if s else '')",
      marker);
  const Finished finished = run_program({python, "-c", script});
  const auto begin = finished.output.find(marker);
  if (finished.status != 0 || begin == std::string::npos) return "";
  const std::string folder = finished.output.substr(begin + std::string(marker).size());
  return folder.substr(0, folder.find('\n'));
} catch (const std::system_error&) {
  return "";
}

}  // namespace

void load_torchvision(const flags::Flags& flags) {
  run_options() = flags.run;
  const std::string python = compile::default_python();
  const std::string folder = folder_of_torchvision(python);
  if (folder.empty())
    throw std::runtime_error(fmt::format(
        "{} has no torchvision (install it there, or give --torchstone_library=FOLDER/torchvision/_C.so)", python));
  formats::load_operator_library(folder + "/_C.so");
}

}  // namespace torchstone
