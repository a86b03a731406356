#pragma once
#include <string>
#include <vector>

#include <torchstone/report_writer.h>
#include <torchstone/result.h>

namespace torchstone::tables {

/// One file for each backend, suite, dtype, mode, device and check, in the columns, order and formats of
/// benchmarks/dynamo, and named as its CI does: inductor_torchbench_bfloat16_inference_cuda_accuracy.csv. A check that
/// PyTorch does not have gets a file of its own in the columns of accuracy (…_cpu_batch_invariance.csv). Where a file
/// would hold two presets of one model, each preset gets its own (…_cuda_full_accuracy.csv). A model has upstream's
/// name (note upstream_name), unless another one in the file has it too. Of several results of one name one counts
/// (reports/record/summary.h). A run that gave no number is a row of zeros, as upstream's; in every other row a
/// cell without a number is empty. A case left out has no row of timings. With a tag there is a column of it behind
/// batch_size (upstream's
/// --tag). `with_noise` adds SpeedColumns to tables of timings, which upstream's do not have.
NamedTexts write_upstream_csvs(const std::vector<Result>& results, const std::string& tag = "",
                               bool with_noise = false);

/// Why a speed-up says too little (empty where it does not), and its interval.
struct SpeedColumns {
  static constexpr const char *noisy = "noisy", *low = "speedup_low", *high = "speedup_high";
};

/// A backend with options, or a suite, as a word of these files' names: "inductor:freezing=true" → "inductor_freezing".
std::string word_of(const std::string& text);

/// The same files in the folder csv/, where the tables of PyTorch's benchmarks stand.
NamedTexts below_csv(NamedTexts files);
/// Throws ReportError for more than 1000 tables: no run has so many suites and backends.
void require_few_tables(size_t count);

}  // namespace torchstone::tables
