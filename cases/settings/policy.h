#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <torchstone/case.h>
#include <torchstone/model_info.h>

namespace torchstone::policy {

/// A model named in a policy: where, and the number that stands beside it (1 in plain lists).
struct Mention {
  std::string origin;  ///< file:line
  double value = 1;
};

/// What upstream's torchbench.yaml, timm_models.yaml or huggingface.yaml says (pytorch, benchmarks/dynamo).
struct Policy {
  std::string file;
  std::string rule = "torchbench";  ///< whose tolerance and batch rules: torchbench, timm or huggingface
  std::map<std::string, std::map<std::string, Mention>> mentions;  ///< dotted key → model → where

  bool keeps_batch_size = false;                        ///< every case has the model's own, not the accuracy check's
  std::map<std::string, std::string> upstream_names{};  ///< ours → upstream's, of models that are named otherwise here

  /// The mention of `model`, or else of upstream's name of it, under the dotted key (`skip.device.cpu`); nullptr when
  /// there is none.
  const Mention* find(const std::string& key, const std::string& model) const;
};

/// One key of the schema and what is done with it.
struct PolicyKey {
  std::string path;
  enum class Kind { models, numbers } kind;
  std::string use;
  std::string from{};  ///< of a key of ours: the file of upstream's that has the list in its code
};
/// All keys that upstream's three files have, and those of ours; anything else is an error.
const std::vector<PolicyKey>& policy_schema();

/// Throws ConfigError. Two optional keys are ours: `tolerance_rule` (torchbench, timm, huggingface; without it the rule
/// is the one of `suite`, and torchbench's for a suite of another name) and `upstream_names` (ours: upstream's).
Policy read_policy(const std::string& file, const std::string& suite);
/// The rule that belongs to a suite of that name.
std::string rule_of_suite(const std::string& suite);

/// What the rules look at.
struct Conditions {
  std::string model;
  std::string check = "accuracy";  ///< whose rules hold: accuracy, performance or tolerance
  bool batch_invariance = false;   ///< of the check batch_invariance, which has accuracy's rules otherwise
  Mode mode = Mode::inference;
  DType dtype = DType::float32;
  bool amp = false;  ///< autocast
  std::string device = "cpu";
  bool inductor = false;  ///< compiles it: as the backend of that name, or as torch_compile's
  bool exported = false;  ///< by torch.export first: the backend inductor
  bool freezing = false, max_autotune = false;
  bool ci = true;        ///< upstream's --ci: the lists of its CI hold
  bool fast = false;     ///< upstream's --fast: the list `slow` is skipped
  bool no_skip = false;  ///< upstream's --no-skip: no list of models to skip holds
  Preset preset = Preset::mini;
};
Conditions conditions_of(const Case& c);

struct Tolerance {
  double tolerance;
  bool cosine;
  std::string origin;
};
/// Upstream's get_tolerance_and_cosine_flag of the policy's suite.
Tolerance tolerance_of(const Policy& policy, const Conditions& when);

struct BatchSize {
  int64_t size;
  std::string origin;
};
/// Accuracy, and every check of the mini preset: huggingface 1, torchbench 4, timm 8, at most accuracy.max_batch_size.
/// Batch invariance has 8, 8 and 16. Otherwise the model's own, overridden or divided by the policy. A fixed batch is
/// the model's own or the one that the policy states. At least 1.
bool batch_is_fixed(const Policy& policy, const ModelInfo& info);
BatchSize batch_size_of(const Policy& policy, const Conditions& when, const ModelInfo& info);

struct Optimizing {
  OptimizerKind kind;
  std::string origin;
};
/// Upstream's init_optimizer (common.py) by the policy's lists under `optimizer`; beyond upstream, SGD also for weights
/// in float16; Adam otherwise.
Optimizing optimizer_of(const Policy& policy, const Conditions& when);

struct Decision {
  std::string reason, origin;
};
/// Why a list of models to skip leaves the case out, whatever `no_skip` says; empty when none does.
std::optional<Decision> skipped_by_list(const Policy& policy, const Conditions& when);
/// Why the case is not registered at all; empty when it is.
std::optional<Decision> left_out(const Policy& policy, const Conditions& when);
/// Why upstream does not export it for AOTInductor, which holds under upstream's semantics: our own tracer takes it.
std::optional<Decision> not_exported(const Policy& policy, const Conditions& when);
/// Why it is registered but ends as pass_due_to_skip (models too large for the float64 reference).
std::optional<Decision> passes_by_skip(const Policy& policy, const Conditions& when);

/// Turns CUDA graphs off where the policy says so, whoever asked for them: those that are timed, and those of
/// torch_compile's modes.
void apply_disable_cudagraph(const Policy& policy, Case& c);
/// Turns the CUDA graphs of a suite off on a device that has none. Those of a flag stay: performance refuses them.
void leave_out_cuda_graphs(Case& c);
/// Fills everything that a policy decides, with origins: how the case is judged, its batch size, a forced dtype.
/// A case as_written is judged as one of the dtype `loosest`.
void apply_policy(const Policy& policy, const ModelInfo& info, Case& c, DType loosest = DType::float32);

}  // namespace torchstone::policy
