#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/base/csv_format.h"

namespace torchstone::judge {

/// A table that benchmarks/dynamo wrote, or one of its ci_expected_accuracy/*.csv, checked row by row. Suite, mode,
/// dtype, device, backend, preset and dynamic are known only if the file's name has them.
struct UpstreamTable {
  CsvTable table;
  std::string check;  ///< accuracy or performance according to the columns, or a check named in the file name
  std::map<std::string, std::string> facts;  ///< key of text_fields() → value, from the name
};

/// Whether a path names a table: *.csv, and no folder.
bool is_upstream_table(const std::filesystem::path& path);

/// Reads a table of models with `column`, for a gate. Checks it as read_upstream_table() does, but speed-ups may be
/// missing, and the table may have no rows. A table without `column` is not checked.
CsvTable read_models(const std::filesystem::path& path, const std::string& column);

/// Reads and checks a table. If the file's name has facts but not `dynamic`, the cases have no dynamic sizes. Throws
/// ReportError "file:line: …" for a fault of the file, the columns, a row or a cell, and if the last line has no end.
UpstreamTable read_upstream_table(const std::filesystem::path& path);

/// Parses the name of a file of benchmarks/dynamo, such as inductor_torchbench_bfloat16_inference_cuda_accuracy or
/// cpu_inductor_amp_freezing_torchbench_inference, into values by the keys of text_fields(). `backend` has the words
/// from the backend's own name to the mode, without words of other fields. `dynamic` is set only for dynamic sizes:
/// "all" for `dynamic_all`, otherwise "batch".
std::map<std::string, std::string> facts_in_name(std::string_view stem);

/// Returns the tables in upstream's form that have `column`: a CSV file, the *.csv of a folder, or the tables that
/// write_upstream_csvs() makes of results. The latter include the noise of speed-ups and are named PATH:NAME.csv.
/// Throws ReportError if the path is unreadable, if read_models() refuses a table, or if a named CSV lacks the column.
std::vector<CsvTable> upstream_tables(const std::filesystem::path& path, const std::string& column);

/// Returns the table of `expected` for `actual`: the only one, or the one with the same file name. Throws ReportError
/// without one.
const CsvTable& find_counterpart(const CsvTable& actual, const std::vector<CsvTable>& expected);

/// Returns the tables of `expected` without a counterpart in `actual`: all of their models are gone.
std::vector<CsvTable> without_counterpart(const std::vector<CsvTable>& actual, const std::vector<CsvTable>& expected);

}  // namespace torchstone::judge
