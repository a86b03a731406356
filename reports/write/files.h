#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "reports/record/json.h"
#include "reports/record/result.h"
#include "reports/record/run_info.h"
#include "reports/write/junit.h"

namespace torchstone {

/// The file is either the old one or the whole new one, also after a crash: written aside in the same folder, synced,
/// renamed. Makes missing folders. Throws std::system_error with the path and the system's words.
void write_atomically(const std::filesystem::path& path, const std::string& text);
/// Throws std::system_error with the path.
std::string read_text(const std::filesystem::path& path);

/// A case's name as a file name: [A-Za-z0-9_.-], `+` for `/`, %XX for the rest; long ones are cut and get a hash.
std::string case_file_name(const std::string& name);

/// OUT/cases/NAME.json; `finished == false` before the case starts, the whole result after. Sets `recorded` when empty.
std::filesystem::path write_case(const std::filesystem::path& out, Result result);

struct CaseFiles {
  std::vector<Result> results;      ///< in the order they were recorded
  std::vector<std::string> errors;  ///< of damaged files; each has a row too
};
/// All of OUT/cases. A case that started and never finished is a crash; so is a file that cannot be read, under the
/// name of the file. No such folder: nothing.
CaseFiles read_cases(const std::filesystem::path& out);

/// results.json, report.html, junit.xml, results.csv, summary.csv, csv/ (upstream's tables, operatorbench's
/// among them) and summary.txt in `out`;
/// what was written, in this order.
std::vector<std::string> write_reports(const std::vector<Result>& results, const RunInfo& run,
                                       const std::filesystem::path& out, const JUnitOptions& junit = {});

}  // namespace torchstone
