#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <torchstone/run_info.h>

namespace torchstone::results_folder {

/// Returns whether a record replaces another one of the same case. Within a results folder the later run counts, and
/// within a run the later record. Both are numbered, so clock changes cannot reverse the order. Between folders, and
/// for records without an origin, the time decides. At equal times `record` replaces `other`.
bool replaces(const Result& record, const Result& other);

struct Merged {
  Report report;
  std::vector<std::string> warnings;  ///< damaged files; a case file is a row of status crash too
};

/// Merges the results of several runs or shards: results folders, or results.json files. The latest run of a case
/// counts with all its repetitions. A planned case (runs/) without a later record becomes `interrupted`, so the folder
/// of a killed run has a row for every case. Cases are in the order of their first record. If results come from several
/// machines, each names its own. Throws ReportError if an input is missing or unreadable. A damaged results.json is
/// only a warning if its folder has runs/ or cases/.
Merged merge_results(const std::vector<std::filesystem::path>& inputs);

}  // namespace torchstone::results_folder
