#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "fixtures/core/run_options.h"

namespace torchstone {

/// How many cases of a run may still be diagnosed. At most half of them are further rows of models that have a
/// diagnosis: rows of one model mostly fail for one reason.
class DiagnosisBudget {
 public:
  /// `most`: 0 for no limit.
  explicit DiagnosisBudget(int64_t most = 0) : most_(most) {}
  /// Takes a diagnosis for a case of the model. Empty, or why it may not be made.
  std::string take(const std::string& model);
  /// Whether this is the first time since the run began that it is asked for.
  bool is_first_refusal() { return !std::exchange(refused_, true); }

 private:
  int64_t most_ = 0, taken_ = 0, further_ = 0;
  bool refused_ = false;
  std::set<std::string> models_{};
};

/// As --torchstone_diagnose_max says; where it is not given, 10 unexpected failures, and no limit with
/// --torchstone_diagnose=always.
DiagnosisBudget diagnosis_budget_of(const RunOptions& options);

}  // namespace torchstone
