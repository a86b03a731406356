#pragma once
#include "reports/base/nearest.h"

namespace torchstone::config {

using torchstone::expected_one_of;
using torchstone::nearest;

}  // namespace torchstone::config
