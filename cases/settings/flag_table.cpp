#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "cases/settings/case_fields.h"
#include "cases/settings/flag_types.h"
#include "reports/base/files.h"
#include "reports/base/text.h"

namespace torchstone::flags {
namespace {

/// Whether the flag accepts several values, each for its own tournament.
bool is_swept(const std::string& key) { return key == "batch_size" || key == "threads"; }

std::vector<config::Yaml> swept_values(const config::Yaml& value) {
  auto values = split(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (values[i].text == values[j].text) fail(value, fmt::format("{} is given twice", values[i].text));
  return values;
}

FlagInfo flag_of(const config::CaseField& field) {
  FlagInfo flag{.name = field.flag, .value = field.value, .help = field.help, .range = field.range};
  flag.fallback = field.fallback;
  flag.boolean = field.boolean;
  flag.path = field.path;
  flag.use = field.use;
  if (is_swept(field.key)) {
    flag.value += "[,…]";
    flag.help += "; with tournament also several values, each combination a tournament of its own";
  }
  flag.set = [key = field.key](Flags& flags, const config::Yaml& given) {
    const auto values = is_swept(key) ? swept_values(given) : std::vector<config::Yaml>{given};
    for (const auto& value : values) check_setting(key, value);
    flags.sweeps.erase(key);
    if (values.size() > 1) flags.sweeps[key] = values;
    const config::Yaml& value = values.front();
    std::erase_if(flags.overrides, [&](const auto& setting) { return setting.first == key; });
    flags.overrides.emplace_back(key, value);
  };
  return flag;
}

FlagInfo batch_size_file_flag() {
  FlagInfo flag{.name = "batch_size_file",
                .value = "FILE",
                .help = "file with batch sizes of single models, a line NAME,SIZE for each"};
  flag.set = [](Flags& f, const config::Yaml& v) { f.batch_sizes = read_batch_sizes(text_of(v)); };
  return std::move(flag).is_path();
}

std::vector<FlagInfo> case_flags() {
  std::vector<FlagInfo> flags;
  for (const auto& field : config::case_fields())
    if (!field.flag.empty()) flags.push_back(flag_of(field));
  flags.push_back(batch_size_file_flag());
  flags.push_back(text_flag("compare_outputs", "FOLDER",
                            "compare the compiled answer of each case of accuracy, number for number, with the one "
                            "that save_outputs wrote there",
                            &RunOptions::compare_outputs)
                      .is_path()
                      .used_by(config::accuracy_cases()));
  return flags;
}

config::Words<When> when_words() {
  return {{"auto", When::automatic}, {"always", When::always}, {"never", When::never}};
}

FlagInfo help_flag() {
  FlagInfo flag{.name = "help", .value = "BOOL", .help = "print this text", .fallback = "false", .boolean = true};
  flag.set = [](Flags& f, const config::Yaml& v) { f.help = f.help || boolean_of(v); };
  return flag;
}

std::vector<FlagInfo> process_flags() {
  return {
      word_flag(
          "isolate",
          config::Words<Isolation>{{"fresh", Isolation::fresh}, {"shared", Isolation::shared}, {"off", Isolation::off}},
          "a child process for each case, one for many, or none", &RunOptions::isolate),
      boolean_flag("interleave",
                   "interleave the processes of up to 12 timed cases, so that a short disturbance of the machine does "
                   "not affect all processes of one case",
                   &RunOptions::interleave)
          .used_by(config::timed_cases()),
      word_flag("diagnose",
                config::Words<Diagnose>{
                    {"auto", Diagnose::automatic}, {"always", Diagnose::always}, {"never", Diagnose::never}},
                "find where the compiled program goes wrong: for cases that fail unexpectedly, for all, or for none",
                &RunOptions::diagnose),
      number_flag("diagnose_limit", "SECONDS", 1.0, no_limit,
                  "time limit for the diagnosis of one case; findings until then are kept",
                  &RunOptions::diagnose_limit_s),
      number_flag(
          "diagnose_max", "N", int64_t{0}, int64_t{1} << 40,
          "most cases that a run diagnoses; at most half of them are of a model that was diagnosed before; 0: no limit",
          &RunOptions::diagnose_max)
          .outside_reproductions()
          .defaults_to("10; with --torchstone_diagnose=always no limit"),
      number_flag("memory_limit", "GB", 0.0, no_limit, "memory limit of one case", &RunOptions::memory_limit_gb)
          .defaults_to("nine tenths of the machine's"),
      text_flag("python", "FILE", "interpreter of the compile workers", &RunOptions::python)
          .is_path()
          .defaults_to("the one of the build"),
      texts_flag("python_import", "MODULE",
                 "module that the process of a Python subject imports first, such as one that registers a backend of "
                 "torch.compile",
                 &RunOptions::python_imports),
      number_flag("workers", "N", int64_t{0}, int64_t{1024},
                  "number of compile workers; with 1 each case compiles alone, just before it runs",
                  &RunOptions::workers)
          .outside_reproductions()
          .defaults_to("one a core"),
      number_flag("concurrent", "N", int64_t{0}, int64_t{64},
                  "untimed cases that run on an accelerator at the same time, if its memory suffices; 1: one at a "
                  "time; 0: one for each four cores, at most 4",
                  &RunOptions::concurrent)
          .outside_reproductions(),
      number_flag("compile_limit", "SECONDS", 1.0, no_limit, "time limit for compiling one program",
                  &RunOptions::compile_limit_s),
      text_flag("cache", "FOLDER|off", "folder for compiled programs", &RunOptions::cache)
          .is_path()
          .defaults_to("~/.cache/torchstone"),
      number_flag("cache_limit", "MB", int64_t{0}, int64_t{1} << 40, "size to which the cache is pruned",
                  &RunOptions::cache_limit_mb)
          .outside_reproductions(),
  };
}

std::vector<FlagInfo> output_flags() {
  std::vector<FlagInfo> flags{
      text_flag("out", "FOLDER", "results folder", &RunOptions::out).is_path().defaults_to("build/results"),
      boolean_flag("npy",
                   "write raw timings for NumPy: OUT/samples/CASE.npy, a row for each round, a column each for eager "
                   "and compiled",
                   &RunOptions::npy)
          .with_alias("dump_raw_metrics")
          .used_by(config::timed_cases()),
      boolean_flag("export_profiler_trace", "run a profiled pass after the timing: OUT/traces/CASE.json, for Perfetto",
                   &RunOptions::profiler_trace)
          .used_by(config::timed_cases_of_this_process()),
      boolean_flag("memory_snapshot",
                   "record the allocations of one call of each side: OUT/memory/CASE.json; of a Python module on CUDA "
                   "CASE_eager.pickle and CASE_compiled.pickle (https://pytorch.org/memory_viz)",
                   &RunOptions::memory_snapshot)
          .with_alias("snapshot_memory")
          .used_by(config::timed_cases_with_memory_records()),
      boolean_flag("coverage",
                   "list the captured program's operators with calls, eager's time, and executor (compiler or ATen): "
                   "OUT/coverage/CASE.csv and the console",
                   &RunOptions::coverage),
      boolean_flag("layer_times",
                   "time each layer in eager and in the compiled program, in inference, slowdowns first: "
                   "OUT/layers/CASE.csv and the console",
                   &RunOptions::layers),
      boolean_flag("log_conv_args",
                   "list every convolution of the captured program in upstream's format: OUT/conv_args/CASE.json",
                   &RunOptions::log_conv_args),
      text_flag("save_outputs", "FOLDER",
                "save the compiled answer of each case of accuracy: FOLDER/CASE.pt, for torch.load",
                &RunOptions::save_outputs)
          .is_path()
          .used_by(config::accuracy_cases()),
      text_flag("log_operator_inputs", "FILE",
                "write a log of the operators that the selected models call, for operator_logs", &Flags::operator_log)
          .is_path(),
      word_flag("report", config::Words<bool>{{"all", true}, {"none", false}}, "write report files at the end",
                &Flags::report),
      boolean_flag("junit_properties", "write properties in JUnit's test cases, which some readers refuse",
                   &Flags::junit_properties),
      word_flag("color", when_words(), "colours of the console", &Flags::color),
      number_flag("heartbeat", "SECONDS", 0.0, no_limit,
                  "time without output after which a log gets a line of progress; 0: never", &Flags::heartbeat_s),
      word_flag("github", when_words(), "write failures as annotations of GitHub Actions; auto: only there",
                &Flags::github),
      boolean_flag("strict_undecided", "exit with 5 when a speed-up remains undecided", &Flags::strict_undecided),
      text_flag("tag", "TEXT", "name of the run, for results.json and a column of the tables in csv/", &Flags::tag),
      texts_flag("baseline", "RESULTS",
                 "compare with this results folder, results.json, or CSV of PyTorch's benchmarks/dynamo; worse results "
                 "fail. Several runs of the same code give a more precise baseline",
                 &Flags::baseline)
          .is_path(),
      text_flag(
          "baseline_history", "FILE",
          "file of torchstone-report history: how far runs of unchanged code differ on this machine, for the baseline",
          &Flags::baseline_history)
          .is_path(),
      list_flag("baseline_fail_on", "slower,gone,different_model,more,less,ambiguous,faster,fixed,new",
                "changes since the baseline that fail the run; a worse status always does. Without gone, cases that "
                "were measured and are now skipped or absent pass; without different_model, rows of another model pass "
                "unless they are worse",
                &Flags::baseline_fail_on, config::text_of)
          .defaults_to("slower,gone,different_model"),
      boolean_flag("baseline_other_torch",
                   "compare timings also with a baseline of another release of torch; every report says so",
                   &Flags::baseline_other_torch),
      word_flag("list",
                config::Words<Listing>{{"models", Listing::models},
                                       {"backends", Listing::backends},
                                       {"cases", Listing::cases},
                                       {"suites", Listing::suites},
                                       {"skipped", Listing::skipped},
                                       {"flags", Listing::flags},
                                       {"gpus", Listing::gpus}},
                "print a list and run nothing; suite and only select models, cases and skipped", &Flags::list),
      word_flag(
          "format",
          config::Words<Format>{
              {"text", Format::text}, {"json", Format::json}, {"ctest", Format::ctest}, {"markdown", Format::markdown}},
          "format of a list or of printed programs; ctest for cases and gpus, markdown for flags", &Flags::format),
      text_flag("explain", "NAME_GLOB", "print which line decided each field of these cases, and run nothing",
                &Flags::explain),
      boolean_flag("print_program",
                   "print the captured program of each selected case, with shapes and operator counts, and run "
                   "nothing; cases that differ only in the backend share a program",
                   &Flags::print_program),
      help_flag(),
  };
  for (auto& flag : flags) flag = std::move(flag).outside_reproductions();
  return flags;
}

}  // namespace

BatchSizes read_batch_sizes(const std::string& file) {
  try {
    return parse_batch_sizes(read_at_most(file, mebibyte), file);
  } catch (const ReportError& error) {
    throw config::ConfigError(fmt::format("{} (expected a file with a line NAME,SIZE for each model)", error.what()));
  }
}

BatchSizes parse_batch_sizes(const std::string& text, const std::string& file) {
  std::istringstream stream(text);
  BatchSizes sizes;
  config::Yaml value;
  value.kind = config::Yaml::Kind::scalar;
  value.file = file;
  for (std::string line; std::getline(stream, line);) {
    ++value.line;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto comma = line.find(',');
    const std::string name = trimmed(line.substr(0, comma));
    if (comma == std::string::npos || name.empty()) fail(value, fmt::format("'{}' (expected NAME,SIZE)", line));
    value.text = trimmed(line.substr(comma + 1));
    if (!sizes.try_emplace(name, config::Choice<int64_t>{integer_of(value, 1, 1'000'000), value}).second)
      fail(value, fmt::format("{} is listed twice", name));
  }
  return sizes;
}

const std::vector<FlagInfo>& flag_table() {
  static const std::vector<FlagInfo> table = [] {
    std::vector<FlagInfo> all;
    const auto add = [&](const char* group, std::vector<FlagInfo> flags) {
      for (auto& flag : flags) {
        flag.group = group;
        all.push_back(std::move(flag));
      }
    };
    add("What runs", selection_flags());
    add("Models of the suites operators and fastrnns", model_suite_flags());
    add("How a case is judged and timed", case_flags());
    add("How cases are run and compiled", process_flags());
    add("What comes out", output_flags());
    return all;
  }();
  return table;
}

const FlagInfo* find_flag(const std::string& name) {
  for (const auto& flag : flag_table())
    if (name == flag.name || (!flag.alias.empty() && name == flag.alias)) return &flag;
  return nullptr;
}

std::string environment_name(const FlagInfo& flag) {
  std::string name = "TORCHSTONE_" + flag.name;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

}  // namespace torchstone::flags
