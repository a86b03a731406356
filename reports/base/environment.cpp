#include "reports/base/environment.h"

#include <cstdlib>

namespace torchstone {

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace torchstone
