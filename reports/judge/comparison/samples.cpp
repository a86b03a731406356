#include "reports/judge/comparison/samples.h"

#include "reports/statistics/statistics.h"

namespace torchstone::judge {

const std::vector<double>& samples_of(const Result& result, const std::string& key) {
  static const std::vector<double> none;
  const auto found = result.outcome.samples.find(key);
  return found == result.outcome.samples.end() ? none : found->second;
}

double fork_join_us_of(const Result& result, const std::string& prefix) {
  const auto& us = samples_of(result, prefix + "process_fork_join_us");
  return us.empty() ? 0 : statistics::median(us);
}

}  // namespace torchstone::judge
