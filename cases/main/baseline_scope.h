#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <torchstone/result.h>

#include "cases/flags/flags.h"
#include "cases/selection/expand.h"
#include "cases/suite/suite.h"

namespace torchstone {

/// Which cases of a baseline a run was asked for. A case that the run was asked for and does not have is gone. One that
/// flags, --gtest_filter or the shard leave out is not.
class BaselineScope {
 public:
  /// A scope without any case: nothing can be gone.
  BaselineScope() = default;
  BaselineScope(const flags::Flags& flags, const std::vector<suite::Suite>& suites,
                const selection::Expansion& expansion);

  /// Whether the run should have this case of the baseline and does not. No registered case has its name, no flag
  /// excludes it, and --gtest_filter matches its name.
  bool misses(const Result& of_baseline) const;

 private:
  std::vector<std::function<bool(const Result&)>> narrowings_{};  ///< each says whether a flag keeps the record
  std::set<std::string> accounted_for_{};  ///< names of cases that are registered or that --torchstone_fast leaves out
  bool empty_ = true;
};

}  // namespace torchstone
