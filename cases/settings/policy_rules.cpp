#include <algorithm>

#include <fmt/format.h>

#include "cases/settings/policy.h"
#include "fixtures/core/case.h"
#include "fixtures/core/check_registry.h"
#include "reports/base/text.h"

namespace torchstone::policy {
namespace {

#if defined(__aarch64__)
constexpr bool on_aarch64 = true;
#else
constexpr bool on_aarch64 = false;
#endif

// One step of a tolerance rule. The first step whose condition holds and whose list has the model decides. A step
// without a list decides for every model that reaches it.
struct Tier {
  bool applies;      ///< whether the step's condition holds for the case
  std::string list;  ///< dotted key of the policy's list of models; empty: any model
  double tolerance;
  bool cosine = false;
  const char* meaning = "";  ///< the condition in words, for the origin of a step without a list
};

Tolerance first_match(const Policy& policy, const Conditions& conditions, const std::vector<Tier>& tiers) {
  for (const auto& tier : tiers) {
    if (!tier.applies) continue;
    if (tier.list.empty())
      return {tier.tolerance, tier.cosine,
              fmt::format("tolerance rule of {}: {}, in no list of {}", to_string(policy.rule), tier.meaning,
                          policy.file.empty() ? "a policy" : policy.file)};
    if (const Mention* mention = policy.find(tier.list, conditions.model))
      return {tier.tolerance, tier.cosine, fmt::format("{} ({})", mention->origin, tier.list)};
  }
  return {1e-4, false, "default"};  // never reached: the last tier of each rule always applies
}

Tolerance torchbench_rule(const Policy& policy, const Conditions& conditions) {
  const bool fp16_or_amp = conditions.dtype == DType::float16 || conditions.amp;
  const bool bf16 = conditions.dtype == DType::bfloat16;
  const bool trained_on_gpu =
      conditions.mode == Mode::training && (conditions.device == "cuda" || conditions.device == "xpu");
  return first_match(policy, conditions,
                     {{fp16_or_amp && conditions.freezing, "tolerance.freezing.higher_fp16", 1e-2},
                      {fp16_or_amp && conditions.freezing, "tolerance.freezing.even_higher", 8e-2},
                      {fp16_or_amp, "tolerance.higher_fp16", 1e-2},
                      {fp16_or_amp, "tolerance.even_higher", 8e-2},
                      {fp16_or_amp, "", 1e-3, false, "float16 or amp"},
                      {bf16, "tolerance.higher_bf16", 1e-2},
                      {bf16 && conditions.device == "xpu", "tolerance.higher_bf16_xpu", 8e-2},
                      {trained_on_gpu, "tolerance.cosine", 1e-3, true},
                      {trained_on_gpu, "tolerance.higher", 1e-3},
                      {trained_on_gpu, "tolerance.even_higher", 8e-2},
                      {trained_on_gpu, "", 1e-3, false, "training on cuda or xpu"},
                      {true, "", 1e-4, false, "all else (not float16 or amp, nor training on cuda or xpu)"}});
}

Tolerance timm_rule(const Policy& policy, const Conditions& conditions) {
  const bool training = conditions.mode == Mode::training;
  return first_match(
      policy, conditions,
      {{!training && conditions.freezing, "tolerance.freezing", 8e-2},
       {!training, "", 1e-3, false, "inference"},
       {true, "tolerance.highest_training", 16e-2},
       {true, "tolerance.even_higher", 8e-2},
       {conditions.max_autotune, "tolerance.even_higher_max_autotune", 8e-2},
       {true, "tolerance.higher_training", 4e-2},
       {conditions.amp, "tolerance.higher_amp", 4e-2},
       {conditions.dtype == DType::float16 && conditions.device == "xpu", "tolerance.higher_fp16_xpu", 4e-2},
       {true, "", 1e-2, false, "training"}});
}

Tolerance huggingface_rule(const Policy& policy, const Conditions& conditions) {
  const bool training = conditions.mode == Mode::training;
  return first_match(policy, conditions,
                     {{training, "tolerance.higher_training", 2e-2},
                      {training && conditions.max_autotune, "tolerance.higher_max_autotune_training", 2e-2},
                      {training, "", 1e-2, false, "training"},
                      {conditions.device == "cpu", "tolerance.higher_inference_cpu", 5e-3},
                      {true, "tolerance.higher_inference", 4e-3},
                      {true, "", 1e-3, false, "inference"}});
}

BatchSize stated_by(const Mention& mention) { return {static_cast<int64_t>(mention.value), mention.origin}; }

/// Returns the entry that fixes the batch size of a model; nullptr without one.
const Mention* fixed_by(const Policy& policy, const std::string& model) {
  const Mention* kept = policy.find("dont_change_batch_size", model);
  return kept ? kept : policy.find("fixed_batch_size", model);
}

/// Returns the batch size that the model's source states, else upstream's; empty when neither does.
std::optional<BatchSize> own_batch(const Policy& policy, const Conditions& conditions, const ModelInfo& info) {
  const bool training = conditions.mode == Mode::training;
  const int64_t stated = training && info.train_batch > 0 ? info.train_batch : info.eval_batch;
  if (stated > 0) return BatchSize{stated, fmt::format("{}:{} (the model's own)", info.file, info.line)};
  const Mention* own = policy.find(training ? "own_batch_size.training" : "own_batch_size.inference", conditions.model);
  return own ? std::optional(stated_by(*own)) : std::nullopt;
}

/// Returns the batch size of a model for which neither its source nor the policy states one.
BatchSize unstated_batch(const ModelInfo& info) {
  if (info.python.empty() || info.upstream) return {1, fmt::format("{}:{} states none", info.file, info.line)};
  return {1, fmt::format("{}: the default of get_example_inputs(), or 1 without one", info.file), BatchSource::module};
}

BatchSize accuracy_batch(const Policy& policy, const Conditions& conditions) {
  const bool ci = conditions.ci && conditions.check == "accuracy" && conditions.mode == Mode::training &&
                  conditions.device == "cuda" && conditions.inductor;
  if (const Mention* own = policy.find("batch_size.ci_accuracy", conditions.model); ci && own) return stated_by(*own);
  const bool parts = conditions.batch_invariance;
  const BatchSize batch{
      policy.rule == Rule::huggingface ? (parts ? 8 : 1)
      : policy.rule == Rule::timm      ? (parts ? 16 : 8)
                                       : (parts ? 8 : 4),
      fmt::format("{} batch size of {}", parts ? "batch invariance's" : "accuracy", to_string(policy.rule))};
  const Mention* limit = policy.find("accuracy.max_batch_size", conditions.model);
  return limit && limit->value < static_cast<double>(batch.size) ? stated_by(*limit) : batch;
}

/// Adds a compiler option unless the case names it itself.
void add_option(Case& c, const std::string& option, const std::string& value, const std::string& by) {
  if (c.backend.options.try_emplace(option, value).second)
    c.origin["backend"] = fmt::format("{}, {} by {}", c.origin["backend"], option, by);
}

/// Sets a field of a case if the policy mentions its model.
template <typename Field, typename Value>
void set_if(const Mention* mention, Case& c, const char* name, Field Case::*field, const Value& value) {
  if (!mention) return;
  c.*field = value;
  c.origin[name] = mention->origin;
}

/// Sets autocast and its dtype: the policy's, or else upstream's default for the device.
void apply_amp(const Policy& policy, const std::string& name, Case& c) {
  const Mention* forced = policy.find("dtype.force_amp_for_fp16_bf16_models", name);
  if (forced && (c.dtype == DType::float16 || c.dtype == DType::bfloat16)) {
    c.amp_dtype = c.dtype;
    c.dtype = DType::amp;
    c.origin["dtype"] = c.origin["amp_dtype"] = forced->origin;
  } else if (c.dtype == DType::amp) {
    const Mention* bfloat16 = policy.find("dtype.amp_dtype_bfloat16", name);
    c.amp_dtype = bfloat16 || c.device == "cpu" ? DType::bfloat16 : DType::float16;
    c.origin["amp_dtype"] = bfloat16 ? bfloat16->origin : "autocast's default on " + c.device;
  }
}

}  // namespace

const std::string& name_in_lists(const ModelInfo& info) { return info.upstream ? info.upstream->name : info.name; }

Conditions conditions_of(const Case& c, const ModelInfo& info, DType loosest) {
  Conditions conditions;
  conditions.model = name_in_lists(info);
  conditions.check = check_info(c).policy;
  conditions.batch_invariance = c.check == "batch_invariance";
  conditions.mode = c.mode;
  conditions.dtype = c.dtype == DType::as_written ? loosest : c.dtype;
  conditions.amp = c.dtype == DType::amp;
  conditions.device = c.device.substr(0, c.device.find(':'));
  conditions.inductor = compiled_by_inductor(c.backend);
  conditions.exported = c.backend.name == "inductor";
  const auto option = [&](const char* key) { return value_in(c.backend.options, key); };
  conditions.freezing = option("freezing") == "true";
  conditions.max_autotune = option("max_autotune") == "true" ||
                            (c.backend.name == "torch_compile" && option("mode").starts_with("max-autotune"));
  conditions.preset = c.preset;
  conditions.ci = c.ci;
  return conditions;
}

void apply_disable_cudagraph(const Policy& policy, const ModelInfo& info, Case& c) {
  const Mention* mention = policy.find("disable_cudagraph", name_in_lists(info));
  if (!mention) return;
  if (c.device.starts_with("cuda") && compiled_by_inductor(c.backend) && !cuda_graphs_asked(c.backend).empty()) {
    c.backend.options.erase("triton.cudagraphs");
    add_option(c, "triton.cudagraphs", "false", mention->origin);
  }
  if (c.cuda_graphs == CudaGraphs::none) return;
  c.cuda_graphs = CudaGraphs::none;
  c.origin["cuda_graphs"] = fmt::format("{} (disable_cudagraph), not by {}", mention->origin, c.origin["cuda_graphs"]);
}

void leave_out_cuda_graphs(Case& c) {
  if (c.cuda_graphs == CudaGraphs::none || c.device.starts_with("cuda")) return;
  c.cuda_graphs = CudaGraphs::none;
  c.origin["cuda_graphs"] = fmt::format("{} has none, not by {}", c.device, c.origin["cuda_graphs"]);
}

Tolerance tolerance_of(const Policy& policy, const Conditions& conditions) {
  return policy.rule == Rule::timm          ? timm_rule(policy, conditions)
         : policy.rule == Rule::huggingface ? huggingface_rule(policy, conditions)
                                            : torchbench_rule(policy, conditions);
}

bool batch_is_fixed(const Policy& policy, const ModelInfo& info) {
  return info.fixed_batch || fixed_by(policy, name_in_lists(info));
}

BatchSize batch_size_of(const Policy& policy, const Conditions& conditions, const ModelInfo& info) {
  const std::optional<BatchSize> known = own_batch(policy, conditions, info);
  const BatchSize own = known.value_or(unstated_batch(info));
  if (policy.keeps_batch_size) return own;
  const std::string key = conditions.mode == Mode::training ? "batch_size.training" : "batch_size.inference";
  const Mention* replaced = policy.find(key, conditions.model);
  if (batch_is_fixed(policy, info)) {
    const Mention* kept = fixed_by(policy, conditions.model);
    return replaced ? stated_by(*replaced) : BatchSize{own.size, kept ? kept->origin : own.origin};
  }
  if (conditions.check == "accuracy" || conditions.preset == Preset::mini || !known)
    return accuracy_batch(policy, conditions);
  if (replaced) return stated_by(*replaced);
  if (const Mention* divisor = policy.find("batch_size.divisors", conditions.model)) {
    return {std::max<int64_t>(own.size / static_cast<int64_t>(divisor->value), 1), divisor->origin};
  }
  return own;
}

Optimizing optimizer_of(const Policy& policy, const Conditions& conditions) {
  const bool inductor_on_cuda = conditions.check == "accuracy" && conditions.device == "cuda" && conditions.inductor;
  const struct {
    bool applies;
    const char* list;
    OptimizerKind kind;
  } rules[] = {
      {true, "optimizer.none", OptimizerKind::none},
      {true, "optimizer.sgd", OptimizerKind::sgd},
      {conditions.ci, "optimizer.sgd_in_ci", OptimizerKind::sgd},
      {inductor_on_cuda, "optimizer.sgd_with_inductor", OptimizerKind::sgd},
  };
  for (const auto& rule : rules) {
    const Mention* mention = rule.applies ? policy.find(rule.list, conditions.model) : nullptr;
    if (mention) return {rule.kind, fmt::format("{} ({})", mention->origin, rule.list)};
  }
  if (conditions.dtype == DType::float16 && !conditions.amp)
    return {OptimizerKind::sgd, "Adam's epsilon, 1e-8, is zero in float16: NaN after a step"};
  const bool is_upstreams = policy.default_optimizer == OptimizerKind::adam;
  return {policy.default_optimizer, is_upstreams ? "upstream's default" : policy.file + " (default_optimizer)"};
}

std::optional<Decision> skipped_by_list(const Policy& policy, const Conditions& conditions) {
  const struct {
    bool applies;
    std::string list, why;
  } rules[] = {
      {true, "skip.all", "not run anywhere"},
      {true, "skip.device." + conditions.device, "not run on " + conditions.device},
      {conditions.device == "cpu" && on_aarch64, "skip.device.cpu_aarch64", "not run on aarch64"},
      {conditions.mode == Mode::training, "skip.test.training", "not run in training"},
      {conditions.freezing, "skip.freezing." + conditions.device, "not run with freezing on " + conditions.device},
      {true, "skip.multiprocess", "needs several processes"},
      {conditions.fast, "slow", "slow, skipped by --torchstone_fast"},
  };
  for (const auto& rule : rules) {
    const Mention* mention = rule.applies ? policy.find(rule.list, conditions.model) : nullptr;
    if (mention) return Decision{fmt::format("{} (policy {})", rule.why, rule.list), mention->origin};
  }
  return std::nullopt;
}

std::optional<Decision> exclusion(const Policy& policy, const Conditions& conditions) {
  if (auto skipped = skipped_by_list(policy, conditions); skipped && !conditions.no_skip) return skipped;
  const Mention* mention = conditions.dtype == DType::float32 ? nullptr : policy.find("only_fp32", conditions.model);
  if (!mention) return std::nullopt;
  return Decision{"runs in float32 only (policy only_fp32)", mention->origin};
}

std::optional<Decision> not_exported(const Policy& policy, const Conditions& conditions) {
  if (!conditions.exported || conditions.mode == Mode::training) return std::nullopt;
  for (const char* list : {"skip.control_flow", "skip.export_not_supported"})
    if (const Mention* mention = policy.find(list, conditions.model))
      return Decision{fmt::format("upstream does not export it (policy {})", list), mention->origin};
  return std::nullopt;
}

std::optional<Decision> passes_by_skip(const Policy& policy, const Conditions& conditions) {
  const Mention* mention = policy.find("accuracy.skip.large_models", conditions.model);
  if (!mention || conditions.check == "performance" || conditions.preset != Preset::full) return std::nullopt;
  return Decision{"too large for an eager, a compiled and a float64 copy (policy accuracy.skip.large_models)",
                  mention->origin};
}

void apply_policy(const Policy& policy, const ModelInfo& info, Case& c, DType loosest) {
  const std::string& name = name_in_lists(info);
  c.policy = to_string(policy.rule);
  c.origin["policy"] = info.upstream ? fmt::format("{} for upstream's {}", policy.origin, name) : policy.origin;
  if (c.dtype == DType::bfloat16)
    set_if(policy.find("dtype.force_fp16_for_bf16_models", name), c, "dtype", &Case::dtype, DType::float16);
  apply_amp(policy, name, c);
  if (const Mention* rounded = policy.find("emulate_precision_casts", name); rounded && compiled_by_inductor(c.backend))
    add_option(c, "emulate_precision_casts", "true", rounded->origin);
  const Conditions conditions = conditions_of(c, info, loosest);
  const Tolerance judged = tolerance_of(policy, conditions);
  c.tolerance = judged.tolerance;
  c.cosine = judged.cosine;
  c.origin["tolerance"] = c.origin["cosine"] = judged.origin;
  const BatchSize batch = batch_size_of(policy, conditions, info);
  c.batch_size = batch.size;
  c.batch_source = batch.source;
  c.origin["batch_size"] = batch.origin;
  c.equal_nan = conditions.dtype != DType::float32 && conditions.dtype != DType::float64;
  c.origin["equal_nan"] = "upstream's rule: NaN equals NaN except in float32; float64 follows it";
  set_if(policy.find("require_larger_multiplier_for_smaller_tensor", name), c, "larger_multiplier_for_smaller_tensor",
         &Case::larger_multiplier_for_smaller_tensor, true);
  set_if(policy.find("no_deterministic_algorithms", name), c, "no_deterministic_algorithms",
         &Case::no_deterministic_algorithms, true);
  if (const Mention* masks = policy.find("tolerance.use_iou_for_bool_masks", name)) {
    const Mention* threshold = policy.find("tolerance.iou_thresholds", name);
    c.iou_threshold = threshold ? threshold->value : 0.99;
    c.origin["iou_threshold"] = threshold ? threshold->origin : masks->origin;
  }
  if (const Mention* runs = policy.find("tolerance.accuracy_check_runs", name))
    set_if(runs, c, "accuracy_check_runs", &Case::accuracy_check_runs, static_cast<int>(runs->value));
  // Upstream passes such a model whether its results agree or not. Here the row reports that nothing was compared.
  const Mention* unstable = policy.find("non_deterministic", name);
  if (!unstable && c.mode == Mode::training) unstable = policy.find("accuracy.skip.eager_not_deterministic", name);
  if (conditions.check == "accuracy")
    set_if(unstable, c, "eager_not_deterministic", &Case::eager_not_deterministic, true);
  const bool chooses_mode = c.mode == Mode::training && !info.fixed_mode;
  if (const Mention* kept = policy.find("only_inference", name); kept && chooses_mode) {
    set_if(kept, c, "eval_in_training", &Case::eval_in_training, true);
  } else if (policy.rule == Rule::torchbench && conditions.check == "accuracy" && chooses_mode &&
             !policy.find("only_training", name)) {
    c.eval_in_training = true;
    c.origin["eval_in_training"] = "torchbench's accuracy trains in eval mode";
  }
  if (c.mode == Mode::training) {
    const Optimizing chosen = optimizer_of(policy, conditions);
    c.optimizer = chosen.kind;
    c.origin["optimizer"] = chosen.origin;
    set_if(policy.find("scaled_compute_loss", name), c, "loss_divisor", &Case::loss_divisor, 1000);
  }
  if (const auto skip = passes_by_skip(policy, conditions)) {
    c.skip_reason = skip->reason;
    c.origin["skip_reason"] = skip->origin;
  }
}

}  // namespace torchstone::policy
