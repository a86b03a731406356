#pragma once
#include <set>
#include <string>
#include <vector>

#include "reports/base/csv_format.h"

// The gates of PyTorch's CI (benchmarks/dynamo/check_*.py) over tables in upstream's form. Pure functions with
// upstream's rules and terms. Missing numbers and models are red here; upstream lets some of them pass.

namespace torchstone::judge {

/// The verdict on one model of a table.
struct GateRow {
  std::string name;
  std::string verdict;  ///< upstream's term: PASS, XFAIL, FAIL, IMPROVED, MISSING_EXPECTED, … and our ABSENT, NOISY
  std::string detail;   ///< the numbers behind it
  bool red = false;
};

struct GateOptions {
  std::set<std::string> flaky{};  ///< models whose differences are shown and not judged
  bool allow_absent = false;      ///< accept models that only the expected table has, as upstream does
  double part = 0.95;             ///< sufficient fraction of the expected compression ratio
};

/// Compares the column `accuracy` as check_accuracy.py does. Any difference is red, also an improvement.
std::vector<GateRow> gate_accuracy(const CsvTable& actual, const CsvTable& expected, const GateOptions& options);

/// Compares counts as check_graph_breaks.py does: graph_breaks and fallbacks_to_eager must not rise, calls_captured and
/// unique_graphs must not fall. An improvement is red too. A model without unique_graphs was not compiled, so it is not
/// judged. If it was skipped (unsupported, pass_due_to_skip) and compiled graphs are expected, it is ABSENT.
std::vector<GateRow> gate_graph_breaks(const CsvTable& actual, const CsvTable& expected, const GateOptions& options);

/// Returns ABSENT for every model of a table without a counterpart.
std::vector<GateRow> absent_models(const CsvTable& expected, const GateOptions& options);

/// Requires `options.part` of the expected compression_ratio, as check_memory_compression_ratio.py does. A ratio that
/// is missing, not finite or 0 is red: it was not measured. A model without an expected ratio is not judged.
std::vector<GateRow> gate_memory(const CsvTable& actual, const CsvTable& expected, const GateOptions& options);

/// The arguments of check_perf_csv.py.
struct SpeedTarget {
  std::string metric = "speedup";  ///< or abs_latency, in milliseconds
  double threshold = 1;
  double scale = 1;                  ///< above 0; a scale below 1 relaxes the gate
  bool fail_on_improvement = false;  ///< beyond threshold / scale, or below threshold · scale for a latency
};

/// Judges speed as check_perf_csv.py does. A speed-up below threshold · scale is red, and so is a latency above the
/// larger of threshold · scale and threshold / scale. A missing, infinite or zero value is red: it was not measured.
/// Noisy speed-ups, marked in tables made from results (tables::SpeedColumns), are judged as docs/ci.md describes.
std::vector<GateRow> gate_speed(const CsvTable& actual, const SpeedTarget& target, const GateOptions& options);

/// Returns 0 if no row is red, 1 if one is, 3 if nothing was judged.
int gate_exit_code(const std::vector<GateRow>& rows);
/// Returns one aligned line per model, and a last line with the counts.
std::string gate_text(const std::vector<GateRow>& rows);

}  // namespace torchstone::judge
