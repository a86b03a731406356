#pragma once
#include "reports/base/text.h"

namespace torchstone::config {

using torchstone::expected_one_of;
using torchstone::nearest;

}  // namespace torchstone::config
