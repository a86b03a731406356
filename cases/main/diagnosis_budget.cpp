#include "cases/main/diagnosis_budget.h"

#include <fmt/format.h>

namespace torchstone {

constexpr int64_t usual_most = 10;

std::string DiagnosisBudget::take(const std::string& model) {
  const bool is_further = models_.contains(model);
  const int64_t most_further = most_ / 2;
  if (most_ > 0 && taken_ >= most_)
    return fmt::format("not diagnosed: as many cases as --torchstone_diagnose_max says ({}) have been", most_);
  if (most_ > 0 && is_further && further_ >= most_further)
    return fmt::format(
        "not diagnosed: another case of this model was, and {} of the {} of --torchstone_diagnose_max may be such",
        most_further, most_);
  ++taken_;
  further_ += is_further ? 1 : 0;
  models_.insert(model);
  return "";
}

DiagnosisBudget diagnosis_budget_of(const RunOptions& options) {
  return DiagnosisBudget(options.diagnose_max.value_or(options.diagnose == Diagnose::always ? 0 : usual_most));
}

}  // namespace torchstone
