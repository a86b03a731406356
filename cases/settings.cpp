#include "cases/settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "cases/nearest.h"

namespace torchstone {
namespace {

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
      {"tolerance", "tolerance", "absolute and relative tolerance (0 to 10)",
       [](Case& c, const Yaml& v) { c.tolerance = number_of(v, 0, 10); }},
      {"cosine", "cosine", "compare by cosine similarity", [](Case& c, const Yaml& v) { c.cosine = boolean_of(v); }},
      {"iou_threshold", "iou_threshold", "compare boolean masks by intersection over union (0 to 1)",
       [](Case& c, const Yaml& v) { c.iou_threshold = number_of(v, 0, 1); }},
      {"accuracy_check_runs", "accuracy_check_runs", "majority of this many compiled runs (1 to 99)",
       [](Case& c, const Yaml& v) { c.accuracy_check_runs = static_cast<int>(integer_of(v, 1, 99)); }},
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

}  // namespace torchstone
