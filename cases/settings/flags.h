#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cases/settings/axes.h"
#include "cases/settings/case_fields.h"
#include "cases/settings/yaml.h"
#include "fixtures/core/run_options.h"
#include "models/fastrnns/lstm_options.h"
#include "models/operators/operator_model.h"

namespace torchstone::flags {

/// Model → batch size, and the line that says so.
using BatchSizes = std::map<std::string, config::Choice<int64_t>>;

/// A file with a line `NAME,SIZE` for each model, as upstream's --batch-size-file takes; empty lines and what follows a
/// `#` are passed over. Throws ConfigError with file and line, also for more than 1 MiB.
BatchSizes read_batch_sizes(const std::string& file);
/// The same for a text; `file` is named in errors.
BatchSizes parse_batch_sizes(const std::string& text, const std::string& file);

struct Flags;

/// One flag: its parsing, its environment twin, its lines in --help, in --torchstone_list=flags and in docs/flags.md.
struct FlagInfo {
  std::string name;   ///< without --torchstone_
  std::string value;  ///< what stands after `=`
  std::string help;
  std::string range{};     ///< "1 to 1000000"; empty where `value` says it
  std::string fallback{};  ///< the default, for people; empty: none
  std::string alias{};     ///< a second name
  std::string group{};     ///< heading in docs/flags.md
  bool path = false;       ///< made absolute, so that a reproduction works from anywhere
  bool repeats = false;
  bool boolean = false;    ///< may stand without a value
  bool reproduces = true;  ///< belongs to a reproduction of one case
  config::Use use{};       ///< the cases that it makes a difference to; for no such case it is refused
  std::function<void(Flags& flags, const config::Yaml& value)> set{};  ///< throws ConfigError

  FlagInfo also(const std::string& second_name) &&;
  FlagInfo otherwise(const std::string& what) &&;  ///< replaces `fallback`
  FlagInfo is_path() &&;
  FlagInfo repeatable() &&;
  FlagInfo of_output() &&;  ///< no case depends on it: left out of reproductions
  FlagInfo used_by(config::Use cases) &&;
};

/// TORCHSTONE_CACHE_LIMIT for cache_limit.
std::string environment_name(const FlagInfo& flag);

/// What replaces the values of a suite's key `operators` (cases/settings/suite.h).
struct OperatorFlags {
  std::vector<std::string> logs;
  std::vector<operators::OperatorLayout> layouts;
  std::optional<int> max_samples, start_index;
};

/// Sizes of the recurrent models of the suite fastrnns, and what runs TorchScript.
struct FastrnnsFlags {
  fastrnns::RecurrentFlags sizes;
  fastrnns::Fuser fuser = fastrnns::Fuser::untouched;
  fastrnns::Executor executor = fastrnns::Executor::untouched;
};

enum class Listing { none, models, backends, cases, suites, skipped, flags };
enum class Format { text, json, ctest, markdown };

/// Everything that --torchstone_* flags and TORCHSTONE_* variables say.
struct Flags {
  RunOptions run;                       ///< program and arguments included
  config::Axes axes;                    ///< an empty axis was not given
  config::Choices<std::string> suites;  ///< names; empty: all
  std::optional<config::Place>
      full_matrix;             ///< all combinations, not only those of the suites' rows; where that was said
  bool no_skip = false;        ///< the policies' lists of models to skip do not hold
  bool fast = false;           ///< the policies' slow models are skipped
  config::Settings overrides;  ///< batch_size, tolerance, …: stronger than any suite
  /// Values of batch_size and threads, by their key, where several are given: each combination is a tournament of its
  /// own (cases/selection/expand.h). `overrides` has the first ones.
  std::map<std::string, std::vector<config::Yaml>> sweeps;
  BatchSizes batch_sizes;     ///< of single models; weaker than an override
  std::string suites_folder;  ///< or one file; empty: the program's own
  std::string only;           ///< one model's name, or a file (models/formats/model_file.h)
  config::Place only_place;
  std::string inputs;  ///< a .pt file with the inputs of `only`
  std::vector<std::string> plugins;
  std::vector<std::string> libraries;  ///< shared libraries of operators
  OperatorFlags operators;
  FastrnnsFlags fastrnns;
  std::vector<std::string> expected;  ///< expected-status files, the strongest first
  bool update_expected = false;       ///< rewrites them from what was seen
  Listing list = Listing::none;
  Format format = Format::text;
  std::string explain;               ///< glob of case names
  bool tournament = false;           ///< variants of each model take turns (cases/selection/tournament_variants.h)
  std::string tournament_variants;   ///< the file that names them; empty: the program's own
  double tournament_margin_pct = 2;  ///< within it of the fastest, variants tie
  bool print_program = false;        ///< print the captured programs and run nothing
  bool report = true;                ///< write report files
  bool junit_properties = true;
  std::string color = "auto";   ///< auto, always, never
  double heartbeat_s = 30;      ///< silence after which a log gets a line; 0: never
  std::string github = "auto";  ///< auto, always, never
  bool strict_undecided = false;
  std::string tag;                    ///< of the run, for the reports
  std::string operator_log;           ///< file to write with what the selected models call; empty: none
  std::vector<std::string> baseline;  ///< what to compare with: results of runs, or a CSV of upstream; empty: nothing
  std::string baseline_history;       ///< earlier runs, for how far runs differ; empty: none
  config::Choices<std::string> baseline_fail_on;  ///< changes that make the run red; empty: judge::default_fail_on()
  bool help = false;                              ///< --torchstone_help, --help, -h or -?
  bool version = false;                           ///< --version
  std::set<std::string> typed;  ///< names of the flags on the command line; the others come from their twins
  std::vector<std::pair<std::string, std::string>> given;  ///< name → value, paths made absolute, in the table's order
  config::UseFacts facts;                                  ///< set when the suites are read
  std::vector<std::string> unused_twins;                   ///< variables that make no difference to this run
};

/// Own flags, in the order of --help and of docs/flags.md: those of the runner (cases/settings/*_flags.cpp), and those
/// of the fields of a case (config::case_fields()).
const std::vector<FlagInfo>& flag_table();
/// By its name or its alias, without --torchstone_; nullptr when there is none.
const FlagInfo* find_flag(const std::string& name);

/// Takes own flags out of the arguments (argv[0] first) and leaves the rest for GoogleTest. The command line wins over
/// the environment, a later flag over an earlier one. Throws ConfigError, for an unknown --torchstone_* too.
Flags parse_flags(int* argc, char** argv);

/// What to say when no cache was chosen and there is no home for one; empty otherwise.
std::string cache_warning(const Flags& flags);
Flags parse_flags(std::vector<std::string>& arguments);

/// The environment twins of all own flags.
std::vector<std::string> environment_names();

/// What --help says about own flags.
std::string flags_help();

/// `text` as one word of a POSIX shell.
std::string shell_quoted(const std::string& text);
/// Own flags that a reproduction needs, shell-quoted and without secrets: RunOptions::arguments. With a case only those
/// that make a difference to it.
std::string reproduce_arguments(const Flags& flags, const Case* c = nullptr);
/// Whether a given flag, by its name in the table, makes a difference to a case.
bool makes_a_difference(const Flags& flags, const std::string& name, const Case& c);
/// A command that runs exactly that case, without the flags that make no difference to it.
std::string reproduce_line(const Flags& flags, const Case& c);

/// A warning for each variable of the environment that is nearly the twin of a flag: a misspelt one does nothing.
/// None in a child process, because its parent has said them.
std::vector<std::string> environment_warnings();

/// Refuses a flag that was asked for and would do nothing: throws ConfigError with this message. Its environment twin,
/// which may be set for all runs, is no error: it is taken out of reproductions and noted in Flags::unused_twins. Nor
/// is the flag's default.
void refuse_without_effect(Flags& flags, const std::string& name, const std::string& message);

/// Refuses the flags that others, or their absence, leave without effect. What a tournament has no use for is refused
/// by selection::select_tournament().
void refuse_flags_without_effect(Flags& flags);

/// Refuses the flags that make no difference to any of these cases (FlagInfo::use). Nothing where there are no cases.
void refuse_flags_without_cases(Flags& flags, const std::vector<Case>& cases);

}  // namespace torchstone::flags
