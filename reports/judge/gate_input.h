#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "reports/base/csv_format.h"

namespace torchstone::judge {

/// Tables in upstream's form that have `column`: a CSV file itself, the *.csv of a folder, or those that
/// write_upstream_csvs makes of a results.json or a results folder, with the noise of speed-ups. `file` of the latter
/// is PATH:NAME.csv. Throws ReportError when the path is missing or unreadable, for a table that read_models() refuses,
/// or when a CSV given by name lacks the column.
std::vector<CsvTable> upstream_tables(const std::filesystem::path& path, const std::string& column);

/// The table of `expected` that belongs to `actual`: the only one there is, else the one of the same file name. Throws
/// ReportError when there is none.
const CsvTable& counterpart_of(const CsvTable& actual, const std::vector<CsvTable>& expected);

/// The tables of `expected` that are the counterpart of none of `actual`: all of their models are gone.
std::vector<CsvTable> without_counterpart(const std::vector<CsvTable>& actual, const std::vector<CsvTable>& expected);

}  // namespace torchstone::judge
