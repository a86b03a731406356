#include "cases/policy/policy.h"

namespace torchstone::policy {

const std::vector<PolicyKey>& policy_schema() {
  constexpr auto models = PolicyKey::Kind::models;
  constexpr auto numbers = PolicyKey::Kind::numbers;
  static const std::string not_needed = "nothing: ";
  static const std::vector<PolicyKey> schema{
      {"batch_size.training", numbers, "batch size of the full preset in training"},
      {"batch_size.inference", numbers, "batch size of the full preset in inference"},
      {"batch_size.divisors", numbers, "divides the model's batch size of the full preset"},
      {"batch_size.ci_accuracy", numbers, "batch size of training accuracy with inductor on cuda"},
      {"dont_change_batch_size", models, "the model keeps its own batch size"},
      {"accuracy.max_batch_size", numbers, "upper limit of the accuracy batch size"},
      {"accuracy.skip.large_models", models, "pass_due_to_skip in accuracy and tolerance"},
      {"accuracy.skip.eager_not_deterministic", models,
       "training accuracy is compared only where two eager runs agree"},
      {"tolerance.higher", models, "torchbench's tolerance rule"},
      {"tolerance.even_higher", models, "torchbench's and timm's tolerance rules"},
      {"tolerance.higher_fp16", models, "torchbench's tolerance rule"},
      {"tolerance.higher_bf16", models, "torchbench's tolerance rule"},
      {"tolerance.higher_bf16_xpu", models, "torchbench's tolerance rule"},
      {"tolerance.freezing", models, "timm's tolerance rule with freezing"},
      {"tolerance.freezing.higher_fp16", models, "torchbench's tolerance rule with freezing"},
      {"tolerance.freezing.even_higher", models, "torchbench's tolerance rule with freezing"},
      {"tolerance.cosine", models, "torchbench's tolerance rule: cosine similarity"},
      {"tolerance.higher_training", models, "timm's and huggingface's tolerance rules"},
      {"tolerance.highest_training", models, "timm's tolerance rule"},
      {"tolerance.higher_amp", models, "timm's tolerance rule under autocast"},
      {"tolerance.higher_fp16_xpu", models, "timm's tolerance rule"},
      {"tolerance.even_higher_max_autotune", models, "timm's tolerance rule with max_autotune"},
      {"tolerance.higher_max_autotune_training", models, "huggingface's tolerance rule with max_autotune"},
      {"tolerance.higher_inference", models, "huggingface's tolerance rule"},
      {"tolerance.higher_inference_cpu", models, "huggingface's tolerance rule"},
      {"tolerance.use_iou_for_bool_masks", models, "boolean masks are compared by intersection over union"},
      {"tolerance.iou_thresholds", numbers, "the threshold of that (default 0.99)"},
      {"tolerance.accuracy_check_runs", numbers, "majority of this many compiled runs (default 1)"},
      {"require_larger_multiplier_for_smaller_tensor", models, "wider error ratio for tensors up to 500 elements"},
      {"non_deterministic", models, "accuracy runs but is not compared"},
      {"only_training", models, "keeps train mode in training accuracy"},
      {"only_inference", models, "stays in eval mode in training"},
      {"only_fp32", models, "not registered in another dtype"},
      {"dtype.force_amp_for_fp16_bf16_models", models, "float16 and bfloat16 become autocast"},
      {"dtype.force_fp16_for_bf16_models", models, "bfloat16 becomes float16"},
      {"dtype.amp_dtype_bfloat16", models, "autocast in bfloat16 on every device"},
      {"skip.all", models, "not registered"},
      {"skip.device.cpu", models, "not registered on cpu"},
      {"skip.device.cpu_aarch64", models, "not registered on cpu of that architecture"},
      {"skip.device.cuda", models, "not registered on cuda"},
      {"skip.device.xpu", models, "not registered on xpu"},
      {"skip.device.hpu", models, "not registered on hpu"},
      {"skip.test.training", models, "not registered in training"},
      {"skip.freezing.cpu", models, "not registered with freezing on cpu"},
      {"skip.freezing.cuda", models, "not registered with freezing on cuda"},
      {"skip.multiprocess", models, "not registered (several processes are needed)"},
      {"skip.control_flow", models, not_needed + "what torch.export refuses; our tracer checks itself by replay"},
      {"skip.export_not_supported", models, not_needed + "what torch.export refuses"},
      {"slow", models, not_needed + "a time limit belongs to the suite"},
      {"very_slow", models, not_needed + "a time limit belongs to the suite"},
      {"disable_cudagraph", models, not_needed + "Inductor records no CUDA graphs in a package"},
      {"scaled_compute_loss", models, "the loss is divided by 1000"},
      {"emulate_precision_casts", models, not_needed + "an option of the backend"},
      {"trust_remote_code", models, not_needed + "no code is fetched"},
      {"canary_models", models, not_needed + "the registry knows all models"},
      {"detectron2_models", models, not_needed + "a list for other lists to refer to"},
      {"trt_not_yet_working", models, not_needed + "no TensorRT"},
  };
  return schema;
}

}  // namespace torchstone::policy
