#pragma once
#include <string>
#include <utility>
#include <vector>

#include "reports/record/result.h"

namespace torchstone {

/// One cell as RFC 4180 has it: quoted when it holds a comma, a quote or a line break.
std::string csv_cell(const std::string& text);
/// Cells joined by commas, with a newline.
std::string csv_line(const std::vector<std::string>& cells);

/// results.csv: a row for every result, a column for every member and every declared metric; numbers exact (nan, inf,
/// -inf, which pandas and R read), an empty cell where nothing was measured.
std::string write_wide_csv(const std::vector<Result>& results);

/// summary.csv: what upstream's driver prints when it ends, a row for each suite, backend, dtype, mode, device and
/// preset: pass rate, geometric mean of the speed-ups, means of compile time and memory compression
/// (reports/record/summary.h says over what), each with the number of cases behind it, and what was left out; an empty
/// cell for an average over nothing.
std::string write_summary_csv(const std::vector<Result>& results);

/// What was found of largest batches (the metric largest_batch), a line NAME,SIZE for each model, as
/// --torchstone_batch_size_file takes it: the smallest where a model has several; empty when there are none.
std::string write_batch_sizes(const std::vector<Result>& results);

/// Name and text of the files in the form of the original benchmarks.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// One file for each backend, suite, dtype, mode, device and check, in the columns, order and formats of
/// benchmarks/dynamo, and named as its CI does: inductor_torchbench_bfloat16_inference_cuda_accuracy.csv. Where a file
/// would hold two presets of one model, each preset gets its own (…_cuda_full_accuracy.csv). Of several results of one
/// name the last counts. A failed timing is a row of zeros, as upstream's; a case left out has no row of timings. With
/// a tag there is a column of it behind batch_size (upstream's --tag).
NamedTexts write_upstream_csvs(const std::vector<Result>& results, const std::string& tag = "");

}  // namespace torchstone
