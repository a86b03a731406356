#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <torchstone/result.h>

namespace torchstone::results_folder {

/// Collects the records of several places. Of a case the run that is the latest counts (order.h), with all its records
/// of the case: --gtest_repeat makes several. What a run planned counts only where it has no record.
class Records {
 public:
  /// A record that is there already (run and sequence) is not added again; the later copy of it counts.
  void add(const Result& record);
  /// A case file whose name alone is known. Nothing in its folder is newer: what the case was planned to be stays.
  void add_damaged(const Result& record);
  /// All that count, in the order in which the cases came, a run's records of one case in their own order. Leaves
  /// nothing.
  std::vector<Result> take();

 private:
  using OfRun = std::map<int64_t, Result>;  // by the sequence within the run
  struct OfCase {
    std::vector<OfRun> runs{};
    std::map<std::tuple<std::string, int64_t, std::string>, size_t> places{};  // folder, number, run → in runs
  };
  static OfRun& latest_run(OfCase& of_case);

  std::vector<OfCase> cases_{};
  std::map<std::string, size_t> places_{};  // name → in cases_
};

}  // namespace torchstone::results_folder
