#include "cases/config/settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "cases/config/nearest.h"

namespace torchstone::config {
namespace {

template <typename Enum>
Enum word_of(const Yaml& value, const std::vector<Enum>& choices) {
  std::vector<std::string> words;
  for (const Enum choice : choices) {
    words.push_back(to_string(choice));
    if (words.back() == text_of(value)) return choice;
  }
  fail(value, fmt::format("'{}' ({})", value.text, expected_one_of(value.text, words)));
}

// 2^53: every reader of the results' JSON keeps such a number exactly.
constexpr int64_t max_seed = int64_t{1} << 53;

const SettingInfo& setting_of(const std::string& key, const Yaml& value) {
  const auto& table = setting_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& setting) { return setting.key == key; });
  if (found == table.end()) fail(value, fmt::format("unknown key ({})", expected_one_of(key, setting_keys())));
  return *found;
}

}  // namespace

Status status_of(const Yaml& value) {
  if (const auto status = parse_status(text_of(value))) return *status;
  std::vector<std::string> names;
  for (const auto& info : status_table()) names.emplace_back(info.name);
  fail(value, fmt::format("'{}' is no status ({})", value.text, expected_one_of(value.text, names)));
}

const std::vector<SettingInfo>& setting_table() {
  static const std::vector<SettingInfo> table{
      {"batch_size", "batch_size", "batch size (1 to 1000000)",
       [](Case& c, const Yaml& v) { c.batch_size = integer_of(v, 1, 1'000'000); }},
      {"seed", "seed", "random seed (0 to 2^53)",
       [](Case& c, const Yaml& v) { c.seed = static_cast<uint64_t>(integer_of(v, 0, max_seed)); }},
      {"channels_last", "channels_last", "images and weights of convolutions lie in memory with the channels last",
       [](Case& c, const Yaml& v) { c.channels_last = boolean_of(v); }},
      {"threads", "threads", "threads of LibTorch (0 to 4096; 0: the run's choice)",
       [](Case& c, const Yaml& v) { c.threads = static_cast<int>(integer_of(v, 0, 4096)); }},
      {"deterministic", "deterministic", "deterministic algorithms in performance too",
       [](Case& c, const Yaml& v) { c.deterministic = boolean_of(v); }},
      {"eager_not_deterministic", "eager_not_deterministic",
       "training is not compared on a device where two runs of eager differ",
       [](Case& c, const Yaml& v) { c.eager_not_deterministic = boolean_of(v) && c.mode == Mode::training; }},
      {"amp_dtype", "amp_dtype", "what autocast computes in (bfloat16, float16)",
       [](Case& c, const Yaml& v) {
         c.amp_dtype = word_of(v, std::vector{DType::bfloat16, DType::float16});
       }},
      {"eval_in_training", "eval_in_training", "the model stays in eval mode while it trains",
       [](Case& c, const Yaml& v) { c.eval_in_training = boolean_of(v); }},
      {"optimizer", "optimizer", "of a training step (none, sgd, adam)",
       [](Case& c, const Yaml& v) {
         c.optimizer = word_of(v, std::vector{OptimizerKind::none, OptimizerKind::sgd, OptimizerKind::adam});
       }},
      {"learning_rate", "learning_rate", "of the optimizer (1e-8 to 10)",
       [](Case& c, const Yaml& v) { c.learning_rate = number_of(v, 1e-8, 10); }},
      {"loss_divisor", "loss_divisor", "the loss is divided by it (1e-6 to 1e6)",
       [](Case& c, const Yaml& v) { c.loss_divisor = number_of(v, 1e-6, 1e6); }},
      {"iterations", "iterations", "calls in a row before results are compared (1 to 1000)",
       [](Case& c, const Yaml& v) { c.iterations = static_cast<int>(integer_of(v, 1, 1000)); }},
      {"tolerance", "tolerance", "absolute and relative tolerance (0 to 10)",
       [](Case& c, const Yaml& v) { c.tolerance = number_of(v, 0, 10); }},
      {"cosine", "cosine", "compare by cosine similarity", [](Case& c, const Yaml& v) { c.cosine = boolean_of(v); }},
      {"equal_nan", "equal_nan", "NaN equals NaN", [](Case& c, const Yaml& v) { c.equal_nan = boolean_of(v); }},
      {"iou_threshold", "iou_threshold", "compare boolean masks by intersection over union (0 to 1)",
       [](Case& c, const Yaml& v) { c.iou_threshold = number_of(v, 0, 1); }},
      {"accuracy_check_runs", "accuracy_check_runs", "majority of this many compiled runs (1 to 99)",
       [](Case& c, const Yaml& v) { c.accuracy_check_runs = static_cast<int>(integer_of(v, 1, 99)); }},
      {"batch_invariance", "batch_invariance", "accuracy asks instead whether a part of a batch gives the same bits",
       [](Case& c, const Yaml& v) { c.batch_invariance = boolean_of(v); }},
      {"find_batch_size", "find_batch_size", "accuracy asks instead for the largest batch that eager holds",
       [](Case& c, const Yaml& v) { c.find_batch_size = boolean_of(v); }},
      {"expected", "expected_status", "status of a known failure",
       [](Case& c, const Yaml& v) { c.expected_status = status_of(v); }},
      {"reason", "", "why that is expected",
       [](Case& c, const Yaml& v) { c.origin["expected_reason"] = fmt::format("{} ({})", text_of(v), origin_of(v)); }},
      {"required_speedup", "required_speedup", "speed-up that performance must reach (0 to 1000)",
       [](Case& c, const Yaml& v) { c.required_speedup = number_of(v, 0, 1000); }},
      {"time_limit", "time_limit_s", "seconds for one case (1 to 86400)",
       [](Case& c, const Yaml& v) { c.time_limit_s = number_of(v, 1, 86400); }},
      {"measure_budget", "measure_budget_s", "seconds of measuring in one case (0.01 to 86400)",
       [](Case& c, const Yaml& v) { c.measure_budget_s = number_of(v, 0.01, 86400); }},
      {"rounds", "max_rounds", "upper limit of measuring rounds (1 to 1000000)",
       [](Case& c, const Yaml& v) { c.max_rounds = static_cast<int>(integer_of(v, 1, 1'000'000)); }},
      {"confidence", "confidence", "of the speed-up's interval (0.5 to 0.9999)",
       [](Case& c, const Yaml& v) { c.confidence = number_of(v, 0.5, 0.9999); }},
      {"cold_cache", "cold_cache", "flush the caches before every timed call",
       [](Case& c, const Yaml& v) { c.cold_cache = boolean_of(v); }},
      {"cuda_graphs", "cuda_graphs",
       "both sides replay a CUDA graph of the call (inference on CUDA; elsewhere no effect)",
       [](Case& c, const Yaml& v) { c.cuda_graphs = boolean_of(v); }},
      {"repeat", "repeat", "exactly this many measuring rounds, whatever they take; 0: until decided (0 to 1000000)",
       [](Case& c, const Yaml& v) { c.repeat = static_cast<int>(integer_of(v, 0, 1'000'000)); }},
      {"iterations_per_run", "iterations_per_run", "calls of a block; 0: calibrated (0 to 1000000)",
       [](Case& c, const Yaml& v) { c.iterations_per_run = integer_of(v, 0, 1'000'000); }},
      {"randomize_input", "randomize_input", "new random inputs in each measuring round",
       [](Case& c, const Yaml& v) { c.randomize_input = boolean_of(v); }},
      {"cold_start_latency", "cold_start_latency", "performance also starts once with empty caches",
       [](Case& c, const Yaml& v) { c.cold_start_latency = boolean_of(v); }},
      {"warm_start_latency", "warm_start_latency", "performance is compiled before its process starts",
       [](Case& c, const Yaml& v) { c.warm_start_latency = boolean_of(v); }},
      {"upstream_semantics", "upstream_semantics", "judge as upstream does where we know better",
       [](Case& c, const Yaml& v) { c.upstream_semantics = boolean_of(v); }},
  };
  return table;
}

std::vector<std::string> setting_keys() {
  std::vector<std::string> keys;
  for (const auto& setting : setting_table()) keys.push_back(setting.key);
  return keys;
}

void check_setting(const std::string& key, const Yaml& value) {
  Case scratch;
  setting_of(key, value).set(scratch, value);
}

void apply_settings(const Settings& settings, Case& c) {
  for (const auto& [key, value] : settings) {
    if (key == "required_speedup" && c.check != Check::performance) continue;
    const SettingInfo& setting = setting_of(key, value);
    setting.set(c, value);
    if (!setting.field.empty()) c.origin[setting.field] = origin_of(value);
  }
}

}  // namespace torchstone::config
