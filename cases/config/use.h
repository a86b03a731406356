#pragma once
#include <functional>
#include <set>
#include <string>

#include <torchstone/case.h>

namespace torchstone::config {

/// Facts about the suites that a Case does not hold.
struct UseFacts {
  std::set<std::string> operator_suites{};  ///< suites whose models are operators of a log
};

/// The cases that a flag or a setting makes a difference to.
struct Use {
  std::string what{};  ///< "cases of performance (--torchstone_checks=performance)"
  /// Empty: all cases.
  std::function<bool(const Case& c, const UseFacts& facts)> reaches{};
};

// The uses that several flags share.
Use timed_cases();
Use timed_cases_of_this_process();  ///< not those that torch_compile times in Python
Use accuracy_cases();
Use training_cases();
Use amp_cases();
Use dynamic_cases();
Use cases_of_free_batch();
Use operators_of_a_log();
Use recurrent_models();

}  // namespace torchstone::config
