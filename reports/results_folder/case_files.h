#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <torchstone/result.h>

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
