#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <torchstone/diagnosis.h>
#include <torchstone/status.h>

namespace torchstone {

/// SHA-256 digests of the model that a case ran, in hexadecimal. Rows with different digests have different models.
/// Empty if the model was not loaded, and in records of versions without digests.
struct ModelDigests {
  std::string program;  ///< digest of the graph or the architecture, without weights
  std::string weights;  ///< digest of names, dtypes, shapes and values of parameters, buffers and constants
};

/// A variant of a tournament that failed before it was timed.
struct FailedEntrant {
  Status status = Status::fail_to_run;
  std::string reason;
};

/// A graph break: a place where Dynamo left the graph of a Python subject.
struct GraphBreak {
  std::string reason;
  std::vector<std::string> user_stack;  ///< frames from the module's call to the break, each as traceback.FrameSummary
  int64_t count = 1;
};

/// Dynamo's facts about a Python subject, for tables in upstream's form.
struct DynamoFacts {
  std::vector<GraphBreak> graph_breaks{};
  std::map<std::string, double> phases_s{};  ///< seconds per phase over all compiles, by torch's names
  /// torch's CompilationMetrics of each compiled frame: fields with a value, as text. At most 1000 frames.
  std::vector<std::map<std::string, std::string>> frames{};
};

/// The outcome of one case, as its check reports it.
struct Outcome {
  Status status = Status::fail_to_run;
  std::string reason;  ///< one sentence; empty when there is nothing to say
  std::string detail;  ///< several lines: mismatch report, compiler output, log tail
  /// Phase in which the case ended: load, reference, eager, capture, compile, compiled, compare or measure.
  std::string phase;
  std::map<std::string, double> metrics;     ///< keys of reports/record/metric.h; NaN and ±inf allowed
  std::map<std::string, std::string> notes;  ///< further facts as text, for people (stop_reason, tolerance, torch, …)
  /// Raw series. eager_s, compiled_s: seconds per call, one per round; eager_loss, compiled_loss: one per training
  /// step.
  std::map<std::string, std::vector<double>> samples;
  std::optional<Diagnosis> diagnosis{};  ///< set if a diagnosis was made
  std::string undiagnosed{};             ///< why a case that could be diagnosed was not diagnosed
  ModelDigests model{};
  /// Failure of the infrastructure, such as a missing compiler or a full disk. If set, nothing was judged.
  std::string infrastructure_fault{};
  std::string operator_name{};  ///< operator of a case that is one logged call: "aten.tanh.default"
  std::string why_noisy{};      ///< one sentence; empty if the timing is not noisy
  /// The threads of the timed processes were in other cache domains than usual on this machine. `why_noisy` says where.
  bool threads_across_caches = false;
  /// Memory ran out for a float64 reference, and the case went on without it.
  bool memory_ran_out = false;
  /// Sizes of each timing, in the order of the samples. Empty unless a dimension other than the batch is dynamic.
  std::vector<std::string> timed_sizes{};
  /// Variants that failed in a process of a tournament, by backend label.
  std::map<std::string, FailedEntrant> failed_entrants{};
  std::optional<DynamoFacts> dynamo{};  ///< of Python subjects that were compiled
};

/// Returns whether the error of a wrong answer is at most `max_error` times the allowed one. True without `max_error`,
/// and otherwise false for an error that was not measured.
inline bool is_within(const Outcome& outcome, const std::optional<double>& max_error) {
  if (!max_error) return true;
  const auto error = outcome.metrics.find("error_of_limit");
  return error != outcome.metrics.end() && error->second <= *max_error;
}

/// A change since the baseline that makes a case red. `changed`: a change that is red only because of
/// --torchstone_baseline_fail_on, for example more bytes.
enum class BaselineChange { none, worse, gone, different_model, changed };

struct BaselineFinding {
  BaselineChange change = BaselineChange::none;
  std::string reason{};  ///< one line; several reasons have "; " between them
};

/// The run that wrote a record, and the record's position in it. The origin decides which of two records of a case is
/// later, independent of clocks. Empty in records of versions without it. Not to be confused with Case::origin, the
/// source of a setting.
struct Origin {
  std::string folder;    ///< id of the results folder
  int64_t number = 0;    ///< number of the run among those begun in that folder, from 1
  std::string run;       ///< id of the run
  int64_t sequence = 0;  ///< number of the record within the run; 0 in the plan
};

/// One row of every report: the identity of a case and its outcome.
struct Result {
  std::string name;  ///< full GoogleTest name: torchbench/Accuracy.CompiledMatchesEager/resnet18_…
  std::string suite, model, check, mode, dtype, device, backend;
  std::string preset;           ///< mini or full; empty for a model that has one size
  bool own_model = false;       ///< the model is a file, Python module or package that the user named
  std::string dynamic = "off";  ///< dynamic sizes of the program: off, batch or all
  int64_t batch_size = 0;
  std::string expected = "pass";      ///< the status this case is expected to have
  std::optional<double> max_error{};  ///< for an expected fail_accuracy: its largest error_of_limit
  std::string reproduce;              ///< a command line that runs this case alone
  std::string file;                   ///< where the case was declared
  int line = 0;
  double duration_s = 0;
  std::string recorded;  ///< when this record was made, UTC, "2026-01-31T12:00:00.123Z"
  bool finished = true;  ///< false in the record that is written before a case starts
  Origin origin;
  std::string upstream_name{};  ///< the model's name in tables of benchmarks/dynamo, if it differs from `model`
  BaselineFinding baseline{};   ///< with --torchstone_baseline
  /// Processor, cores and GPU, if the results of a report come from several machines; otherwise empty.
  std::string machine{};
  Outcome outcome;

  /// Returns whether the case has its expected status and the baseline does not make it red. Skipped cases never
  /// violate an expectation. A failure of the infrastructure never meets one, because nothing was judged.
  bool as_expected() const { return !is_red_by_baseline() && status_as_expected(); }
  bool is_red_by_baseline() const { return baseline.change != BaselineChange::none; }
  /// Returns whether the status is an expected failure with an error above `max_error`.
  bool exceeds_max_error() const { return to_string(outcome.status) == expected && !is_within(outcome, max_error); }
  /// Returns as_expected() without regard to the baseline.
  bool status_as_expected() const {
    if (!outcome.infrastructure_fault.empty() || exceeds_max_error()) return false;
    const StatusInfo& info = info_of(outcome.status);
    return info.name == expected || info.kind == StatusKind::skipped || (expected == "pass" && info.passing);
  }
};

/// Returns a metric of a result; nothing if it was not measured.
std::optional<double> metric_of(const Result& result, const char* key);

}  // namespace torchstone
