#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "cases/config/nearest.h"
#include "cases/flags/flags.h"

namespace torchstone::flags {
namespace {

size_t one_of(const config::Yaml& value, const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), text_of(value));
  if (found == words.end())
    fail(value, fmt::format("'{}' ({})", value.text, config::expected_one_of(value.text, words)));
  return static_cast<size_t>(found - words.begin());
}

std::vector<config::Yaml> split(const config::Yaml& value) {
  std::vector<config::Yaml> parts;
  size_t begin = 0;
  for (size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = value.text.find(',', begin);
    config::Yaml part = value;
    part.text = value.text.substr(begin, end == std::string::npos ? end : end - begin);
    if (part.text.empty()) fail(value, "an empty entry (expected names with commas between them)");
    parts.push_back(std::move(part));
  }
  return parts;
}

template <typename T>
void set_axis(config::Choices<T>& axis, const std::vector<config::Yaml>& values, T (*parse)(const config::Yaml&)) {
  axis.clear();
  for (const auto& value : values) axis.push_back({parse(value), value});
}

// `inductor:freezing=true,shape_padding=false,torchscript`: a part with = and without : continues the backend before
// it.
std::vector<config::Yaml> split_backends(const config::Yaml& value) {
  std::vector<config::Yaml> backends;
  for (auto& part : split(value)) {
    const bool continues = !backends.empty() && backends.back().text.find(':') != std::string::npos &&
                           part.text.find('=') != std::string::npos && part.text.find(':') == std::string::npos;
    if (continues)
      backends.back().text += "," + part.text;
    else
      backends.push_back(std::move(part));
  }
  return backends;
}

void override_setting(Flags& flags, const std::string& key, const config::Yaml& value) {
  check_setting(key, value);
  std::erase_if(flags.overrides, [&](const auto& setting) { return setting.first == key; });
  flags.overrides.emplace_back(key, value);
}

FlagInfo setting_flag(const std::string& name, const std::string& value, const std::string& fallback,
                      const std::string& help, void (*set)(Flags&, const config::Yaml&)) {
  FlagInfo flag{name, value, fallback, help};
  flag.set = set;
  return flag;
}

FlagInfo output_flag(FlagInfo flag) {
  flag.reproduces = false;
  return flag;
}

FlagInfo path_flag(FlagInfo flag) {
  flag.path = true;
  return flag;
}

FlagInfo boolean_flag(FlagInfo flag) {
  flag.boolean = true;
  return flag;
}

FlagInfo alias_flag(const std::string& alias, FlagInfo flag) {
  flag.alias = alias;
  return flag;
}

constexpr double no_limit = 1e9;
constexpr int64_t most_samples = 1'000'000;

std::vector<FlagInfo> make_table() {
  std::vector<FlagInfo> table;
  const auto add = [&](FlagInfo flag) { table.push_back(std::move(flag)); };
  // What runs.
  add(path_flag(setting_flag("suites", "FOLDER_OR_FILE", "the program's own", "suite files (*.yaml)",
                             [](Flags& f, const config::Yaml& v) { f.suites_folder = text_of(v); })));
  add(setting_flag("suite", "NAME,…", "all", "suites by name", [](Flags& f, const config::Yaml& v) {
    set_axis<std::string>(f.suites, split(v), [](const config::Yaml& name) { return text_of(name); });
  }));
  add(alias_flag("check", setting_flag("checks", "accuracy,performance,tolerance", "the suites'", "only these checks",
                                       [](Flags& f, const config::Yaml& v) {
                                         set_axis(f.axes.checks, split(v), config::check_of);
                                       })));
  add(alias_flag(
      "mode",
      setting_flag("modes", "inference,training", "the suites'", "only these modes; one that no row has is added",
                   [](Flags& f, const config::Yaml& v) { set_axis(f.axes.modes, split(v), config::mode_of); })));
  add(alias_flag("dtype",
                 setting_flag("dtypes", "float32,bfloat16,float16,amp", "the suites'",
                              "only these dtypes; one that no row has is added", [](Flags& f, const config::Yaml& v) {
                                set_axis(f.axes.dtypes, split(v), config::dtype_of);
                              })));
  add(alias_flag("backend",
                 setting_flag("backends", "NAME[:OPTION=VALUE,…],…", "the suites'",
                              "only these backends; one that no row has is added", [](Flags& f, const config::Yaml& v) {
                                set_axis(f.axes.backends, split_backends(v), config::backend_spec_of);
                              })));
  add(alias_flag("device",
                 setting_flag("devices", "cpu,cuda,cuda:N,…", "the suites' (cpu)",
                              "only these devices; one that no row has is added", [](Flags& f, const config::Yaml& v) {
                                set_axis(f.axes.devices, split(v), config::device_of);
                              })));
  add(alias_flag(
      "preset",
      setting_flag("presets", "mini,full", "the suites' (mini)", "only these presets; one that no row has is added",
                   [](Flags& f, const config::Yaml& v) { set_axis(f.axes.presets, split(v), config::preset_of); })));
  add(setting_flag("matrix", "suites|full", "suites",
                   "full: every model with all modes, dtypes and backends that its suite knows",
                   [](Flags& f, const config::Yaml& v) {
                     f.full_matrix.reset();
                     if (one_of(v, {"suites", "full"}) == 1) f.full_matrix = v;
                   }));
  add(setting_flag("only", "NAME_OR_FILE.pt", "", "exactly this model, or this TorchScript file",
                   [](Flags& f, const config::Yaml& v) {
                     f.only = text_of(v);
                     f.only_place = v;
                   }));
  add(path_flag(setting_flag("inputs", "FILE.pt", "", "inputs of the TorchScript file",
                             [](Flags& f, const config::Yaml& v) { f.inputs = text_of(v); })));
  FlagInfo plugin =
      path_flag(setting_flag("plugin", "LIBRARY", "", "a shared library with further models or backends (repeatable)",
                             [](Flags& f, const config::Yaml& v) { f.plugins.push_back(text_of(v)); }));
  plugin.repeats = true;
  add(plugin);
  FlagInfo logs = path_flag(setting_flag(
      "operator_logs", "FILE", "the suite's", "logs of operator inputs that the suite operators runs (repeatable)",
      [](Flags& f, const config::Yaml& v) { f.operators.logs.push_back(text_of(v)); }));
  logs.repeats = true;
  add(logs);
  add(setting_flag("max_samples", "N", "the suite's", "inputs of one operator that are run",
                   [](Flags& f, const config::Yaml& v) {
                     f.operators.max_samples = static_cast<int>(integer_of(v, 1, most_samples));
                   }));
  add(setting_flag("start_index", "N", "0", "the first of the inputs of an operator that are run",
                   [](Flags& f, const config::Yaml& v) {
                     f.operators.start_index = static_cast<int>(integer_of(v, 0, most_samples));
                   }));
  add(setting_flag("layouts", "recorded,channels_last", "the suite's (recorded)", "of the inputs of operators",
                   [](Flags& f, const config::Yaml& v) {
                     f.operators.layouts.clear();
                     for (const auto& part : split(v)) f.operators.layouts.push_back(layout_of(part));
                   }));
  add(setting_flag("seq_length", "N", "100, mini 5", "steps of the recurrent models of fastrnns",
                   [](Flags& f, const config::Yaml& v) { f.recurrent.steps = integer_of(v, 1, most_samples); }));
  add(setting_flag("layers", "N", "1", "their layers",
                   [](Flags& f, const config::Yaml& v) { f.recurrent.layers = integer_of(v, 1, 1'000); }));
  add(setting_flag("input_size", "N", "512, mini 16", "width of their input",
                   [](Flags& f, const config::Yaml& v) { f.recurrent.input = integer_of(v, 1, most_samples); }));
  add(setting_flag("hidden_size", "N", "512, mini 16", "width of their state",
                   [](Flags& f, const config::Yaml& v) { f.recurrent.hidden = integer_of(v, 1, most_samples); }));
  add(setting_flag("fuser", "te|old|none|default", "default", "TorchScript's fuser",
                   [](Flags& f, const config::Yaml& v) {
                     f.fuser = static_cast<fastrnns::Fuser>(one_of(v, {"te", "old", "none", "default"}));
                   }));
  add(setting_flag(
      "executor", "profiling|simple|legacy|default", "default", "TorchScript's executor",
      [](Flags& f, const config::Yaml& v) {
        f.executor = static_cast<fastrnns::Executor>(one_of(v, {"profiling", "simple", "legacy", "default"}));
      }));
  // How it is judged and timed.
  add(setting_flag("batch_size", "N", "the policy's", "batch size",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "batch_size", v); }));
  add(path_flag(setting_flag("batch_size_file", "FILE", "", "a line NAME,SIZE for each model that gets its own",
                             [](Flags& f, const config::Yaml& v) { f.batch_sizes = read_batch_sizes(text_of(v)); })));
  add(boolean_flag(
      setting_flag("batch_invariance", "BOOL", "false",
                   "accuracy asks instead whether compiled parts of a batch (N/2, …, 1) give the same bits",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "batch_invariance", v); })));
  add(boolean_flag(setting_flag("find_batch_sizes", "BOOL", "false",
                                "accuracy asks instead for the largest batch that eager holds, halving from 1024; "
                                "OUT/batch_sizes.txt is a batch_size_file",
                                [](Flags& f, const config::Yaml& v) { override_setting(f, "find_batch_size", v); })));
  add(setting_flag("seed", "N", "1337", "random seed",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "seed", v); }));
  add(boolean_flag(setting_flag("channels_last", "BOOL", "false", "images and weights with the channels last in memory",
                                [](Flags& f, const config::Yaml& v) { override_setting(f, "channels_last", v); })));
  add(boolean_flag(setting_flag("deterministic", "BOOL", "false", "deterministic algorithms in performance too",
                                [](Flags& f, const config::Yaml& v) { override_setting(f, "deterministic", v); })));
  add(setting_flag("amp_dtype", "bfloat16|float16", "the device's", "what autocast computes in",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "amp_dtype", v); }));
  add(setting_flag("optimizer", "none|sgd|adam", "upstream's lists", "of a training step",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "optimizer", v); }));
  add(setting_flag("iterations", "N", "2", "calls in a row before results are compared",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "iterations", v); }));
  add(setting_flag("tolerance", "X", "the policy's", "absolute and relative tolerance of accuracy",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "tolerance", v); }));
  add(setting_flag("required_speedup", "X", "the suites'", "speed-up that performance must reach",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "required_speedup", v); }));
  add(setting_flag("rounds", "N", "200", "upper limit of measuring rounds",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "rounds", v); }));
  add(setting_flag("measure_budget", "SECONDS", "5", "wall time of measuring in one case",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "measure_budget", v); }));
  add(setting_flag("confidence", "P", "0.95", "of the speed-up's interval",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "confidence", v); }));
  add(boolean_flag(setting_flag("cold_cache", "BOOL", "false", "flush the caches before every timed call",
                                [](Flags& f, const config::Yaml& v) { override_setting(f, "cold_cache", v); })));
  add(boolean_flag(setting_flag("cuda_graphs", "BOOL", "the suites'",
                                "performance times both sides as CUDA graphs (inference on CUDA; elsewhere no effect)",
                                [](Flags& f, const config::Yaml& v) { override_setting(f, "cuda_graphs", v); })));
  add(setting_flag("repeat", "N", "0", "exactly so many measuring rounds, whatever they take; 0: until decided",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "repeat", v); }));
  add(setting_flag("iterations_per_run", "N", "0", "calls of a block; 0: calibrated",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "iterations_per_run", v); }));
  add(boolean_flag(setting_flag("randomize_input", "BOOL", "false",
                                "new random inputs in each round, the same for both sides",
                                [](Flags& f, const config::Yaml& v) { override_setting(f, "randomize_input", v); })));
  add(boolean_flag(setting_flag(
      "cold_start_latency", "BOOL", "false", "performance also measures a start with empty caches: cold_start_s",
      [](Flags& f, const config::Yaml& v) { override_setting(f, "cold_start_latency", v); })));
  add(boolean_flag(
      setting_flag("warm_start_latency", "BOOL", "false",
                   "performance starts from the artifact cache, which is filled before: warm_start_s",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "warm_start_latency", v); })));
  add(boolean_flag(setting_flag(
      "upstream_semantics", "BOOL", "false", "judge as PyTorch's harness does where Torchstone knows better",
      [](Flags& f, const config::Yaml& v) { override_setting(f, "upstream_semantics", v); })));
  FlagInfo expected = path_flag(
      setting_flag("expected", "FILE", "the suites'",
                   "expected statuses, upstream's CSV or YAML; the first that knows a case decides (repeatable)",
                   [](Flags& f, const config::Yaml& v) { f.expected.push_back(text_of(v)); }));
  expected.repeats = true;
  add(expected);
  add(output_flag(boolean_flag(
      setting_flag("update_expected", "BOOL", "false",
                   "make the expected-status files say what this run sees; then only what they cannot hold is red",
                   [](Flags& f, const config::Yaml& v) { f.update_expected = boolean_of(v); }))));
  // How a case is run.
  add(setting_flag("isolate", "fresh|shared|off", "shared", "a child process for each case, one for many, or none",
                   [](Flags& f, const config::Yaml& v) {
                     f.run.isolate = static_cast<Isolation>(one_of(v, {"fresh", "shared", "off"}));
                   }));
  add(setting_flag("time_limit", "SECONDS", "300", "of one case",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "time_limit", v); }));
  add(setting_flag("memory_limit", "GB", "nine tenths of the machine's", "of one case",
                   [](Flags& f, const config::Yaml& v) { f.run.memory_limit_gb = number_of(v, 0, no_limit); }));
  add(setting_flag("threads", "N", "LibTorch's choice", "threads of one case",
                   [](Flags& f, const config::Yaml& v) { override_setting(f, "threads", v); }));
  // Compiling.
  add(path_flag(setting_flag("python", "FILE", "the one of the build", "interpreter of the compile workers",
                             [](Flags& f, const config::Yaml& v) { f.run.python = text_of(v); })));
  add(output_flag(setting_flag("workers", "N", "one a core", "compile workers", [](Flags& f, const config::Yaml& v) {
    f.run.workers = static_cast<int>(integer_of(v, 0, 1024));
  })));
  add(setting_flag("compile_limit", "SECONDS", "900", "for one program",
                   [](Flags& f, const config::Yaml& v) { f.run.compile_limit_s = number_of(v, 1, no_limit); }));
  add(path_flag(setting_flag("cache", "FOLDER|off", "~/.cache/torchstone", "compiled programs",
                             [](Flags& f, const config::Yaml& v) { f.run.cache = text_of(v); })));
  add(output_flag(setting_flag(
      "cache_limit", "MB", "8192", "size the cache is pruned to",
      [](Flags& f, const config::Yaml& v) { f.run.cache_limit_mb = integer_of(v, 0, int64_t{1} << 40); })));
  // What comes out.
  add(output_flag(path_flag(setting_flag("out", "FOLDER", "build/results", "results",
                                         [](Flags& f, const config::Yaml& v) { f.run.out = text_of(v); }))));
  add(alias_flag("dump_raw_metrics", output_flag(boolean_flag(setting_flag(
                                         "npy", "BOOL", "false",
                                         "raw timings for NumPy: OUT/samples/CASE.npy, [rounds, eager and compiled]",
                                         [](Flags& f, const config::Yaml& v) { f.run.npy = boolean_of(v); })))));
  add(output_flag(boolean_flag(setting_flag(
      "export_profiler_trace", "BOOL", "false", "a profiled pass after the timing: OUT/traces/CASE.json, for Perfetto",
      [](Flags& f, const config::Yaml& v) { f.run.profiler_trace = boolean_of(v); }))));
  add(output_flag(boolean_flag(
      setting_flag("memory_snapshot", "BOOL", "false", "allocations of one call of each side: OUT/memory/CASE.json",
                   [](Flags& f, const config::Yaml& v) { f.run.memory_snapshot = boolean_of(v); }))));
  add(output_flag(path_flag(setting_flag("log_operator_inputs", "FILE", "",
                                         "log of the operators that the selected models call, for operator_logs",
                                         [](Flags& f, const config::Yaml& v) { f.operator_log = text_of(v); }))));
  add(output_flag(
      setting_flag("report", "all|none", "all", "report files at the end", [](Flags& f, const config::Yaml& v) {
        f.report = one_of(v, {"all", "none"}) == 0;
      })));
  add(output_flag(boolean_flag(
      setting_flag("junit_properties", "BOOL", "true", "properties in JUnit's testcases, which some readers refuse",
                   [](Flags& f, const config::Yaml& v) { f.junit_properties = boolean_of(v); }))));
  add(output_flag(
      setting_flag("color", "auto|always|never", "auto", "colours of the console", [](Flags& f, const config::Yaml& v) {
        one_of(v, {"auto", "always", "never"});
        f.color = v.text;
      })));
  add(output_flag(setting_flag("heartbeat", "SECONDS", "30", "silence after which a log gets a line; 0: never",
                               [](Flags& f, const config::Yaml& v) { f.heartbeat_s = number_of(v, 0, no_limit); })));
  add(output_flag(setting_flag("github", "auto|always|never", "auto",
                               "failures as annotations of GitHub Actions; auto: where it runs",
                               [](Flags& f, const config::Yaml& v) {
                                 one_of(v, {"auto", "always", "never"});
                                 f.github = v.text;
                               })));
  add(output_flag(
      boolean_flag(setting_flag("strict_undecided", "BOOL", "false", "exit with 5 when a speed-up stays undecided",
                                [](Flags& f, const config::Yaml& v) { f.strict_undecided = boolean_of(v); }))));
  add(output_flag(setting_flag("tag", "TEXT", "", "a name of the run, for results.json and a column of the CSVs",
                               [](Flags& f, const config::Yaml& v) { f.tag = text_of(v); })));
  add(output_flag(path_flag(setting_flag("baseline", "RESULTS", "",
                                         "compare with this results folder or results.json; worse is red",
                                         [](Flags& f, const config::Yaml& v) { f.baseline = text_of(v); }))));
  add(output_flag(setting_flag(
      "list", "models|backends|cases|suites|skipped|flags", "", "list and run nothing",
      [](Flags& f, const config::Yaml& v) {
        f.list = static_cast<Listing>(1 + one_of(v, {"models", "backends", "cases", "suites", "skipped", "flags"}));
      })));
  add(output_flag(setting_flag("format", "text|json|ctest|markdown", "text",
                               "of a list; ctest for cases, markdown for flags", [](Flags& f, const config::Yaml& v) {
                                 f.format = static_cast<Format>(one_of(v, {"text", "json", "ctest", "markdown"}));
                               })));
  add(output_flag(setting_flag("explain", "NAME_GLOB", "",
                               "say which line decided each field of these cases, and run nothing",
                               [](Flags& f, const config::Yaml& v) { f.explain = text_of(v); })));
  add(output_flag(boolean_flag(setting_flag("help", "BOOL", "false", "this text", [](Flags& f, const config::Yaml& v) {
    f.help = f.help || boolean_of(v);
  }))));
  return table;
}

}  // namespace

const std::vector<FlagInfo>& flag_table() {
  static const std::vector<FlagInfo> table = make_table();
  return table;
}

std::string environment_name(const FlagInfo& flag) {
  std::string name = "TORCHSTONE_" + flag.name;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

}  // namespace torchstone::flags
