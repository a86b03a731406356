#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "reports/json.h"

namespace torchstone {

struct Merged {
  Report report;
  std::vector<std::string> warnings;  ///< damaged case files; each is a row of status crash too
};

/// The results of several runs or shards as those of one. Each input is a results folder (results.json, cases/ or both)
/// or a results.json itself. Of one name the newest record counts, at the place of the first. Throws ReportError when
/// an input is missing or unreadable; a folder without results adds nothing.
Merged merge_results(const std::vector<std::filesystem::path>& inputs);

}  // namespace torchstone
