#include "cases/settings/case_fields.h"

#include <filesystem>

#include "cases/settings/case_field_types.h"
#include "fixtures/core/check_registry.h"

namespace torchstone::config {
namespace {

using Json = nlohmann::ordered_json;

constexpr double million = 1'000'000, day_s = 86'400;
// Every reader of the results' JSON keeps a whole number up to 2^53 exactly.
constexpr double max_seed = static_cast<double>(int64_t{1} << 53);

CaseField expected_status() {
  CaseField field{
      .name = "expected_status", .help = "status of a known failure", .value = "STATUS", .fallback = "pass"};
  field.key = "expected";
  field.set = [](Case& c, const Yaml& value) { c.expected_status = status_of(value); };
  field.get = [](const Case& c) { return Json(std::string(to_string(c.expected_status))); };
  return field;
}

// No member of its own: --torchstone_explain shows it below the fields.
CaseField expected_reason() {
  CaseField field{.name = "expected_reason", .help = "why that status is expected", .value = "TEXT"};
  field.key = "reason";
  field.shown = false;
  field.set = [](Case& c, const Yaml& value) {
    c.origin["expected_reason"] = fmt::format("{} ({})", text_of(value), origin_of(value));
  };
  field.get = [](const Case& c) {
    const auto found = c.origin.find("expected_reason");
    return found == c.origin.end() ? Json(nullptr) : Json(found->second);
  };
  return field;
}

CaseField eager_not_deterministic() {
  CaseField field = boolean("eager_not_deterministic", &Case::eager_not_deterministic,
                            "training is not compared on a device where two runs of eager differ");
  field.set = [](Case& c, const Yaml& v) { c.eager_not_deterministic = boolean_of(v) && c.mode == Mode::training; };
  return field;
}

CaseField amp_dtype() {
  CaseField field = word("amp_dtype", &Case::amp_dtype, {DType::bfloat16, DType::float16}, "what autocast computes in");
  field.get = [](const Case& c) { return c.dtype == DType::amp ? Json(to_string(c.amp_dtype)) : Json(nullptr); };
  return field;
}

/// A path in a suite is relative to the suite's file, one of a flag to the working directory.
std::string existing_path(const Yaml& value) {
  const std::filesystem::path folder = value.line == 0 ? "" : std::filesystem::path(value.file).parent_path();
  const auto path = std::filesystem::absolute(folder / text_of(value)).lexically_normal();
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    fail(value, fmt::format("there is no {} (expected a checkpoint: FILE.safetensors, FILE.pt or a folder of Hugging "
                            "Face)",
                            path.string()));
  return path.string();
}

CaseField dynamic_range() {
  CaseField field{
      .name = "dynamic_range", .help = "batches that one program of dynamic sizes serves", .value = "MINIMUM..MAXIMUM"};
  field.key = "dynamic_range";
  field.set = [](Case& c, const Yaml& value) {
    const auto range = parse_batch_range(text_of(value));
    if (!range)
      fail(value, fmt::format("'{}' is no range of batches (expected MINIMUM..MAXIMUM, as 2..64, up to 1000000)",
                              value.text.substr(0, 60)));
    c.dynamic_range = *range;
  };
  field.get = [](const Case& c) { return Json(to_string(c.dynamic_range)); };
  return with_default(std::move(field)).only_for(dynamic_cases());
}

CaseField weights() {
  CaseField field{.name = "weights", .help = "checkpoint that the models are loaded from", .value = "FILE_OR_FOLDER"};
  field.key = "weights";
  field.path = true;
  field.set = [](Case& c, const Yaml& value) { c.weights = existing_path(value); };
  field.get = [](const Case& c) { return c.weights.empty() ? Json(nullptr) : Json(c.weights); };
  return field;
}

std::vector<CaseField> fields_of_combination() {
  return {
      decided_elsewhere(
          "suite", [](const Case& c) { return c.suite; }, "the suite's name", "key suite of the file"),
      decided_elsewhere(
          "model", [](const Case& c) { return c.model; }, "the model's name", "key models of the suite"),
      decided_elsewhere(
          "check", [](const Case& c) { return c.check; }, "what is asked of the compiled model", "axis checks"),
      decided_elsewhere(
          "mode", [](const Case& c) { return to_string(c.mode); }, "inference or training", "axis modes"),
      decided_elsewhere(
          "dtype", [](const Case& c) { return to_string(c.dtype); }, "of weights and inputs", "axis dtypes"),
      amp_dtype().with_flag().used_by(amp_cases()).decided_by("the policy's, else the device's"),
      decided_elsewhere(
          "device", [](const Case& c) { return c.device; }, "where the model runs", "axis devices"),
      decided_elsewhere(
          "backend", [](const Case& c) { return to_string(c.backend); }, "what compiles, with its options",
          "axis backends"),
      decided_elsewhere(
          "preset", [](const Case& c) { return to_string(c.preset); }, "mini or full size of the model",
          "axis presets"),
      decided_elsewhere(
          "dynamic", [](const Case& c) { return to_string(c.dynamic); }, "the sizes that one compiled program serves",
          "axis dynamic"),
      dynamic_range().with_flag(),
      number("batch_size", &Case::batch_size, {1, million}, "batch size")
          .with_flag()
          .used_by(cases_of_free_batch())
          .decided_by("the policy's"),
      decided_elsewhere(
          "fixed_batch", [](const Case& c) { return c.fixed_batch; }, "no flag and no suite changes the batch size",
          "the model, or policy key dont_change_batch_size"),
      number("seed", &Case::seed, {0, max_seed}, "random seed").with_flag(),
      weights().with_flag().decided_by("random ones, by the seed"),
      boolean("channels_last", &Case::channels_last,
              "images and weights of convolutions lie in memory with the channels last")
          .with_flag(),
      number("threads", &Case::threads, {0, 4096}, "threads of LibTorch in one case; 0: LibTorch's choice").with_flag(),
      boolean("deterministic", &Case::deterministic, "deterministic algorithms in performance too")
          .with_flag()
          .used_by(timed_cases()),
      decided_elsewhere(
          "no_deterministic_algorithms", [](const Case& c) { return c.no_deterministic_algorithms; },
          "the model cannot run under deterministic algorithms", "policy key no_deterministic_algorithms"),
  };
}

std::vector<CaseField> fields_of_training() {
  return {
      boolean("eval_in_training", &Case::eval_in_training, "the model stays in eval mode while it trains")
          .with_flag("use_eval_mode")
          .used_by(training_cases())
          .decided_by("the policy's"),
      word("optimizer", &Case::optimizer, {OptimizerKind::none, OptimizerKind::sgd, OptimizerKind::adam},
           "of a training step")
          .with_flag()
          .used_by(training_cases())
          .decided_by("the policy's"),
      number("learning_rate", &Case::learning_rate, {1e-8, 10}, "of the optimizer"),
      number("loss_divisor", &Case::loss_divisor, {1e-6, 1e6}, "the loss is divided by it")
          .decided_by("the policy's (1)"),
      number("iterations", &Case::iterations, {1, 1000}, "calls in a row before results are compared").with_flag(),
  };
}

std::vector<CaseField> fields_of_judgement() {
  return {
      number("tolerance", &Case::tolerance, {0, 10}, "absolute and relative tolerance of accuracy")
          .with_flag()
          .decided_by("the policy's"),
      boolean("cosine", &Case::cosine, "compare by cosine similarity").with_flag().decided_by("the policy's"),
      boolean("equal_nan", &Case::equal_nan, "NaN at the same place of both answers is equal")
          .with_flag()
          .decided_by("true except in float32"),
      decided_elsewhere(
          "larger_multiplier_for_smaller_tensor", [](const Case& c) { return c.larger_multiplier_for_smaller_tensor; },
          "a wider error ratio for tensors of up to 500 elements",
          "policy key require_larger_multiplier_for_smaller_tensor"),
      number("iou_threshold", &Case::iou_threshold, {0, 1}, "compare boolean masks by intersection over union")
          .decided_by("the policy's"),
      eager_not_deterministic().decided_by("the policy's"),
      number("accuracy_check_runs", &Case::accuracy_check_runs, {1, 99}, "majority of this many compiled runs")
          .decided_by("the policy's (1)"),
      boolean("skip_accuracy_check", &Case::skip_accuracy_check,
              "a wrong answer is no verdict: accuracy ends with pass_due_to_skip, performance is timed and says so")
          .with_flag(),
      boolean("upstream_semantics", &Case::upstream_semantics,
              "judge as PyTorch's harness does where Torchstone knows better")
          .with_flag(),
      boolean("ci", &Case::ci, "the policy's lists of PyTorch's CI hold (optimizer.sgd_in_ci, batch_size.ci_accuracy)")
          .with_flag(),
      decided_elsewhere(
          "skip_reason", [](const Case& c) { return c.skip_reason ? Json(*c.skip_reason) : Json(nullptr); },
          "why the case ends as pass_due_to_skip", "policy key accuracy.skip.large_models"),
      decided_elsewhere(
          "not_skipped", [](const Case& c) { return c.not_skipped ? Json(*c.not_skipped) : Json(nullptr); },
          "why the case would not be registered without --torchstone_no_skip", "policy keys skip, slow"),
      expected_status(),
      expected_reason(),
  };
}

std::vector<CaseField> fields_of_timing() {
  return {
      number("required_speedup", &Case::required_speedup, {0, 1000}, "speed-up that performance must reach")
          .with_flag()
          .decided_by("the suites'")
          .only_for(timed_cases()),
      number("time_limit_s", &Case::time_limit_s, {1, day_s}, "of one case")
          .with_key("time_limit")
          .in("SECONDS")
          .with_flag(),
      number("measure_budget_s", &Case::measure_budget_s, {0.01, day_s},
             "wall time of measuring in one case, with the processes after the first")
          .with_key("measure_budget")
          .in("SECONDS")
          .with_flag()
          .used_by(timed_cases()),
      number("processes", &Case::processes, {0, 1000},
             "exactly this many processes time a case, one after the other; 0: as the budget allows")
          .with_flag()
          .used_by(timed_cases()),
      number("max_rounds", &Case::max_rounds, {1, million}, "upper limit of measuring rounds")
          .with_key("rounds")
          .with_flag()
          .used_by(timed_cases()),
      number("confidence", &Case::confidence, {0.5, 0.9999}, "of the speed-up's interval")
          .in("P")
          .with_flag()
          .used_by(timed_cases()),
      boolean("cold_cache", &Case::cold_cache, "flush the caches before every timed call")
          .with_flag()
          .used_by(timed_cases()),
      word("cuda_graphs", &Case::cuda_graphs, {CudaGraphs::none, CudaGraphs::compiled, CudaGraphs::both},
           "which sides performance times as CUDA graphs")
          .with_flag()
          .used_by(timed_cases())
          .decided_by("the suites'"),
      number("repeat", &Case::repeat, {0, million},
             "exactly this many measuring rounds, whatever they take; 0: until decided")
          .with_flag()
          .used_by(timed_cases()),
      number("iterations_per_run", &Case::iterations_per_run, {0, million}, "calls of a block; 0: calibrated")
          .with_flag()
          .used_by(timed_cases()),
      boolean("randomize_input", &Case::randomize_input,
              "new random inputs in each measuring round, the same for both sides")
          .with_flag()
          .used_by(timed_cases()),
      boolean("cold_start_latency", &Case::cold_start_latency,
              "performance also measures a start with empty caches: cold_start_s")
          .with_flag()
          .used_by(timed_cases()),
      boolean("warm_start_latency", &Case::warm_start_latency,
              "performance starts from the artifact cache, which is filled before: warm_start_s")
          .with_flag()
          .used_by(timed_cases()),
      word("pin_threads", &Case::pin_threads, {PinThreads::none, PinThreads::cores},
           "performance binds each thread to a physical core of its own; none: the system places them")
          .with_flag()
          .used_by(timed_cases()),
      boolean("use_warm_peak_memory", &Case::use_warm_peak_memory,
              "eager_peak_mem and dynamo_peak_mem are of one step after the first ones; false: of the first ones")
          .with_flag()
          .used_by(timed_cases())
          .decided_by("true; false with cold_start_latency"),
  };
}

std::vector<CaseField> joined_fields() {
  std::vector<CaseField> all;
  for (auto* part : {fields_of_combination, fields_of_training, fields_of_judgement, fields_of_timing})
    for (auto& field : part()) all.push_back(std::move(field));
  return all;
}

}  // namespace

CaseField CaseField::with_key(const std::string& its_key) && {
  key = its_key;
  return std::move(*this);
}

CaseField CaseField::with_flag(const std::string& its_flag) && {
  flag = its_flag.empty() ? key : its_flag;
  return std::move(*this);
}

CaseField CaseField::in(const std::string& unit) && {
  value = unit;
  return std::move(*this);
}

CaseField CaseField::decided_by(const std::string& what) && {
  fallback = what;
  return std::move(*this);
}

CaseField CaseField::used_by(Use cases) && {
  use = std::move(cases);
  return std::move(*this);
}

CaseField CaseField::only_for(Use cases) && {
  only_where_used = true;
  return std::move(*this).used_by(std::move(cases));
}

const std::vector<CaseField>& case_fields() {
  static const std::vector<CaseField> fields = joined_fields();
  return fields;
}

}  // namespace torchstone::config
