#include "cases/main/torchvision_library.h"

#include <stdexcept>

#include <fmt/format.h>

#include "fixtures/compile/toolchain.h"
#include "models/formats/operator_library.h"

namespace torchstone {

void load_torchvision(const flags::Flags& flags) {
  run_options() = flags.run;
  const std::string python = compile::default_python();
  const auto package = compile::find_python_package("torchvision");
  if (!package)
    throw std::runtime_error(fmt::format(
        "{} has no torchvision (install it there, or give --torchstone_library=FOLDER/torchvision/_C.so)", python));
  formats::load_operator_library((package->folder / "_C.so").string());
}

}  // namespace torchstone
