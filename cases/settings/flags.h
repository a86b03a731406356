#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cases/settings/case_fields.h"
#include "cases/settings/yaml.h"
#include "fixtures/core/run_options.h"
#include "models/fastrnns/lstm_options.h"
#include "models/operators/operator_model.h"
#include "reports/base/terminal.h"

namespace torchstone::flags {

/// Batch sizes by model, each with its line.
using BatchSizes = std::map<std::string, config::Choice<int64_t>>;

/// Reads a file with a line `NAME,SIZE` for each model, as upstream's --batch-size-file takes. Ignores empty lines and
/// comments after `#`. Throws ConfigError with file and line, also for more than 1 MiB.
BatchSizes read_batch_sizes(const std::string& file);
/// Parses such a text; errors name `file`.
BatchSizes parse_batch_sizes(const std::string& text, const std::string& file);

struct Flags;

/// One flag: its parsing, its environment twin, its lines in --help, in --torchstone_list=flags and in docs/flags.md.
struct FlagInfo {
  std::string name;   ///< name without --torchstone_
  std::string value;  ///< placeholder for the value
  std::string help;
  std::string range{};     ///< "1 to 1000000"; empty if `value` shows it
  std::string fallback{};  ///< default in help texts; empty: none
  std::string alias{};     ///< a second name
  std::string group{};     ///< heading in docs/flags.md
  bool path = false;       ///< the value is a path; made absolute, so that reproductions work from any folder
  bool repeats = false;
  bool boolean = false;    ///< the flag needs no value
  bool reproduces = true;  ///< part of the command that reproduces one case
  config::Use use{};       ///< the cases that it affects; the flag is refused without such a case
  std::function<void(Flags& flags, const config::Yaml& value)> set{};  ///< throws ConfigError

  FlagInfo with_alias(const std::string& second_name) && {
    alias = second_name;
    return std::move(*this);
  }
  /// Replaces `fallback`.
  FlagInfo defaults_to(const std::string& what) && {
    fallback = what;
    return std::move(*this);
  }
  FlagInfo is_path() && {
    path = true;
    return std::move(*this);
  }
  FlagInfo repeatable() && {
    repeats = true;
    help += " (repeatable)";
    return std::move(*this);
  }
  /// Leaves the flag out of reproductions, because no case depends on it.
  FlagInfo outside_reproductions() && {
    reproduces = false;
    return std::move(*this);
  }
  FlagInfo used_by(config::Use cases) && {
    use = std::move(cases);
    return std::move(*this);
  }
};

/// Returns the name of the environment twin: TORCHSTONE_CACHE_LIMIT for cache_limit.
std::string environment_name(const FlagInfo& flag);

/// Flags that replace values of a suite's key `operators` (cases/settings/suite.h).
struct OperatorFlags {
  std::vector<std::string> logs;
  config::Choices<std::string> names;  ///< models and upstream suites whose logs are found by name
  std::string folder;                  ///< folder of upstream's logs; empty: only the program's own are found
  std::vector<operators::OperatorLayout> layouts;
  std::optional<int> max_samples, start_index;
};

/// Sizes of the recurrent models of the suite fastrnns, and TorchScript's fuser and executor.
struct FastrnnsFlags {
  fastrnns::RecurrentFlags sizes;
  fastrnns::Fuser fuser = fastrnns::Fuser::untouched;
  fastrnns::Executor executor = fastrnns::Executor::untouched;
};

/// How a model of a Python package runs: exported and in this process, or as a module in a Python process.
enum class SubjectKind { native, python };

enum class Listing { none, models, backends, cases, suites, skipped, flags, gpus };
enum class Format { text, json, ctest, markdown };

/// Values of all --torchstone_* flags and TORCHSTONE_* variables.
struct Flags {
  RunOptions run;                       ///< program and arguments included
  config::Axes axes;                    ///< an empty axis was not given
  std::vector<int> gpus;                ///< numbers N of several `cuda:N`, which `cuda` replaces in the axis devices
  config::Choices<std::string> suites;  ///< names; empty: all
  /// If set, run all combinations, not only the suites' rows. Holds the flag's place.
  std::optional<config::Place> full_matrix;
  bool no_skip = false;        ///< ignore the policies' lists of models to skip
  bool fast = false;           ///< skip the policies' slow models
  config::Settings overrides;  ///< batch_size, tolerance, …: stronger than any suite

  /// Values of batch_size and threads by their keys, if several are given. Each combination is a separate tournament
  /// (cases/selection/expand.h). `overrides` has the first value of each.
  std::map<std::string, std::vector<config::Yaml>> sweeps;

  BatchSizes batch_sizes;                          ///< by model; weaker than an override
  std::string suites_folder;                       ///< folder or one file; empty: the program's own suites
  config::Choices<std::string> only;               ///< names of models, and files (models/formats/model_file.h)
  std::map<std::string, std::string> only_models;  ///< value of `only` → model name
  std::set<std::string> package_models;       ///< models of a package (SOURCE:NAME) in `only`; they have two presets
  SubjectKind subject = SubjectKind::native;  ///< how models SOURCE:NAME run
  std::string inputs;                         ///< a .pt file with the inputs of the .pt files of `only`
  std::vector<std::string> plugins;
  std::vector<std::string> libraries;  ///< shared libraries of operators
  OperatorFlags operators;
  FastrnnsFlags fastrnns;
  std::vector<std::string> expected;  ///< expected-status files, the strongest first
  bool update_expected = false;       ///< rewrite them with the statuses of this run
  Listing list = Listing::none;
  Format format = Format::text;
  std::string explain;                   ///< glob of case names
  bool tournament = false;               ///< compare variants of each model (cases/selection/tournament_variants.h)
  std::string tournament_variants;       ///< file that names them; empty: the program's own
  double tournament_margin_pct = 2;      ///< variants tie if they are within this margin of the fastest
  double tournament_ship_limit_s = 300;  ///< time for measuring all variants as shipped
  bool print_program = false;            ///< print the captured programs and run nothing
  bool report = true;                    ///< write report files
  bool junit_properties = true;
  When color = When::automatic;   ///< colours of the console
  double heartbeat_s = 30;        ///< time without output after which a log gets a line; 0: never
  When github = When::automatic;  ///< annotations of GitHub Actions
  bool strict_undecided = false;
  std::string tag;                    ///< name of the run in reports
  std::string operator_log;           ///< file for a log of the operators that the models call; empty: none
  std::vector<std::string> baseline;  ///< results of runs, or a CSV of upstream, to compare with; empty: none
  std::string baseline_history;       ///< file of earlier runs, for the variation between runs; empty: none
  bool baseline_other_torch = false;  ///< compare timings with a baseline of another release of torch
  config::Choices<std::string> baseline_fail_on;  ///< changes that fail the run; empty: judge::default_fail_on()
  bool help = false;                              ///< --torchstone_help, --help, -h or -?
  bool version = false;                           ///< --version

  std::set<std::string> typed;                             ///< names of the flags on the command line
  std::vector<std::pair<std::string, std::string>> given;  ///< name → value, paths made absolute, in the table's order
  config::UseFacts facts;                                  ///< set when the suites are read
  std::vector<std::string> unused_twins;                   ///< variables that do not affect this run
};

/// Returns Torchstone's flags, including those of case_fields(), in the order of --help and docs/flags.md.
const std::vector<FlagInfo>& flag_table();
/// Finds a flag by its name or alias, without --torchstone_; returns nullptr for an unknown name.
const FlagInfo* find_flag(const std::string& name);

/// Removes Torchstone's flags from the arguments (argv[0] first) and keeps the rest for GoogleTest. The command line
/// overrides the environment, and a later flag an earlier one. Throws ConfigError, also for an unknown --torchstone_*.
Flags parse_flags(int* argc, char** argv);
Flags parse_flags(std::vector<std::string>& arguments);

/// Returns a warning when no cache was chosen and no home folder is known; empty otherwise.
std::string cache_warning(const Flags& flags);

/// Returns the environment twins of all Torchstone flags.
std::vector<std::string> environment_names();

/// Returns the text of --help about Torchstone's flags.
std::string flags_help();

/// Quotes a text as one word of a POSIX shell.
std::string shell_quoted(const std::string& text);
/// Tells whether a given flag, by its name in the table, affects a case.
bool makes_a_difference(const Flags& flags, const std::string& name, const Case& c);
/// Returns a command that runs exactly this case, without flags that do not affect it.
std::string reproduce_line(const Flags& flags, const Case& c);

/// Returns a warning for each environment variable whose name is almost the twin of a flag. Empty in a child process,
/// because its parent has printed the warnings.
std::vector<std::string> environment_warnings();

/// Throws ConfigError with `message` if the command line has this flag, which would have no effect, with another value
/// than the default. An environment twin may be set for all runs, so it is only removed from reproductions and listed
/// in Flags::unused_twins.
void refuse_without_effect(Flags& flags, const std::string& name, const std::string& message);

/// Refuses flags that have no effect because of other flags, or without them. selection::select_tournament() refuses
/// those that a tournament does not use.
void refuse_flags_without_effect(Flags& flags);

/// For a build without the library fixtures/diagnose: sets RunOptions::diagnose to never, and refuses flags that ask
/// for more.
void turn_off_diagnosis(Flags& flags);

/// Refuses flags that affect none of these cases (FlagInfo::use). Does nothing without cases.
void refuse_flags_without_cases(Flags& flags, const std::vector<Case>& cases);

}  // namespace torchstone::flags
