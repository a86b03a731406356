#include "reports/base/process.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace torchstone {

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is the one that is missing. Without O_CLOEXEC: the programs that this one starts have it.
    if (open("/dev/null", O_RDWR) != descriptor)  // NOLINT(android-cloexec-open)
      throw std::system_error(errno, std::generic_category(), "/dev/null");
  }
}

std::string_view version() { return TORCHSTONE_VERSION; }

}  // namespace torchstone
