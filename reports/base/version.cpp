#include "reports/base/version.h"

namespace torchstone {

std::string_view version() { return TORCHSTONE_VERSION; }

}  // namespace torchstone
