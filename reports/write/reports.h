#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

#include "reports/write/junit.h"

namespace torchstone::write {

/// results.json, report.html, junit.xml, results.csv, summary.csv, csv/ (upstream's tables, operatorbench's
/// among them) and summary.txt in `out`;
/// what was written, in this order.
std::vector<std::string> write_reports(const std::vector<Result>& results, const RunInfo& run,
                                       const std::filesystem::path& out, const JUnitOptions& junit = {});

}  // namespace torchstone::write
