#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/base/csv_format.h"

namespace torchstone::judge {

/// A table that benchmarks/dynamo wrote, or one of its ci_expected_accuracy/*.csv, checked row by row. What its columns
/// do not say (suite, mode, dtype, device, backend, preset, dynamic) may stand in the file's name.
struct UpstreamTable {
  CsvTable table;
  std::string check;                         ///< accuracy or performance, by the columns; or a check that the name says
  std::map<std::string, std::string> facts;  ///< key of text_fields() → value, of what the name says

  /// The cell of a row; empty where the table lacks the column.
  const std::string& cell(const CsvRow& row, const std::string& column) const;
};

/// Whether a path is meant as such a table: *.csv.
bool is_upstream_table(const std::filesystem::path& path);

/// A table of models with `column`, for a gate. Its rows are checked as read_upstream_table() does, but a speed-up may
/// be missing, and all rows. One that lacks `column` is not checked.
CsvTable read_models(const std::filesystem::path& path, const std::string& column);

/// Throws ReportError "file:line: …" for what read_csv() refuses, a table without name or with neither accuracy nor
/// speedup or with both, no row, a row without name, a status that no one writes, a number that is none, a count below
/// 0, a speed-up that is missing, a model that is there twice on one device, a file whose last line has no end. A name
/// that says anything, but not `dynamic`, is of cases without dynamic sizes.
UpstreamTable read_upstream_table(const std::filesystem::path& path);

/// What the name of a file of benchmarks/dynamo says, word by word, by the keys of text_fields():
/// inductor_torchbench_bfloat16_inference_cuda_accuracy, cpu_inductor_amp_freezing_torchbench_inference. `backend` is
/// what stands from the backend's own word to the mode, less what other fields are. `dynamic` is there for
/// dynamic sizes alone: batch, or all where `dynamic_all` says so.
std::map<std::string, std::string> facts_in_name(std::string_view stem);

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
