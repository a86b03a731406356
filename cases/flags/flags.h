#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cases/config/axes.h"
#include "cases/config/settings.h"
#include "cases/flags/batch_sizes.h"
#include "cases/flags/flag_info.h"
#include "cases/flags/model_suite_flags.h"
#include "fixtures/core/run_options.h"

namespace torchstone::flags {

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
  /// own (cases/selection/sweep.h). `overrides` has the first ones.
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
  bool tournament = false;           ///< variants of each model take turns (cases/selection/tournament.h)
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

/// Own flags, in the order of --help and of docs/flags.md: those of the runner (cases/flags/*_flags.cpp), and those of
/// the fields of a case (config::case_fields()).
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

}  // namespace torchstone::flags
