#include <fmt/format.h>

#include "cases/settings/policy.h"
#include "fixtures/core/case.h"
#include "fixtures/core/check_registry.h"

namespace torchstone::policy {
namespace {

std::string option_of(const Case& c, const std::string& option) {
  const auto found = c.backend.options.find(option);
  return found == c.backend.options.end() ? "" : found->second;
}

/// Gives the compiler an option that the case does not name itself.
void add_option(Case& c, const std::string& option, const std::string& value, const std::string& by) {
  if (c.backend.options.try_emplace(option, value).second)
    c.origin["backend"] = fmt::format("{}, {} by {}", c.origin["backend"], option, by);
}

}  // namespace

Conditions conditions_of(const Case& c) {
  Conditions when;
  when.model = c.model;
  when.check = check_of(c).policy;
  when.batch_invariance = c.check == "batch_invariance";
  when.mode = c.mode;
  when.dtype = c.dtype;
  when.amp = c.dtype == DType::amp;
  when.device = c.device.substr(0, c.device.find(':'));
  when.inductor = compiled_by_inductor(c.backend);
  when.exported = c.backend.name == "inductor";
  when.freezing = option_of(c, "freezing") == "true";
  when.max_autotune = option_of(c, "max_autotune") == "true" ||
                      (c.backend.name == "torch_compile" && option_of(c, "mode").starts_with("max-autotune"));
  when.preset = c.preset;
  when.ci = c.ci;
  return when;
}

void apply_disable_cudagraph(const Policy& policy, Case& c) {
  const Mention* mention = policy.find("disable_cudagraph", c.model);
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

namespace {

/// What autocast computes in: what the policy says, upstream's default of the device otherwise.
void apply_amp(const Policy& policy, Case& c) {
  const Mention* forced = policy.find("dtype.force_amp_for_fp16_bf16_models", c.model);
  if (forced && (c.dtype == DType::float16 || c.dtype == DType::bfloat16)) {
    c.amp_dtype = c.dtype;
    c.dtype = DType::amp;
    c.origin["dtype"] = c.origin["amp_dtype"] = forced->origin;
  } else if (c.dtype == DType::amp) {
    const Mention* bfloat16 = policy.find("dtype.amp_dtype_bfloat16", c.model);
    c.amp_dtype = bfloat16 || c.device == "cpu" ? DType::bfloat16 : DType::float16;
    c.origin["amp_dtype"] = bfloat16 ? bfloat16->origin : "autocast's default on " + c.device;
  }
}

}  // namespace

void apply_policy(const Policy& policy, const ModelInfo& info, Case& c, DType loosest) {
  if (const Mention* forced = policy.find("dtype.force_fp16_for_bf16_models", c.model);
      forced && c.dtype == DType::bfloat16) {
    c.dtype = DType::float16;
    c.origin["dtype"] = forced->origin;
  }
  apply_amp(policy, c);
  if (const Mention* rounded = policy.find("emulate_precision_casts", c.model);
      rounded && compiled_by_inductor(c.backend))
    add_option(c, "emulate_precision_casts", "true", rounded->origin);
  Conditions when = conditions_of(c);
  if (c.dtype == DType::as_written) when.dtype = loosest;
  const Tolerance judged = tolerance_of(policy, when);
  c.tolerance = judged.tolerance;
  c.cosine = judged.cosine;
  c.origin["tolerance"] = c.origin["cosine"] = judged.origin;
  const BatchSize batch = batch_size_of(policy, when, info);
  c.batch_size = batch.size;
  c.origin["batch_size"] = batch.origin;
  c.equal_nan = when.dtype != DType::float32 && when.dtype != DType::float64;
  c.origin["equal_nan"] = "upstream's rule: NaN equals NaN except in float32; float64 follows it";
  if (const Mention* larger = policy.find("require_larger_multiplier_for_smaller_tensor", c.model)) {
    c.larger_multiplier_for_smaller_tensor = true;
    c.origin["larger_multiplier_for_smaller_tensor"] = larger->origin;
  }
  if (const Mention* without = policy.find("no_deterministic_algorithms", c.model)) {
    c.no_deterministic_algorithms = true;
    c.origin["no_deterministic_algorithms"] = without->origin;
  }
  if (const Mention* masks = policy.find("tolerance.use_iou_for_bool_masks", c.model)) {
    const Mention* threshold = policy.find("tolerance.iou_thresholds", c.model);
    c.iou_threshold = threshold ? threshold->value : 0.99;
    c.origin["iou_threshold"] = threshold ? threshold->origin : masks->origin;
  }
  if (const Mention* runs = policy.find("tolerance.accuracy_check_runs", c.model)) {
    c.accuracy_check_runs = static_cast<int>(runs->value);
    c.origin["accuracy_check_runs"] = runs->origin;
  }
  // Upstream records such a model as passed whether its results agree or not; here it says that nothing was compared.
  const Mention* unstable = policy.find("non_deterministic", c.model);
  if (!unstable && c.mode == Mode::training) unstable = policy.find("accuracy.skip.eager_not_deterministic", c.model);
  if (unstable && when.check == "accuracy") {
    c.eager_not_deterministic = true;
    c.origin["eager_not_deterministic"] = unstable->origin;
  }
  if (const Mention* kept = policy.find("only_inference", c.model); kept && c.mode == Mode::training) {
    c.eval_in_training = true;
    c.origin["eval_in_training"] = kept->origin;
  } else if (policy.rule == "torchbench" && when.check == "accuracy" && c.mode == Mode::training &&
             !policy.find("only_training", c.model)) {
    c.eval_in_training = true;
    c.origin["eval_in_training"] = "torchbench's accuracy trains in eval mode";
  }
  if (c.mode == Mode::training) {
    const Optimizing chosen = optimizer_of(policy, when);
    c.optimizer = chosen.kind;
    c.origin["optimizer"] = chosen.origin;
    if (const Mention* scaled = policy.find("scaled_compute_loss", c.model)) {
      c.loss_divisor = 1000;
      c.origin["loss_divisor"] = scaled->origin;
    }
  }
  if (const auto skip = passes_by_skip(policy, when)) {
    c.skip_reason = skip->reason;
    c.origin["skip_reason"] = skip->origin;
  }
}

}  // namespace torchstone::policy
