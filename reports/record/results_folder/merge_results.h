#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <torchstone/result.h>

#include "reports/record/report_json.h"

namespace torchstone::results_folder {

/// Whether a record takes the place of another one of the same case. Of one results folder the run that began later
/// there counts, and within a run the later record: this order is counted, so that no clock can reverse it. Only
/// between folders, and for records without an origin, the time decides; of the same time the first argument counts.
bool replaces(const Result& record, const Result& other);

struct Merged {
  Report report;
  std::vector<std::string> warnings;  ///< damaged files; a case file is a row of status crash too
};

/// The results of several runs or shards as those of one. Each input is a results folder (runs/, results.json, cases/,
/// whatever of them is there) or a results.json itself. Of one name the later run counts, at the place of the first,
/// with all its repetitions; a case that runs/ plans and that has no later record is `interrupted`. The records of a
/// folder are put in order before those of another come to them. So the folder of a killed run has a row for every
/// case. Throws ReportError when an input is missing or unreadable; a damaged results.json beside runs/ or cases/ is
/// only a warning. A folder without results adds nothing.
Merged merge_results(const std::vector<std::filesystem::path>& inputs);

}  // namespace torchstone::results_folder
