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
  std::vector<Result> results;      ///< run by run, in the order of recording
  std::vector<std::string> errors;  ///< damaged files; each has a result too
};
/// Reads all of OUT/cases, if the folder exists. A case that started and never finished becomes a crash. So does an
/// unreadable file, with the file's name as its case.
CaseFiles read_cases(const std::filesystem::path& out);

// The plan of a run, written before the run begins. It names the cases that a killed run never reached.

/// Writes OUT/runs/ID.json: the run and its selected cases, none of them finished. Each process has its own file,
/// because the processes of a ctest run share one folder.
std::filesystem::path write_plan(const std::filesystem::path& out, const RunInfo& run, std::vector<Result> planned);

struct Plans {
  std::vector<Report> plans;        ///< in the order of the runs' starts; each case has status `interrupted`
  std::vector<std::string> errors;  ///< damaged files, whose cases are unknown
};
/// Reads all of OUT/runs, if the folder exists.
Plans read_plans(const std::filesystem::path& out);

/// Returns `results`, followed by a row of status `interrupted` for each planned case without a result.
std::vector<Result> with_missing(std::vector<Result> results, const std::vector<Result>& planned);

}  // namespace torchstone::results_folder
