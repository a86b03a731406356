#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <torchstone/case.h>
#include <torchstone/model_info.h>

namespace torchstone::policy {

/// The entry of a model in a policy: its line and its value (1 in plain lists).
struct Mention {
  std::string origin;  ///< file:line
  double value = 1;
};

/// A suite of upstream whose tolerance and batch rules apply.
enum class Rule { torchbench, timm, huggingface };
std::string to_string(Rule rule);

/// Content of upstream's torchbench.yaml, timm_models.yaml or huggingface.yaml (pytorch, benchmarks/dynamo).
struct Policy {
  std::string file;
  std::string origin;  ///< file:line of the suite's key that names the policy, else of the suite
  Rule rule = Rule::torchbench;
  OptimizerKind default_optimizer = OptimizerKind::adam;           ///< training optimizer for models in no list
  std::map<std::string, std::map<std::string, Mention>> mentions;  ///< dotted key → model → entry

  bool keeps_batch_size = false;  ///< every case uses the batch size that the model's source states
  std::map<std::string, std::string> upstream_names{};  ///< ours → upstream's, where they differ

  /// Returns upstream's name of our model; the same name where they do not differ.
  const std::string& upstream_name(const std::string& model) const;
  /// Returns the entry for `model`, else for upstream's name of it, under the dotted key (`skip.device.cpu`); nullptr
  /// without an entry.
  const Mention* find(const std::string& key, const std::string& model) const;
  /// Tells whether upstream's suite has a model of that name.
  bool lists(const std::string& model) const;
};

/// One key of the schema and its effect.
struct PolicyKey {
  std::string path;
  enum class Kind { models, numbers } kind;
  std::string use;
  std::string from{};  ///< for Torchstone's keys: upstream's source file that has the list
};
/// Returns all keys of upstream's three files and Torchstone's own. Any other key is an error.
const std::vector<PolicyKey>& policy_schema();

/// Reads a policy; throws ConfigError. Three optional keys are not upstream's: `tolerance_rule` (torchbench, timm or
/// huggingface; default: rule_of_suite()), `upstream_names` (Torchstone's name: upstream's name) and
/// `default_optimizer` (adam or sgd).
Policy read_policy(const std::string& file, const std::string& suite);
/// Returns the rule of a suite by its name. Suites that upstream lacks have torchbench's rule.
Rule rule_of_suite(const std::string& suite);

/// Returns the name of a model in the lists of policies: upstream's name if it has one, else its own.
const std::string& name_in_lists(const ModelInfo& info);

/// Properties of a case that the rules depend on.
struct Conditions {
  std::string model;               ///< name_in_lists()
  std::string check = "accuracy";  ///< check whose rules apply: accuracy, performance or tolerance
  bool batch_invariance = false;   ///< the check batch_invariance, which otherwise has accuracy's rules
  Mode mode = Mode::inference;
  DType dtype = DType::float32;
  bool amp = false;  ///< autocast
  std::string device = "cpu";
  bool inductor = false;  ///< compiled by Inductor: by the backend inductor, or through torch_compile
  bool exported = false;  ///< exported by torch.export first: the backend inductor
  bool freezing = false, max_autotune = false;
  bool ci = true;        ///< upstream's --ci: use the lists of its CI
  bool fast = false;     ///< upstream's --fast: skip the models of the list `slow`
  bool no_skip = false;  ///< upstream's --no-skip: ignore the lists of models to skip
  Preset preset = Preset::mini;
};
/// Returns the conditions of a case. For a case as_written they are those of the dtype `loosest`.
Conditions conditions_of(const Case& c, const ModelInfo& info, DType loosest = DType::float32);

struct Tolerance {
  double tolerance;
  bool cosine;
  std::string origin;
};
/// Applies upstream's get_tolerance_and_cosine_flag of the policy's suite.
Tolerance tolerance_of(const Policy& policy, const Conditions& conditions);

struct BatchSize {
  int64_t size;
  std::string origin;
  BatchSource source = BatchSource::stated;
};
bool batch_is_fixed(const Policy& policy, const ModelInfo& info);
/// Returns a batch size of at least 1.
/// - A fixed batch size is the policy's, or else the model's own.
/// - Accuracy, and every check of the mini preset, uses 1 (huggingface), 4 (torchbench) or 8 (timm), at most
///   accuracy.max_batch_size. Batch invariance uses 8, 8 and 16.
/// - Other cases use the model's own, replaced or divided by the policy.
/// The model's own is the one that its source states, or else upstream's (own_batch_size). Under keeps_batch_size, a
/// user's Python module decides the batch size itself if none is known.
BatchSize batch_size_of(const Policy& policy, const Conditions& conditions, const ModelInfo& info);

struct Optimizing {
  OptimizerKind kind;
  std::string origin;
};
/// Applies upstream's init_optimizer (common.py) with the policy's lists under `optimizer`. Beyond upstream, weights in
/// float16 get SGD too. The default is Adam.
Optimizing optimizer_of(const Policy& policy, const Conditions& conditions);

struct Decision {
  std::string reason, origin;
};
/// Tells why a list of models to skip excludes the case, whatever `no_skip` says; empty when none does.
std::optional<Decision> skipped_by_list(const Policy& policy, const Conditions& conditions);
/// Tells why the case is not registered at all; empty when it is.
std::optional<Decision> exclusion(const Policy& policy, const Conditions& conditions);
/// Tells why upstream does not export the case for AOTInductor. Applies only under upstream's semantics, because
/// Torchstone's tracer can capture it.
std::optional<Decision> not_exported(const Policy& policy, const Conditions& conditions);
/// Tells why the case is registered but ends as pass_due_to_skip: its full preset is too large for the float64
/// reference.
std::optional<Decision> passes_by_skip(const Policy& policy, const Conditions& conditions);

/// Turns off CUDA graphs if the policy requires it, whatever selected them. This includes the graphs that modes of
/// torch_compile use.
void apply_disable_cudagraph(const Policy& policy, const ModelInfo& info, Case& c);
/// Turns off CUDA graphs that a suite selects on a device without them. If a flag selects them, the check performance
/// refuses the case.
void leave_out_cuda_graphs(Case& c);
/// Sets everything that a policy decides, with origins: tolerances, batch size, a forced dtype. A case as_written is
/// judged like one of the dtype `loosest`.
void apply_policy(const Policy& policy, const ModelInfo& info, Case& c, DType loosest = DType::float32);

}  // namespace torchstone::policy
