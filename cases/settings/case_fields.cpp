#include "cases/settings/case_fields.h"

#include <cstdint>
#include <filesystem>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fixtures/core/check_registry.h"

namespace torchstone::config {
namespace {

using Json = nlohmann::ordered_json;

constexpr double million = 1'000'000, day_s = 86'400;
// JSON readers that store numbers as doubles keep whole numbers up to 2^53 exactly.
constexpr double max_seed = static_cast<double>(int64_t{1} << 53);

template <typename Member>
struct NumberType {
  using type = Member;
};
template <typename T>
struct NumberType<std::optional<T>> {
  using type = T;
};

/// Returns a member as --torchstone_explain shows it; null when it has no value.
template <typename Member>
Json json_of(const Member& value) {
  if constexpr (requires { value.has_value(); })
    return value ? Json(*value) : Json(nullptr);
  else if constexpr (requires { to_string(value); })
    return Json(std::string(to_string(value)));
  else
    return Json(value);
}

/// Makes a field that an axis of the row or a policy decides.
template <typename Member>
CaseField decided_elsewhere(const char* name, Member Case::*member, const char* help, const char* by) {
  CaseField field{.name = name, .help = help, .fallback = by};
  field.get = [member](const Case& c) { return json_of(c.*member); };
  return field;
}

/// Makes a field that suites set by its name. `parse` reads its value.
template <typename Member, typename Parse>
CaseField settable(const char* name, Member Case::*member, const std::string& value, const char* help, Parse parse) {
  CaseField field = decided_elsewhere(name, member, help, "");
  field.value = value;
  field.key = name;
  field.set = [member, parse](Case& c, const Yaml& node) { c.*member = parse(node); };
  const Json fallback = field.get(Case{});
  if (fallback.is_number_float())
    field.fallback = fmt::format("{}", fallback.get<double>());
  else if (!fallback.is_null())
    field.fallback = fallback.is_string() ? fallback.get<std::string>() : fallback.dump();
  return field;
}

struct Range {
  double low, high;
};

/// Makes a field of an integer or floating-point number, which may be optional.
template <typename Member>
CaseField number(const char* name, Member Case::*member, Range range, const char* help) {
  using T = typename NumberType<Member>::type;
  constexpr bool whole = std::is_integral_v<T>;
  const auto low = static_cast<int64_t>(range.low), high = static_cast<int64_t>(range.high);
  CaseField field = settable(name, member, whole ? "N" : "X", help, [=](const Yaml& value) {
    if constexpr (whole)
      return static_cast<T>(integer_of(value, low, high));
    else
      return number_of(value, range.low, range.high);
  });
  field.range = whole ? fmt::format("{} to {}", low, high) : fmt::format("{} to {}", range.low, range.high);
  return field;
}

CaseField boolean(const char* name, bool Case::*member, const char* help) {
  CaseField field = settable(name, member, "BOOL", help, boolean_of);
  field.boolean = true;
  return field;
}

/// Makes a field of an enum that has a to_string().
template <typename Enum>
CaseField word(const char* name, Enum Case::*member, const std::vector<Enum>& choices, const char* help) {
  const auto words = words_for(choices);
  return settable(name, member, fmt::format("{}", fmt::join(spelt(words), "|")), help,
                  [words](const Yaml& value) { return word_of(value, words); });
}

CaseField expected_status() {
  CaseField field =
      settable("expected_status", &Case::expected_status, "STATUS", "status of a known failure", status_of);
  return std::move(field).with_key("expected");
}

// Makes the field `reason`. It has no member of Case: --torchstone_explain shows it below the fields.
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
  CaseField field =
      word("amp_dtype", &Case::amp_dtype, {DType::bfloat16, DType::float16}, "dtype in which autocast computes");
  field.get = [](const Case& c) { return c.dtype == DType::amp ? Json(to_string(c.amp_dtype)) : Json(nullptr); };
  return field;
}

/// Resolves a path relative to the suite's file. The path of a flag is relative to the working directory.
std::string existing_path(const Yaml& value) {
  const std::filesystem::path folder = value.line == 0 ? "" : std::filesystem::path(value.file).parent_path();
  const auto path = std::filesystem::absolute(folder / text_of(value)).lexically_normal();
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    fail(value,
         fmt::format("{} does not exist (expected a checkpoint: FILE.safetensors, FILE.pt or a folder of Hugging Face)",
                     path.string()));
  return path.string();
}

BatchRange batch_range_of(const Yaml& value) {
  if (const auto range = parse_batch_range(text_of(value))) return *range;
  fail(value,
       fmt::format("'{}' is not a range of batch sizes (expected MINIMUM..MAXIMUM such as 2..64, at most 1000000)",
                   value.text.substr(0, 60)));
}

CaseField weights() {
  CaseField field = settable("weights", &Case::weights, "FILE_OR_FOLDER", "checkpoint that the models are loaded from",
                             existing_path);
  field.path = true;
  field.get = [](const Case& c) { return c.weights.empty() ? Json(nullptr) : Json(c.weights); };
  return field;
}

CaseField batch_size() {
  CaseField field = number("batch_size", &Case::batch_size, {1, million}, "batch size");
  field.set = [set_size = std::move(field.set)](Case& c, const Yaml& value) {
    set_size(c, value);
    c.batch_source = BatchSource::stated;
  };
  field.get = [](const Case& c) { return json_of(known_batch(c)); };
  return field;
}

std::vector<CaseField> fields_of_combination() {
  return {
      decided_elsewhere("suite", &Case::suite, "the suite's name", "key suite of the file"),
      decided_elsewhere("model", &Case::model, "the model's name", "key models of the suite"),
      decided_elsewhere("check", &Case::check, "what is checked on the compiled model", "axis checks"),
      decided_elsewhere("mode", &Case::mode, "inference or training", "axis modes"),
      decided_elsewhere("dtype", &Case::dtype, "dtype of weights and inputs", "axis dtypes"),
      amp_dtype().with_flag().used_by(amp_cases()).decided_by("the policy's, else the device's"),
      decided_elsewhere("device", &Case::device, "where the model runs", "axis devices"),
      decided_elsewhere("backend", &Case::backend, "compiler backend, with its options", "axis backends"),
      decided_elsewhere("preset", &Case::preset, "mini or full size of the model", "axis presets"),
      decided_elsewhere("dynamic", &Case::dynamic, "input sizes that one compiled program handles", "axis dynamic"),
      settable("dynamic_range", &Case::dynamic_range, "MINIMUM..MAXIMUM",
               "batch sizes that one program of dynamic sizes handles", batch_range_of)
          .with_flag()
          .only_for(dynamic_cases()),
      batch_size().with_flag().used_by(cases_of_free_batch()).decided_by("the policy's, else a Python module's"),
      decided_elsewhere("batch_source", &Case::batch_source,
                        "module: the default of get_example_inputs(batch_size=…) decides the batch size",
                        "module for a Python module without a stated batch size, else stated"),
      decided_elsewhere("fixed_batch", &Case::fixed_batch, "flags and suites cannot change the batch size",
                        "the model, or policy keys dont_change_batch_size and fixed_batch_size"),
      number("seed", &Case::seed, {0, max_seed}, "random seed").with_flag(),
      weights().with_flag().decided_by("random ones, by the seed"),
      boolean("channels_last", &Case::channels_last, "store images and weights of convolutions with the channels last")
          .with_flag(),
      number("threads", &Case::threads, {0, 4096}, "threads of LibTorch in one case; 0: LibTorch's choice").with_flag(),
      boolean("deterministic", &Case::deterministic, "use deterministic algorithms in performance too")
          .with_flag()
          .used_by(timed_cases_and_compiles()),
      decided_elsewhere("no_deterministic_algorithms", &Case::no_deterministic_algorithms,
                        "the model cannot run under deterministic algorithms",
                        "policy key no_deterministic_algorithms"),
  };
}

std::vector<CaseField> fields_of_training() {
  return {
      boolean("eval_in_training", &Case::eval_in_training, "the model stays in eval mode while it trains")
          .with_flag("use_eval_mode")
          .used_by(training_cases())
          .decided_by("the policy's"),
      word("optimizer", &Case::optimizer, {OptimizerKind::none, OptimizerKind::sgd, OptimizerKind::adam},
           "optimizer of a training step")
          .with_flag()
          .used_by(training_cases())
          .decided_by("the policy's"),
      number("learning_rate", &Case::learning_rate, {1e-8, 10}, "learning rate of the optimizer"),
      number("loss_divisor", &Case::loss_divisor, {1e-6, 1e6}, "divisor of the loss").decided_by("the policy's (1)"),
      number("iterations", &Case::iterations, {1, 1000}, "consecutive calls before results are compared").with_flag(),
      number("world", &Case::world, {1, 64}, "ranks: processes that train together, each on its part of the batch")
          .with_flag(),
      word("parallel", &Case::parallel, {Parallel::ddp, Parallel::fsdp},
           "how ranks train together: DistributedDataParallel (ddp), or FSDP2's fully_shard (fsdp, for Python modules "
           "only)")
          .with_flag()
          .used_by(cases_of_ranks()),
  };
}

std::vector<CaseField> fields_of_judgement() {
  return {
      decided_elsewhere("policy", &Case::policy, "whose rules judge it: torchbench, timm or huggingface",
                        "the model's suite of upstream's, else the suite"),
      word("judge", &Case::judge, {Judge::upstream, Judge::rounding, Judge::both},
           "what fails accuracy: an error beyond upstream's tolerance, one that rounding does not explain, or either")
          .with_flag()
          .decided_by("upstream; both for models of your own and with --torchstone_matrix=full")
          .only_for(accuracy_cases()),
      number("tolerance", &Case::tolerance, {0, 10}, "absolute and relative tolerance of accuracy")
          .with_flag()
          .decided_by("the policy's"),
      decided_elsewhere("float16_tolerance", &Case::float16_tolerance,
                        "tolerance of a Python module of dtype as_written that computes in float16", "the policy's"),
      boolean("cosine", &Case::cosine, "compare by cosine similarity").with_flag().decided_by("the policy's"),
      boolean("equal_nan", &Case::equal_nan, "NaN equals NaN at the same position")
          .with_flag()
          .decided_by("true except in float32"),
      decided_elsewhere("narrow_equal_nan", &Case::narrow_equal_nan,
                        "equal_nan of a Python module of dtype as_written that computes in neither float32 nor float64",
                        "true"),
      decided_elsewhere("larger_multiplier_for_smaller_tensor", &Case::larger_multiplier_for_smaller_tensor,
                        "allow a larger error ratio for tensors of up to 500 elements",
                        "policy key require_larger_multiplier_for_smaller_tensor"),
      number("iou_threshold", &Case::iou_threshold, {0, 1}, "compare boolean masks by intersection over union")
          .decided_by("the policy's"),
      eager_not_deterministic().decided_by("the policy's"),
      number("accuracy_check_runs", &Case::accuracy_check_runs, {1, 99},
             "number of compiled runs; the majority decides")
          .decided_by("the policy's (1)"),
      boolean("skip_accuracy_check", &Case::skip_accuracy_check,
              "ignore wrong answers: accuracy ends with pass_due_to_skip; performance still times the case and says so")
          .with_flag(),
      decided_elsewhere("shares_timed_package", &Case::shares_timed_package,
                        "accuracy judges the package that performance times, so that one compile serves both",
                        "true for a model of yours on the CPU, if both run"),
      boolean("upstream_semantics", &Case::upstream_semantics,
              "judge as PyTorch's benchmarks/dynamo does, also where Torchstone differs by default")
          .with_flag(),
      boolean("ci", &Case::ci,
              "apply the policy's lists for PyTorch's CI (optimizer.sgd_in_ci, batch_size.ci_accuracy)")
          .with_flag(),
      decided_elsewhere("skip_reason", &Case::skip_reason, "why the case ends as pass_due_to_skip",
                        "policy key accuracy.skip.large_models"),
      decided_elsewhere("skip_override", &Case::skip_override,
                        "why the case would not be registered without --torchstone_no_skip", "policy keys skip, slow"),
      number("max_graph_breaks", &Case::max_graph_breaks, {0, million},
             "most graph breaks that a Python subject may have")
          .with_flag()
          .used_by(python_cases())
          .decided_by("any number"),
      number("max_recompiles", &Case::max_recompiles, {0, million}, "most recompiles that a Python subject may have")
          .with_flag()
          .used_by(python_cases())
          .decided_by("any number"),
      expected_status(),
      expected_reason(),
      number("max_error", &Case::max_error, {lowest_max_error, highest_max_error},
             "largest error of an expected fail_accuracy, as a multiple of the allowed error; a larger one is red")
          .decided_by("any error"),
  };
}

CaseField timed(CaseField field) { return std::move(field).with_flag().used_by(timed_cases()); }

std::vector<CaseField> fields_of_timing() {
  return {
      number("required_speedup", &Case::required_speedup, {0, 1000}, "speed-up that performance must reach")
          .with_flag()
          .decided_by("the suites'")
          .only_for(timed_cases()),
      number("max_compile_s", &Case::max_compile_s, {0, day_s}, "most seconds that the compile may take")
          .in("SECONDS")
          .with_flag()
          .decided_by("any time")
          .only_for(compiled_cases()),
      number("max_memory_ratio", &Case::max_memory_ratio, {0, 1000},
             "most peak memory that the compiled side may need, as a multiple of eager's")
          .with_flag()
          .decided_by("any memory")
          .only_for(timed_cases()),
      number("time_limit_s", &Case::time_limit_s, {1, day_s}, "time limit of one case")
          .with_key("time_limit")
          .in("SECONDS")
          .with_flag(),
      timed(number("measure_budget_s", &Case::measure_budget_s, {0.01, day_s},
                   "wall time for measuring one case, including the processes after the first")
                .with_key("measure_budget")
                .in("SECONDS")),
      timed(number("processes", &Case::processes, {0, 1000},
                   "exact number of processes that time a case, one after the other; 0: as many as the budget allows"))
          .used_by(timed_cases_and_compiles()),
      timed(
          number("max_rounds", &Case::max_rounds, {1, million}, "upper limit of measuring rounds").with_key("rounds")),
      timed(
          number("confidence", &Case::confidence, {0.5, 0.9999}, "confidence level of the speed-up's interval").in("P"))
          .used_by(timed_cases_and_compiles()),
      timed(boolean("cold_cache", &Case::cold_cache, "flush the caches before every timed call")),
      timed(word("cuda_graphs", &Case::cuda_graphs, {CudaGraphs::none, CudaGraphs::compiled, CudaGraphs::both},
                 "which sides performance times as CUDA graphs: neither, the compiled side, or eager too"))
          .decided_by("the suites'"),
      timed(number("repeat", &Case::repeat, {0, million},
                   "exact number of measuring rounds, however long they take; 0: until decided")),
      timed(number("iterations_per_run", &Case::iterations_per_run, {0, million},
                   "calls that are timed together, as one block; 0: calibrated")),
      timed(boolean("randomize_input", &Case::randomize_input,
                    "generate random inputs in each measuring round, the same for both sides")),
      timed(boolean("cold_start_latency", &Case::cold_start_latency,
                    "performance also measures a start with empty caches (metric cold_start_s)")),
      timed(boolean("warm_start_latency", &Case::warm_start_latency,
                    "performance starts from an artifact cache that was filled before (metric warm_start_s)")),
      timed(word("pin_threads", &Case::pin_threads, {PinThreads::none, PinThreads::cores},
                 "bind each thread of a timed process to a physical core of its own; none: the system places threads")),
      timed(boolean(
                "use_warm_peak_memory", &Case::use_warm_peak_memory,
                "columns eager_peak_mem and dynamo_peak_mem: peak memory of one later step; false: of the first steps"))
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

const std::vector<CaseField>& case_fields() {
  static const std::vector<CaseField> fields = joined_fields();
  return fields;
}

}  // namespace torchstone::config
