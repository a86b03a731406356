#pragma once
#include <set>
#include <string>
#include <vector>

#include "reports/base/csv_format.h"

// The gates of PyTorch's CI (benchmarks/dynamo/check_*.py) over tables in upstream's form. Pure functions. They keep
// its rules and words; where a number or a whole model is missing, which upstream partly lets pass, they are red.

namespace torchstone::judge {

/// What became of one model of a table.
struct GateRow {
  std::string name;
  std::string verdict;  ///< upstream's word: PASS, XFAIL, FAIL, IMPROVED, MISSING_EXPECTED, … and our ABSENT, NOISY
  std::string detail;   ///< the numbers behind it
  bool red = false;
};

struct GateOptions {
  std::set<std::string> flaky{};  ///< models whose difference is shown and not judged
  bool allow_absent = false;      ///< a model that only the expected table has is no failure, as upstream
};

/// check_accuracy.py: the column `accuracy` by model. A status that differs is red, also an improvement.
std::vector<GateRow> gate_accuracy(const CsvTable& actual, const CsvTable& expected, const GateOptions& options);

/// check_graph_breaks.py: graph_breaks and fallbacks_to_eager must not rise, calls_captured and unique_graphs not fall;
/// an improvement is red too. A model whose unique_graphs is 0 or unknown was not compiled and is not judged, unless it
/// was left out (unsupported, pass_due_to_skip) where compiled graphs are expected: then it is ABSENT.
std::vector<GateRow> gate_graph_breaks(const CsvTable& actual, const CsvTable& expected, const GateOptions& options);

/// Every model of a table whose counterpart does not exist: ABSENT.
std::vector<GateRow> absent_models(const CsvTable& expected, const GateOptions& options);

/// check_memory_compression_ratio.py: at least `part` of the expected compression_ratio. A ratio that is missing, not
/// finite or 0 is red: it was not measured. A model without an expected ratio is not judged.
std::vector<GateRow> gate_memory(const CsvTable& actual, const CsvTable& expected, double part,
                                 const GateOptions& options);

/// What check_perf_csv.py is given.
struct SpeedTarget {
  std::string metric = "speedup";  ///< or abs_latency, in milliseconds
  double threshold = 1;
  double scale = 1;                  ///< above 0; below 1 it relaxes
  bool fail_on_improvement = false;  ///< beyond threshold / scale, or below threshold · scale for a latency
};

/// check_perf_csv.py: red when the speed-up is below threshold · scale, or the latency above the larger of
/// threshold · scale and threshold / scale. A value that is missing, not finite or 0 is red: it was not measured.
///
/// A table of results says of a speed-up that it is noisy, why, and its interval (tables::SpeedColumns). Such a row is
/// NOISY and not judged, like a required speed-up that is undecided; PASS_BUT_NOISY where the whole interval is as
/// asked, and FAIL where 1.5 times its upper end is still below. A latency has no interval: it is NOISY.
std::vector<GateRow> gate_speed(const CsvTable& actual, const SpeedTarget& target, const GateOptions& options);

/// A flaky model's difference is shown and not judged; a number that is missing stays red.
void pardon(GateRow& row, const GateOptions& options);

/// 0 all as they should be, 1 one is red, 3 nothing was judged.
int gate_exit_code(const std::vector<GateRow>& rows);
/// One line a model, aligned, and a closing line with the counts.
std::string gate_text(const std::vector<GateRow>& rows);

}  // namespace torchstone::judge
