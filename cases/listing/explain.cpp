#include <fnmatch.h>

#include <fmt/format.h>

#include "cases/listing/listing.h"

namespace torchstone::listing {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

std::vector<std::pair<std::string, Json>> fields_of(const Case& c) {
  return {{"suite", c.suite},
          {"model", c.model},
          {"check", to_string(c.check)},
          {"mode", to_string(c.mode)},
          {"dtype", to_string(c.dtype)},
          {"amp_dtype", c.dtype == DType::amp ? Json(to_string(c.amp_dtype)) : Json(nullptr)},
          {"device", c.device},
          {"backend", to_string(c.backend)},
          {"preset", to_string(c.preset)},
          {"batch_size", c.batch_size},
          {"seed", c.seed},
          {"channels_last", c.channels_last},
          {"threads", c.threads},
          {"deterministic", c.deterministic},
          {"eval_in_training", c.eval_in_training},
          {"optimizer", to_string(c.optimizer)},
          {"learning_rate", c.learning_rate},
          {"loss_divisor", c.loss_divisor},
          {"iterations", c.iterations},
          {"tolerance", c.tolerance},
          {"cosine", c.cosine},
          {"equal_nan", c.equal_nan},
          {"larger_multiplier_for_smaller_tensor", c.larger_multiplier_for_smaller_tensor},
          {"iou_threshold", or_null(c.iou_threshold)},
          {"eager_not_deterministic", c.eager_not_deterministic},
          {"accuracy_check_runs", c.accuracy_check_runs},
          {"batch_invariance", c.batch_invariance},
          {"find_batch_size", c.find_batch_size},
          {"upstream_semantics", c.upstream_semantics},
          {"skip_reason", or_null(c.skip_reason)},
          {"expected_status", std::string(to_string(c.expected_status))},
          {"required_speedup", or_null(c.required_speedup)},
          {"time_limit_s", c.time_limit_s},
          {"measure_budget_s", c.measure_budget_s},
          {"max_rounds", c.max_rounds},
          {"confidence", c.confidence},
          {"cold_cache", c.cold_cache},
          {"cuda_graphs", c.cuda_graphs},
          {"repeat", c.repeat},
          {"iterations_per_run", c.iterations_per_run},
          {"randomize_input", c.randomize_input},
          {"cold_start_latency", c.cold_start_latency},
          {"warm_start_latency", c.warm_start_latency}};
}

std::string explanation(const std::vector<Case>& cases, const std::string& glob) {
  std::string text;
  for (const auto& c : cases) {
    if (fnmatch(glob.c_str(), name_of(c).c_str(), 0) != 0) continue;
    Table table{{name_of(c), "value", "decided by"}, {}};
    for (const auto& [field, value] : fields_of(c)) {
      const auto origin = c.origin.find(field);
      table.rows.push_back({"  " + field, value, origin == c.origin.end() ? "default" : origin->second});
    }
    const auto reason = c.origin.find("expected_reason");
    if (reason != c.origin.end()) table.rows.push_back({"  expected because", reason->second, ""});
    text += (text.empty() ? "" : "\n") + to_text(table);
  }
  if (text.empty())
    throw selection::NothingSelected(
        fmt::format("--torchstone_explain={}: no case has such a name (expected a glob such as '*resnet18*'; see "
                    "--torchstone_list=cases)",
                    glob));
  return text;
}

}  // namespace torchstone::listing
