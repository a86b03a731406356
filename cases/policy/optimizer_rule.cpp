#include <fmt/format.h>

#include "cases/policy/policy.h"

namespace torchstone::policy {

Optimizing optimizer_of(const Policy& policy, const Conditions& when) {
  const bool inductor_on_cuda = when.check == "accuracy" && when.device == "cuda" && when.inductor;
  const struct {
    bool applies;
    const char* list;
    OptimizerKind kind;
  } rules[] = {
      {true, "optimizer.none", OptimizerKind::none},
      {true, "optimizer.sgd", OptimizerKind::sgd},
      {when.ci, "optimizer.sgd_in_ci", OptimizerKind::sgd},
      {inductor_on_cuda, "optimizer.sgd_with_inductor", OptimizerKind::sgd},
  };
  for (const auto& rule : rules) {
    const Mention* mention = rule.applies ? policy.find(rule.list, when.model) : nullptr;
    if (mention) return {rule.kind, fmt::format("{} ({})", mention->origin, rule.list)};
  }
  if (when.dtype == DType::float16 && !when.amp)
    return {OptimizerKind::sgd, "Adam's epsilon, 1e-8, is zero in float16: NaN after a step"};
  return {OptimizerKind::adam, "upstream's default"};
}

}  // namespace torchstone::policy
