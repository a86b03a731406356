#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <torchstone/run_info.h>

namespace torchstone::results_folder {

/// Writes OUT/cases/NAME.json: with `finished == false` before the case starts, the whole result after it. Sets
/// `recorded` if it is empty. A later repetition that is as expected does not replace a record that is not.
std::filesystem::path write_case(const std::filesystem::path& out, Result result);

struct CaseFiles {
  std::vector<Result> results;      ///< run after run, in the order they were recorded
  std::vector<std::string> errors;  ///< of damaged files; each has a row too
};
/// Reads all of OUT/cases, if the folder exists. A case that started and never finished is a crash. So is a file that
/// cannot be read, under the name of the file.
CaseFiles read_cases(const std::filesystem::path& out);

// The plan of a run, written before the run begins. It names the cases that a killed run never reached.

/// Writes OUT/runs/ID.json: the run and its selected cases, none of them finished. Each process has its own file,
/// because the processes of a ctest run share one folder.
std::filesystem::path write_plan(const std::filesystem::path& out, const RunInfo& run, std::vector<Result> planned);

struct Plans {
  std::vector<Report> plans;        ///< by the start of their runs; each case as one that did not run
  std::vector<std::string> errors;  ///< of damaged files: the cases in them cannot be named
};
/// Reads all of OUT/runs, if the folder exists.
Plans read_plans(const std::filesystem::path& out);

/// Returns `results`, followed by a row of status `interrupted` for each planned case without a result.
std::vector<Result> with_missing(std::vector<Result> results, const std::vector<Result>& planned);

}  // namespace torchstone::results_folder
