#include "cases/settings/flag_types.h"

namespace torchstone::flags {
namespace {

config::Words<std::string> plain_words(const std::vector<std::string>& texts) {
  config::Words<std::string> words;
  for (const auto& text : texts) words.emplace_back(text, text);
  return words;
}

FlagInfo help_flag() {
  FlagInfo flag{.name = "help", .value = "BOOL", .help = "print this text", .fallback = "false", .boolean = true};
  flag.set = [](Flags& f, const config::Yaml& v) { f.help = f.help || boolean_of(v); };
  return flag;
}

}  // namespace

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
      number_flag("diagnose_max", "N", int64_t{0}, int64_t{1} << 40,
                  "cases that a run diagnoses, at most half of them further cases of the same models; 0: no limit",
                  &RunOptions::diagnose_max)
          .outside_reproductions()
          .defaults_to("10; with --torchstone_diagnose=always no limit"),
      number_flag("memory_limit", "GB", 0.0, no_limit, "memory limit of one case", &RunOptions::memory_limit_gb)
          .defaults_to("nine tenths of the machine's"),
      text_flag("python", "FILE", "interpreter of the compile workers", &RunOptions::python)
          .is_path()
          .defaults_to("the one of the build"),
      number_flag("workers", "N", int64_t{0}, int64_t{1024},
                  "number of compile workers; with 1 each case compiles alone, just before it runs",
                  &RunOptions::workers)
          .outside_reproductions()
          .defaults_to("one a core"),
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
      boolean_flag("npy", "write raw timings for NumPy: OUT/samples/CASE.npy, [rounds, eager and compiled]",
                   &RunOptions::npy)
          .with_alias("dump_raw_metrics")
          .used_by(config::timed_cases()),
      boolean_flag("export_profiler_trace", "run a profiled pass after the timing: OUT/traces/CASE.json, for Perfetto",
                   &RunOptions::profiler_trace)
          .used_by(config::timed_cases_of_this_process()),
      boolean_flag("memory_snapshot", "record the allocations of one call of each side: OUT/memory/CASE.json",
                   &RunOptions::memory_snapshot)
          .used_by(config::timed_cases_of_this_process()),
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
      word_flag("color", plain_words({"auto", "always", "never"}), "colours of the console", &Flags::color),
      number_flag("heartbeat", "SECONDS", 0.0, no_limit, "silence after which a log gets a sign of life; 0: never",
                  &Flags::heartbeat_s),
      word_flag("github", plain_words({"auto", "always", "never"}),
                "write failures as annotations of GitHub Actions; auto: only there", &Flags::github),
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
      list_flag("baseline_fail_on", "slower,gone,different_model,ambiguous,faster,new",
                "changes since the baseline that fail the run; a worse status always does. Without gone, cases that "
                "were measured and are now skipped or absent pass; without different_model, rows of another model pass",
                &Flags::baseline_fail_on, config::text_of)
          .defaults_to("slower,gone,different_model"),
      word_flag("list",
                config::Words<Listing>{{"models", Listing::models},
                                       {"backends", Listing::backends},
                                       {"cases", Listing::cases},
                                       {"suites", Listing::suites},
                                       {"skipped", Listing::skipped},
                                       {"flags", Listing::flags}},
                "print a list and run nothing; suite and only select models, cases and skipped", &Flags::list),
      word_flag(
          "format",
          config::Words<Format>{
              {"text", Format::text}, {"json", Format::json}, {"ctest", Format::ctest}, {"markdown", Format::markdown}},
          "format of a list or of printed programs; ctest for cases, markdown for flags", &Flags::format),
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

}  // namespace torchstone::flags
