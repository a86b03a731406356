#pragma once
#include <string>
#include <vector>

#include <torchstone/report_writer.h>
#include <torchstone/result.h>

namespace torchstone::tables {

/// Returns one file per backend, suite, dtype, mode, device and check, with the columns, order and formats of
/// benchmarks/dynamo. Names are those of its CI: inductor_torchbench_bfloat16_inference_cuda_accuracy.csv.
/// - A check that PyTorch lacks has a file with the columns of accuracy (…_cpu_batch_invariance.csv).
/// - If a file would have two presets of a model, each preset gets its own file (…_cuda_full_accuracy.csv).
/// - A model has upstream's name (Result::upstream_name), unless another model of the file has it too.
/// - A run without a number is a row of zeros, as in upstream's files. A skipped case has no row of timings.
/// - `tag` adds a column after batch_size, as upstream's --tag does. `with_noise` adds SpeedColumns.
NamedTexts write_upstream_csvs(const std::vector<Result>& results, const std::string& tag = "",
                               bool with_noise = false);

/// A number of upstream's tables: a metric times `factor`. Floats have upstream's six decimals.
struct NumberColumn {
  const char* name;
  const char* metric;
  double factor = 1;
  int decimals = 6;
  const char* unit = "";  ///< set if the factor changes the metric's unit
};
/// Returns the columns after dev, name and batch_size of a check's table, without the status that accuracy has first.
std::vector<NumberColumn> number_columns(const std::string& check);

/// Columns with the reason for a noisy speed-up (empty if it is not noisy) and its interval.
struct SpeedColumns {
  static constexpr const char *noisy = "noisy", *low = "speedup_low", *high = "speedup_high";
};

/// The place of a result in upstream's tables.
struct TableRow {
  const Result* result = nullptr;
  std::string table;  ///< name of its file without the extension
  std::string model;  ///< upstream's name, unless another model of the file has it too
};
/// Returns the rows of all tables in the order of the results. A skipped case has none in tables of timings.
std::vector<TableRow> rows_of_tables(const std::vector<Result>& results);

/// Returns the kind of a device: "cuda:1" → "cuda".
std::string kind_of_device(const std::string& device);

/// Converts a backend with options, or a suite, for these file names: "inductor:freezing=true" → "inductor_freezing".
std::string word_of(const std::string& text);

/// Puts files into the folder csv/, which has all tables in the form of PyTorch's benchmarks.
NamedTexts below_csv(NamedTexts files);
/// Throws ReportError for more than 1000 tables: no run has so many suites and backends.
void require_few_tables(size_t count);

}  // namespace torchstone::tables
