#include "cases/settings/policy.h"

#include <set>

#include <fmt/format.h>

#include "cases/settings/yaml.h"

namespace torchstone::policy {

const std::vector<PolicyKey>& policy_schema() {
  constexpr auto models = PolicyKey::Kind::models;
  constexpr auto numbers = PolicyKey::Kind::numbers;
  static const std::string not_needed = "nothing: ";
  static const std::vector<PolicyKey> schema{
      {"batch_size.training", numbers, "batch size of the full preset in training"},
      {"batch_size.inference", numbers, "batch size of the full preset in inference"},
      {"batch_size.divisors", numbers, "divides the model's batch size of the full preset"},
      {"batch_size.ci_accuracy", numbers, "batch size of training accuracy with inductor on cuda, with ci"},
      {"own_batch_size.training", numbers, "the model's own batch size in training, if its source states none",
       "timm_models_list.txt, huggingface_models_list.txt and pytorch/benchmark"},
      {"own_batch_size.inference", numbers, "the model's own batch size in inference, if its source states none",
       "timm_models_list.txt, huggingface_models_list.txt and pytorch/benchmark"},
      {"models_without_batch_size", models, "upstream's other models", "pytorch/benchmark"},
      {"dont_change_batch_size", models, "the model keeps its own batch size"},
      {"fixed_batch_size", models, "the model keeps its own batch size", "pytorch/benchmark"},
      {"accuracy.max_batch_size", numbers, "upper limit of the accuracy batch size"},
      {"accuracy.skip.large_models", models, "pass_due_to_skip in accuracy and tolerance of the full preset"},
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
      {"tolerance.iou_thresholds", numbers, "threshold of use_iou_for_bool_masks (default 0.99)"},
      {"tolerance.accuracy_check_runs", numbers, "number of compiled runs; the majority decides (default 1)"},
      {"require_larger_multiplier_for_smaller_tensor", models,
       "a larger error ratio for tensors of up to 500 elements"},
      {"non_deterministic", models, "accuracy runs but is not compared"},
      {"only_training", models, "keeps train mode in training accuracy"},
      {"only_inference", models, "stays in eval mode in training"},
      {"only_fp32", models, "not registered in another dtype"},
      {"dtype.force_amp_for_fp16_bf16_models", models, "float16 and bfloat16 become autocast"},
      {"dtype.force_fp16_for_bf16_models", models, "bfloat16 becomes float16"},
      {"dtype.amp_dtype_bfloat16", models, "autocast in bfloat16 on every device"},
      {"skip.all", models, "not registered"},
      {"skip.device.cpu", models, "not registered on cpu"},
      {"skip.device.cpu_aarch64", models, "not registered on aarch64 CPUs"},
      {"skip.device.cuda", models, "not registered on cuda"},
      {"skip.device.xpu", models, "not registered on xpu"},
      {"skip.device.hpu", models, "not registered on hpu"},
      {"skip.test.training", models, "not registered in training"},
      {"skip.freezing.cpu", models, "not registered with freezing on cpu"},
      {"skip.freezing.cuda", models, "not registered with freezing on cuda"},
      {"skip.multiprocess", models, "not registered (requires several processes)"},
      {"skip.control_flow", models,
       "inductor's inference is not registered under upstream's semantics, which require torch.export"},
      {"skip.export_not_supported", models,
       "inductor's inference is not registered under upstream's semantics, which require torch.export"},
      {"slow", models, "not registered with --torchstone_fast"},
      {"very_slow", models, not_needed + "a part of slow, which refers to it"},
      {"disable_cudagraph", models, "no CUDA graphs, whatever selects them"},
      {"scaled_compute_loss", models, "the loss is divided by 1000"},
      {"no_deterministic_algorithms", models, "runs without deterministic algorithms", "common.py"},
      {"optimizer.none", models, "training makes no optimizer step", "common.py"},
      {"optimizer.sgd", models, "SGD in training, because with Adam their results differ even in eager", "common.py"},
      {"optimizer.sgd_in_ci", models, "SGD in training with ci, as in upstream's CI", "common.py"},
      {"optimizer.sgd_with_inductor", models, "SGD in training accuracy with inductor on cuda", "common.py"},
      {"emulate_precision_casts", models, "inductor runs with the option emulate_precision_casts=true"},
      {"trust_remote_code", models, not_needed + "no code is downloaded"},
      {"canary_models", models, not_needed + "the registry has all models"},
      {"detectron2_models", models, not_needed + "only other lists refer to it"},
      {"trt_not_yet_working", models, not_needed + "no TensorRT"},
  };
  return schema;
}

namespace {

const PolicyKey* schema_of(const std::string& path) {
  for (const auto& key : policy_schema())
    if (key.path == path) return &key;
  return nullptr;
}

// Returns the keys allowed below `path`, which is empty for the top of the file.
std::vector<std::string> keys_below(const std::string& path) {
  const std::string prefix = path.empty() ? "" : path + ".";
  std::set<std::string> names;
  for (const auto& key : policy_schema())
    if (key.path.starts_with(prefix))
      names.insert(key.path.substr(prefix.size(), key.path.find('.', prefix.size()) - prefix.size()));
  return {names.begin(), names.end()};
}

void read_models(const config::Yaml& node, std::map<std::string, Mention>& models) {
  for (const auto& item : list_of(node)) models.emplace(text_of(item), Mention{origin_of(item)});
}

void read_numbers(const config::Yaml& node, std::map<std::string, Mention>& models) {
  if (node.kind == config::Yaml::Kind::null) return;
  require_map(node);
  for (const auto& [model, value] : node.entries) {
    const bool share = node.path == "tolerance.iou_thresholds";
    const double number = share ? number_of(value, 0, 1) : static_cast<double>(integer_of(value, 1, 1'000'000'000));
    models.emplace(model, Mention{origin_of(value), number});
  }
}

void read_keys(const config::Yaml& map, Policy& policy) {
  const auto known = keys_below(map.path);
  for (const auto& [name, value] : map.entries) {
    if (map.path.empty() && (name == "tolerance_rule" || name == "upstream_names" || name == "default_optimizer"))
      continue;
    require_known(value, name, known, "unknown key");
    const PolicyKey* key = schema_of(value.path);
    const bool group = !keys_below(value.path).empty();
    if (value.kind == config::Yaml::Kind::null) continue;  // `skip:` with everything below it commented out
    if (group && (!key || value.kind == config::Yaml::Kind::map)) {
      require_map(value);
      read_keys(value, policy);
    } else if (key->kind == PolicyKey::Kind::models) {
      read_models(value, policy.mentions[key->path]);
    } else {
      read_numbers(value, policy.mentions[key->path]);
    }
  }
}

}  // namespace

const std::string& Policy::upstream_name(const std::string& model) const {
  const auto renamed = upstream_names.find(model);
  return renamed == upstream_names.end() ? model : renamed->second;
}

const Mention* Policy::find(const std::string& key, const std::string& model) const {
  const auto models = mentions.find(key);
  if (models == mentions.end()) return nullptr;
  auto mention = models->second.find(model);
  if (mention == models->second.end()) mention = models->second.find(upstream_name(model));
  return mention == models->second.end() ? nullptr : &mention->second;
}

bool Policy::lists(const std::string& model) const {
  for (const char* key : {"own_batch_size.inference", "own_batch_size.training", "models_without_batch_size"})
    if (find(key, model)) return true;
  return false;
}

std::string to_string(Rule rule) {
  return rule == Rule::timm ? "timm" : rule == Rule::huggingface ? "huggingface" : "torchbench";
}

Rule rule_of_suite(const std::string& suite) {
  if (suite == "timm" || suite == "timm_models") return Rule::timm;
  return suite == "huggingface" ? Rule::huggingface : Rule::torchbench;
}

Policy read_policy(const std::string& file, const std::string& suite) {
  const config::Yaml root = config::read_yaml(file);
  require_map(root);
  Policy policy;
  policy.file = policy.origin = file;
  policy.rule = rule_of_suite(suite);
  if (const config::Yaml* rule = root.find("tolerance_rule"))
    policy.rule =
        word_of(*rule, config::words_for<Rule>({Rule::torchbench, Rule::timm, Rule::huggingface}), "tolerance rule");
  if (const config::Yaml* names = root.find("upstream_names")) {
    require_map(*names);
    for (const auto& [ours, upstream] : names->entries) policy.upstream_names.emplace(ours, text_of(upstream));
  }
  if (const config::Yaml* optimizer = root.find("default_optimizer"))
    policy.default_optimizer =
        word_of(*optimizer, config::words_for(std::vector{OptimizerKind::adam, OptimizerKind::sgd}), "optimizer");
  read_keys(root, policy);
  return policy;
}

}  // namespace torchstone::policy
