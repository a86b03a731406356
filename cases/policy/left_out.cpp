#include <fmt/format.h>

#include "cases/policy/policy.h"

namespace torchstone::policy {
namespace {

#if defined(__aarch64__)
constexpr bool on_aarch64 = true;
#else
constexpr bool on_aarch64 = false;
#endif

}  // namespace

std::optional<Decision> skipped_by_list(const Policy& policy, const Conditions& when) {
  const struct {
    bool applies;
    std::string list, why;
  } rules[] = {
      {true, "skip.all", "not run anywhere"},
      {true, "skip.device." + when.device, "not run on " + when.device},
      {when.device == "cpu" && on_aarch64, "skip.device.cpu_aarch64", "not run on aarch64"},
      {when.mode == Mode::training, "skip.test.training", "not run in training"},
      {when.freezing, "skip.freezing." + when.device, "not run with freezing on " + when.device},
      {true, "skip.multiprocess", "needs several processes"},
      {when.fast, "slow", "slow, left out by --torchstone_fast"},
  };
  for (const auto& rule : rules) {
    const Mention* mention = rule.applies ? policy.find(rule.list, when.model) : nullptr;
    if (mention) return Decision{fmt::format("{} (policy {})", rule.why, rule.list), mention->origin};
  }
  return std::nullopt;
}

std::optional<Decision> left_out(const Policy& policy, const Conditions& when) {
  if (auto skipped = skipped_by_list(policy, when); skipped && !when.no_skip) return skipped;
  const Mention* mention = when.dtype == DType::float32 ? nullptr : policy.find("only_fp32", when.model);
  if (!mention) return std::nullopt;
  return Decision{"runs in float32 only (policy only_fp32)", mention->origin};
}

std::optional<Decision> not_exported(const Policy& policy, const Conditions& when) {
  if (!when.exported || when.mode == Mode::training) return std::nullopt;
  for (const char* list : {"skip.control_flow", "skip.export_not_supported"})
    if (const Mention* mention = policy.find(list, when.model))
      return Decision{fmt::format("upstream does not export it (policy {})", list), mention->origin};
  return std::nullopt;
}

std::optional<Decision> passes_by_skip(const Policy& policy, const Conditions& when) {
  const Mention* mention = policy.find("accuracy.skip.large_models", when.model);
  if (!mention || when.check == "performance") return std::nullopt;
  return Decision{"too large for an eager, a compiled and a float64 copy (policy accuracy.skip.large_models)",
                  mention->origin};
}

}  // namespace torchstone::policy
