#pragma once
#include <torchstone/result.h>

namespace torchstone::results_folder {

/// Whether a record takes the place of another one of the same case. Of one results folder the run that began later
/// there counts, and within a run the later record: this order is counted, so that no clock can reverse it. Only
/// between folders, and for records without an origin, the time decides; of the same time the first argument counts.
bool replaces(const Result& record, const Result& other);

}  // namespace torchstone::results_folder
