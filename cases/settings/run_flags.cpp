#include "cases/settings/flag_types.h"

namespace torchstone::flags {
namespace {

const config::Words<Isolation>& isolations() {
  static const config::Words<Isolation> words{
      {"fresh", Isolation::fresh}, {"shared", Isolation::shared}, {"off", Isolation::off}};
  return words;
}

const config::Words<Diagnose>& diagnoses() {
  static const config::Words<Diagnose> words{
      {"auto", Diagnose::automatic}, {"always", Diagnose::always}, {"never", Diagnose::never}};
  return words;
}

}  // namespace

std::vector<FlagInfo> process_flags() {
  return {
      word_flag(
          "isolate", isolations(), "a child process for each case, one for many, or none",
          [](Flags & f) -> auto& { return f.run.isolate; }),
      boolean_flag(
          "interleave",
          "timed cases take turns, process by process, up to 12 at a time: what disturbs the machine for some seconds "
          "does not meet all processes of one case",
          [](Flags & f) -> auto& { return f.run.interleave; })
          .used_by(config::timed_cases()),
      word_flag(
          "diagnose", diagnoses(),
          "find what the compiled program is wrong in: of cases that fail unexpectedly, of all, or of none",
          [](Flags & f) -> auto& { return f.run.diagnose; }),
      number_flag(
          "diagnose_limit", "SECONDS", 1.0, no_limit,
          "for the diagnosis of one case; what was found until then is kept",
          [](Flags & f) -> auto& { return f.run.diagnose_limit_s; }),
      number_flag(
          "diagnose_max", "N", int64_t{0}, int64_t{1} << 40,
          "cases of a run that are diagnosed, at most half of them further ones of the same models; 0: no limit",
          [](Flags & f) -> auto& { return f.run.diagnose_max; })
          .of_output()
          .otherwise("10; with --torchstone_diagnose=always no limit"),
      number_flag(
          "memory_limit", "GB", 0.0, no_limit, "of one case", [](Flags & f) -> auto& { return f.run.memory_limit_gb; })
          .otherwise("nine tenths of the machine's"),
      text_flag(
          "python", "FILE", "interpreter of the compile workers", [](Flags & f) -> auto& { return f.run.python; })
          .is_path()
          .otherwise("the one of the build"),
      number_flag(
          "workers", "N", int64_t{0}, int64_t{1024},
          "compile workers; with 1 each case compiles alone, when it is its turn",
          [](Flags & f) -> auto& { return f.run.workers; })
          .of_output()
          .otherwise("one a core"),
      number_flag(
          "compile_limit", "SECONDS", 1.0, no_limit, "for one program",
          [](Flags & f) -> auto& { return f.run.compile_limit_s; }),
      text_flag(
          "cache", "FOLDER|off", "compiled programs", [](Flags & f) -> auto& { return f.run.cache; })
          .is_path()
          .otherwise("~/.cache/torchstone"),
      number_flag(
          "cache_limit", "MB", int64_t{0}, int64_t{1} << 40, "size the cache is pruned to",
          [](Flags & f) -> auto& { return f.run.cache_limit_mb; })
          .of_output(),
  };
}

namespace {

config::Words<std::string> themselves(const std::vector<std::string>& texts) {
  config::Words<std::string> words;
  for (const auto& text : texts) words.emplace_back(text, text);
  return words;
}

const config::Words<Listing>& listings() {
  static const config::Words<Listing> words{{"models", Listing::models},   {"backends", Listing::backends},
                                            {"cases", Listing::cases},     {"suites", Listing::suites},
                                            {"skipped", Listing::skipped}, {"flags", Listing::flags}};
  return words;
}

const config::Words<Format>& formats() {
  static const config::Words<Format> words{
      {"text", Format::text}, {"json", Format::json}, {"ctest", Format::ctest}, {"markdown", Format::markdown}};
  return words;
}

FlagInfo help_flag() {
  FlagInfo flag{.name = "help", .value = "BOOL", .help = "this text", .fallback = "false"};
  flag.boolean = true;
  flag.set = [](Flags& f, const config::Yaml& v) { f.help = f.help || boolean_of(v); };
  return flag;
}

}  // namespace

std::vector<FlagInfo> output_flags() {
  std::vector<FlagInfo> flags{
      text_flag(
          "out", "FOLDER", "results", [](Flags & f) -> auto& { return f.run.out; })
          .is_path()
          .otherwise("build/results"),
      boolean_flag(
          "npy", "raw timings for NumPy: OUT/samples/CASE.npy, [rounds, eager and compiled]",
          [](Flags & f) -> auto& { return f.run.npy; })
          .also("dump_raw_metrics")
          .used_by(config::timed_cases()),
      boolean_flag(
          "export_profiler_trace", "a profiled pass after the timing: OUT/traces/CASE.json, for Perfetto",
          [](Flags & f) -> auto& { return f.run.profiler_trace; })
          .used_by(config::timed_cases_of_this_process()),
      boolean_flag(
          "memory_snapshot", "allocations of one call of each side: OUT/memory/CASE.json",
          [](Flags & f) -> auto& { return f.run.memory_snapshot; })
          .used_by(config::timed_cases_of_this_process()),
      boolean_flag(
          "coverage",
          "operators of the captured program by calls and eager's time, and whether the compiler took them or left "
          "them to ATen: OUT/coverage/CASE.csv and the console",
          [](Flags & f) -> auto& { return f.run.coverage; }),
      boolean_flag(
          "layer_times",
          "time of each layer in eager and in the compiled program, in inference; what got slower comes first: "
          "OUT/layers/CASE.csv and the console",
          [](Flags & f) -> auto& { return f.run.layers; }),
      boolean_flag(
          "log_conv_args", "every convolution of the captured program, upstream's form: OUT/conv_args/CASE.json",
          [](Flags & f) -> auto& { return f.run.log_conv_args; }),
      text_flag(
          "save_outputs", "FOLDER", "the compiled answer of each case of accuracy: FOLDER/CASE.pt, for torch.load",
          [](Flags & f) -> auto& { return f.run.save_outputs; })
          .is_path()
          .used_by(config::accuracy_cases()),
      text_flag(
          "log_operator_inputs", "FILE", "log of the operators that the selected models call, for operator_logs",
          [](Flags & f) -> auto& { return f.operator_log; })
          .is_path(),
      word_flag(
          "report", config::Words<bool>{{"all", true}, {"none", false}}, "report files at the end",
          [](Flags & f) -> auto& { return f.report; }),
      boolean_flag(
          "junit_properties", "properties in JUnit's testcases, which some readers refuse",
          [](Flags & f) -> auto& { return f.junit_properties; }),
      word_flag(
          "color", themselves({"auto", "always", "never"}), "colours of the console",
          [](Flags & f) -> auto& { return f.color; }),
      number_flag(
          "heartbeat", "SECONDS", 0.0, no_limit, "silence after which a log gets a line; 0: never",
          [](Flags & f) -> auto& { return f.heartbeat_s; }),
      word_flag(
          "github", themselves({"auto", "always", "never"}),
          "failures as annotations of GitHub Actions; auto: where it runs",
          [](Flags & f) -> auto& { return f.github; }),
      boolean_flag(
          "strict_undecided", "exit with 5 when a speed-up stays undecided",
          [](Flags & f) -> auto& { return f.strict_undecided; }),
      text_flag(
          "tag", "TEXT", "a name of the run, for results.json and a column of the tables in csv/",
          [](Flags & f) -> auto& { return f.tag; }),
      texts_flag(
          "baseline", "RESULTS",
          "compare with this results folder, results.json, or CSV of PyTorch's benchmarks/dynamo; worse is red. "
          "Several runs of the same code are known better than one",
          [](Flags & f) -> auto& { return f.baseline; })
          .is_path(),
      text_flag(
          "baseline_history", "FILE",
          "of torchstone-report history: how far runs of unchanged code differ on this machine, for the baseline",
          [](Flags & f) -> auto& { return f.baseline_history; })
          .is_path(),
      list_flag(
          "baseline_fail_on", "slower,gone,different_model,ambiguous,faster,new",
          "changes since the baseline that make the run red; a worse status always does. Without gone, cases that were "
          "measured and are now left out or absent pass; without different_model, rows of another model pass",
          [](Flags & f) -> auto& { return f.baseline_fail_on; }, config::text_of)
          .otherwise("slower,gone,different_model"),
      word_flag(
          "list", listings(), "list and run nothing", [](Flags & f) -> auto& { return f.list; }),
      word_flag(
          "format", formats(), "of a list and of printed programs; ctest for cases, markdown for flags",
          [](Flags & f) -> auto& { return f.format; }),
      text_flag(
          "explain", "NAME_GLOB", "say which line decided each field of these cases, and run nothing",
          [](Flags & f) -> auto& { return f.explain; }),
      boolean_flag(
          "print_program",
          "print the captured program of each selected case, with shapes and operators by count, and run nothing; the "
          "backend makes no difference, so cases with one program share it",
          [](Flags & f) -> auto& { return f.print_program; }),
      help_flag(),
  };
  for (auto& flag : flags) flag = std::move(flag).of_output();
  return flags;
}

}  // namespace torchstone::flags
