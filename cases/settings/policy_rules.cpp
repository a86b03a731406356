#include <algorithm>

#include <fmt/format.h>

#include "cases/settings/policy.h"

namespace torchstone::policy {
namespace {

// A tolerance and the list that decides it. Where `list` is empty it holds for all models that reached it, and `when`
// says in words which conditions these meet.
struct Tier {
  bool applies;
  std::string list;
  double tolerance;
  bool cosine = false;
  const char* when = "";
};

std::string origin_of_rule(const Policy& policy, const Tier& tier) {
  return fmt::format("tolerance rule of {}: {}, in no list of {}", policy.rule, tier.when,
                     policy.file.empty() ? "a policy" : policy.file);
}

Tolerance first_of(const Policy& policy, const Conditions& when, const std::vector<Tier>& tiers) {
  for (const auto& tier : tiers) {
    if (!tier.applies) continue;
    if (tier.list.empty()) return {tier.tolerance, tier.cosine, origin_of_rule(policy, tier)};
    if (const Mention* mention = policy.find(tier.list, when.model))
      return {tier.tolerance, tier.cosine, fmt::format("{} ({})", mention->origin, tier.list)};
  }
  return {1e-4, false, "default"};  // never reached: the last tier of each rule always applies
}

Tolerance torchbench_rule(const Policy& policy, const Conditions& when) {
  const bool half = when.dtype == DType::float16 || when.amp;
  const bool bf16 = when.dtype == DType::bfloat16;
  const bool training = when.mode == Mode::training && (when.device == "cuda" || when.device == "xpu");
  return first_of(policy, when,
                  {{half && when.freezing, "tolerance.freezing.higher_fp16", 1e-2},
                   {half && when.freezing, "tolerance.freezing.even_higher", 8e-2},
                   {half, "tolerance.higher_fp16", 1e-2},
                   {half, "tolerance.even_higher", 8e-2},
                   {half, "", 1e-3, false, "float16 or amp"},
                   {bf16, "tolerance.higher_bf16", 1e-2},
                   {bf16 && when.device == "xpu", "tolerance.higher_bf16_xpu", 8e-2},
                   {training, "tolerance.cosine", 1e-3, true},
                   {training, "tolerance.higher", 1e-3},
                   {training, "tolerance.even_higher", 8e-2},
                   {training, "", 1e-3, false, "training on cuda or xpu"},
                   {true, "", 1e-4, false, "all else (not float16 or amp, nor training on cuda or xpu)"}});
}

Tolerance timm_rule(const Policy& policy, const Conditions& when) {
  const bool training = when.mode == Mode::training;
  return first_of(policy, when,
                  {{!training && when.freezing, "tolerance.freezing", 8e-2},
                   {!training, "", 1e-3, false, "inference"},
                   {true, "tolerance.highest_training", 16e-2},
                   {true, "tolerance.even_higher", 8e-2},
                   {when.max_autotune, "tolerance.even_higher_max_autotune", 8e-2},
                   {true, "tolerance.higher_training", 4e-2},
                   {when.amp, "tolerance.higher_amp", 4e-2},
                   {when.dtype == DType::float16 && when.device == "xpu", "tolerance.higher_fp16_xpu", 4e-2},
                   {true, "", 1e-2, false, "training"}});
}

Tolerance huggingface_rule(const Policy& policy, const Conditions& when) {
  const bool training = when.mode == Mode::training;
  return first_of(policy, when,
                  {{training, "tolerance.higher_training", 2e-2},
                   {training && when.max_autotune, "tolerance.higher_max_autotune_training", 2e-2},
                   {training, "", 1e-2, false, "training"},
                   {when.device == "cpu", "tolerance.higher_inference_cpu", 5e-3},
                   {true, "tolerance.higher_inference", 4e-3},
                   {true, "", 1e-3, false, "inference"}});
}

BatchSize stated_by(const Mention& mention) { return {static_cast<int64_t>(mention.value), mention.origin}; }

BatchSize accuracy_batch(const Policy& policy, const Conditions& when) {
  const bool ci =
      when.ci && when.check == "accuracy" && when.mode == Mode::training && when.device == "cuda" && when.inductor;
  if (const Mention* own = policy.find("batch_size.ci_accuracy", when.model); ci && own) return stated_by(*own);
  const bool parts = when.batch_invariance;
  const BatchSize batch{policy.rule == "huggingface" ? (parts ? 8 : 1)
                        : policy.rule == "timm"      ? (parts ? 16 : 8)
                                                     : (parts ? 8 : 4),
                        fmt::format("{} batch size of {}", parts ? "batch invariance's" : "accuracy", policy.rule)};
  const Mention* limit = policy.find("accuracy.max_batch_size", when.model);
  return limit && limit->value < static_cast<double>(batch.size) ? stated_by(*limit) : batch;
}

}  // namespace

Tolerance tolerance_of(const Policy& policy, const Conditions& when) {
  return policy.rule == "timm"          ? timm_rule(policy, when)
         : policy.rule == "huggingface" ? huggingface_rule(policy, when)
                                        : torchbench_rule(policy, when);
}

bool batch_is_fixed(const Policy& policy, const ModelInfo& info) {
  return info.fixed_batch || policy.find("dont_change_batch_size", info.name);
}

BatchSize batch_size_of(const Policy& policy, const Conditions& when, const ModelInfo& info) {
  const int64_t stated = when.mode == Mode::training && info.train_batch > 0 ? info.train_batch : info.eval_batch;
  const BatchSize own{std::max<int64_t>(stated, 1), fmt::format("{}:{} (the model's own)", info.file, info.line)};
  const std::string key = when.mode == Mode::training ? "batch_size.training" : "batch_size.inference";
  const Mention* replaced = policy.find(key, when.model);
  if (batch_is_fixed(policy, info)) {
    const Mention* kept = policy.find("dont_change_batch_size", when.model);
    return replaced ? stated_by(*replaced) : BatchSize{own.size, kept ? kept->origin : own.origin};
  }
  if (policy.keeps_batch_size) return own;
  if (when.check == "accuracy" || when.preset == Preset::mini || stated <= 0) return accuracy_batch(policy, when);
  if (replaced) return stated_by(*replaced);
  if (const Mention* divisor = policy.find("batch_size.divisors", when.model)) {
    return {std::max<int64_t>(own.size / static_cast<int64_t>(divisor->value), 1), divisor->origin};
  }
  return own;
}

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
