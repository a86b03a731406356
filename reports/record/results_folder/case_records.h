#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <torchstone/result.h>

#include "reports/record/report_json.h"

namespace torchstone::results_folder {

/// OUT/cases/NAME.json; `finished == false` before the case starts, the whole result after. Sets `recorded` when empty.
/// A record that is not as expected stays when a later repetition in the same run is.
std::filesystem::path write_case(const std::filesystem::path& out, Result result);

struct CaseFiles {
  std::vector<Result> results;      ///< run after run, in the order they were recorded
  std::vector<std::string> errors;  ///< of damaged files; each has a row too
};
/// All of OUT/cases. A case that started and never finished is a crash; so is a file that cannot be read, under the
/// name of the file. No such folder: nothing.
CaseFiles read_cases(const std::filesystem::path& out);

}  // namespace torchstone::results_folder

// The plan of a run, written before the run begins, so that the cases that a killed run never reached are known by
// name.

namespace torchstone::results_folder {

/// OUT/runs/ID.json: the run and its selected cases, none of them finished. A file a process, because the processes of
/// a ctest run share one folder.
std::filesystem::path write_plan(const std::filesystem::path& out, const RunInfo& run, std::vector<Result> planned);

struct Plans {
  std::vector<Report> plans;        ///< by the start of their runs; each case as one that did not run
  std::vector<std::string> errors;  ///< of damaged files: the cases in them cannot be named
};
/// All of OUT/runs. No such folder: nothing.
Plans read_plans(const std::filesystem::path& out);

/// `results`, and behind them a row of status `interrupted` for every planned case that has none.
std::vector<Result> with_missing(std::vector<Result> results, const std::vector<Result>& planned);

}  // namespace torchstone::results_folder
