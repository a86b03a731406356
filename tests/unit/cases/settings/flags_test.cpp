#include "cases/settings/flags.h"

#include <set>
#include <stdlib.h>

#include <gtest/gtest.h>

#include "tests/environment_variable.h"
#include "tests/unit/cases/support.h"

namespace torchstone::flags {
namespace {

using test::error_of;
using test::flags_of;
using testing::HasSubstr;

std::string flag_error(const std::vector<std::string>& arguments) {
  return error_of([&] { flags_of(arguments); });
}

/// Unsets the environment variables of all flags, so that the tests do not depend on the user's environment.
class NoTwins : public testing::Environment {
 public:
  void SetUp() override {
    for (const auto& flag : flag_table()) unsetenv(environment_name(flag).c_str());
  }
};
[[maybe_unused]] const testing::Environment* const no_twins = testing::AddGlobalTestEnvironment(new NoTwins);

int threads_of(const Flags& flags) {
  Case c;
  apply_settings(flags.overrides, c);
  return c.threads;
}

TEST(Flags, HaveDefaults) {
  const Flags flags = flags_of({});
  EXPECT_TRUE(flags.run.out.ends_with("/build/results"));
  EXPECT_TRUE(flags.run.cache.ends_with("/torchstone"));
  EXPECT_EQ(flags.run.isolate, Isolation::shared);
  EXPECT_EQ(flags.list, Listing::none);
  EXPECT_TRUE(flags.report);
  EXPECT_TRUE(flags.axes.backends.empty());
  EXPECT_EQ(flags.run.arguments, "");
}

TEST(Flags, SpreadCasesOverSeveralGpus) {
  const auto devices = [](const Flags& flags) {
    return config::texts_of(flags.axes.devices, &config::Choice<std::string>::value);
  };
  const Flags two = flags_of({"--torchstone_devices=cpu,cuda:3,cuda:1"});
  EXPECT_THAT(devices(two), testing::ElementsAre("cpu", "cuda"));
  EXPECT_THAT(two.gpus, testing::ElementsAre(1, 3));
  EXPECT_THAT(devices(flags_of({"--torchstone_device=cuda,cuda:0,cuda:1"})), testing::ElementsAre("cuda"));
  const Flags one = flags_of({"--torchstone_devices=cpu,cuda:1"});
  EXPECT_THAT(devices(one), testing::ElementsAre("cpu", "cuda:1")) << "a single GPU keeps its name";
  EXPECT_TRUE(one.gpus.empty());
}

TEST(Flags, AreReadIntoTheirFields) {
  const Flags flags = flags_of({"--torchstone_out=/r",
                                "--torchstone_cache=off",
                                "--torchstone_cache_limit=10",
                                "--torchstone_python=/p/python",
                                "--torchstone_workers=3",
                                "--torchstone_concurrent=2",
                                "--torchstone_compile_limit=60",
                                "--torchstone_isolate=fresh",
                                "--torchstone_memory_limit=2.5",
                                "--torchstone_threads=2",
                                "--torchstone_suites=/s",
                                "--torchstone_suite=a,b",
                                "--torchstone_device=cuda",
                                "--torchstone_only=m",
                                "--torchstone_inputs=/i.pt",
                                "--torchstone_plugin=/a.so",
                                "--torchstone_plugin=/b.so",
                                "--torchstone_list=skipped",
                                "--torchstone_format=json",
                                "--torchstone_explain=*",
                                "--torchstone_github=always",
                                "--torchstone_report=none",
                                "--torchstone_junit_properties=false",
                                "--torchstone_color=never",
                                "--torchstone_strict_undecided",
                                "--torchstone_help",
                                "--torchstone_npy",
                                "--torchstone_memory_snapshot",
                                "--torchstone_coverage",
                                "--torchstone_layer_times",
                                "--torchstone_log_conv_args",
                                "--torchstone_export_profiler_trace"});
  EXPECT_EQ(flags.run.out, "/r");
  EXPECT_EQ(flags.run.cache, "off");
  EXPECT_EQ(flags.run.cache_limit_mb, 10);
  EXPECT_EQ(flags.run.python, "/p/python");
  EXPECT_EQ(flags.run.workers, 3);
  EXPECT_EQ(flags.run.concurrent, 2);
  EXPECT_EQ(flags.run.compile_limit_s, 60);
  EXPECT_EQ(flags.run.isolate, Isolation::fresh);
  EXPECT_EQ(flags.run.memory_limit_gb, 2.5);
  EXPECT_EQ(flags.run.program, "/opt/torchstone");
  EXPECT_EQ(threads_of(flags), 2);
  EXPECT_EQ(flags.suites_folder, "/s");
  EXPECT_EQ(flags.suites.at(1).value, "b");
  EXPECT_EQ(flags.axes.devices.at(0).value, "cuda");
  EXPECT_EQ(flags.only.at(0).value, "m");
  EXPECT_EQ(flags.inputs, "/i.pt");
  EXPECT_THAT(flags.plugins, testing::ElementsAre("/a.so", "/b.so"));
  EXPECT_EQ(flags.list, Listing::skipped);
  EXPECT_EQ(flags.format, Format::json);
  EXPECT_EQ(flags.explain, "*");
  EXPECT_FALSE(flags.report);
  EXPECT_FALSE(flags.junit_properties);
  EXPECT_EQ(flags.color, When::never);
  EXPECT_EQ(flags.github, When::always);
  EXPECT_TRUE(flags.strict_undecided);
  EXPECT_TRUE(flags.run.npy);
  EXPECT_TRUE(flags.run.memory_snapshot);
  EXPECT_TRUE(flags.run.coverage);
  EXPECT_TRUE(flags.run.layers);
  EXPECT_TRUE(flags.run.log_conv_args);
  EXPECT_TRUE(flags.run.profiler_trace);
  EXPECT_TRUE(flags.help);
}

TEST(Flags, OverrideTheFieldsOfEveryCase) {
  const Flags flags = flags_of({"--torchstone_batch_size=2",
                                "--torchstone_seed=9",
                                "--torchstone_tolerance=0.1",
                                "--torchstone_required_speedup=1.2",
                                "--torchstone_rounds=7",
                                "--torchstone_measure_budget=0.5",
                                "--torchstone_processes=4",
                                "--torchstone_confidence=0.99",
                                "--torchstone_time_limit=33",
                                "--torchstone_upstream_semantics",
                                "--torchstone_cold_cache",
                                "--torchstone_cuda_graphs=both",
                                "--torchstone_pin_threads=cores",
                                "--torchstone_repeat=30",
                                "--torchstone_iterations_per_run=4",
                                "--torchstone_randomize_input",
                                "--torchstone_cold_start_latency",
                                "--torchstone_warm_start_latency",
                                "--torchstone_cosine",
                                "--torchstone_use_eval_mode"});
  Case c;
  c.check = "performance";
  apply_settings(flags.overrides, c);
  EXPECT_EQ(c.batch_size, 2);
  EXPECT_EQ(c.seed, 9U);
  EXPECT_EQ(c.tolerance, 0.1);
  EXPECT_EQ(c.required_speedup, 1.2);
  EXPECT_EQ(c.max_rounds, 7);
  EXPECT_EQ(c.measure_budget_s, 0.5);
  EXPECT_EQ(c.processes, 4);
  EXPECT_EQ(c.confidence, 0.99);
  EXPECT_EQ(c.time_limit_s, 33);
  EXPECT_TRUE(c.upstream_semantics);
  EXPECT_TRUE(c.cold_cache);
  EXPECT_EQ(c.cuda_graphs, CudaGraphs::both);
  EXPECT_EQ(c.pin_threads, PinThreads::cores);
  EXPECT_EQ(c.repeat, 30);
  EXPECT_EQ(c.iterations_per_run, 4);
  EXPECT_TRUE(c.randomize_input);
  EXPECT_TRUE(c.cold_start_latency);
  EXPECT_TRUE(c.warm_start_latency);
  EXPECT_TRUE(c.cosine);
  EXPECT_TRUE(c.eval_in_training);
}

TEST(Flags, KnowUpstreamsNamesOfTheRawTimingsAndTheSnapshot) {
  EXPECT_TRUE(flags_of({"--torchstone_dump_raw_metrics"}).run.npy);
  EXPECT_TRUE(flags_of({"--torchstone_snapshot_memory"}).run.memory_snapshot);
  EXPECT_FALSE(flags_of({}).run.npy);
}

TEST(Flags, KeepWhatOnlyWritesFilesOutOfAReproduction) {
  const Flags flags = flags_of({"--torchstone_npy", "--torchstone_snapshot_memory",
                                "--torchstone_export_profiler_trace", "--torchstone_repeat=3"});
  EXPECT_EQ(flags.run.arguments, "--torchstone_repeat=3");
}

TEST(Flags, AskForTheVersion) {
  EXPECT_TRUE(flags_of({"--version"}).version);
  EXPECT_FALSE(flags_of({"--torchstone_seed=1"}).version);
}

TEST(Flags, LeaveTheRestToGoogleTest) {
  std::vector<std::string> arguments{"prog", "--gtest_filter=-*x*:a", "--torchstone_seed=1", "word", "--", "--help",
                                     "-v"};
  const Flags flags = parse_flags(arguments);
  EXPECT_THAT(arguments, testing::ElementsAre("prog", "--gtest_filter=-*x*:a", "word", "--", "--help", "-v"));
  EXPECT_TRUE(flags.help);

  std::string program = "prog", own = "--torchstone_seed=1", other = "--gtest_brief=1";
  std::vector<char*> argv{program.data(), own.data(), other.data(), nullptr};
  int argc = 3;
  parse_flags(&argc, argv.data());
  ASSERT_EQ(argc, 2);
  EXPECT_STREQ(argv[1], "--gtest_brief=1");
  EXPECT_EQ(argv[2], nullptr);
}

TEST(Flags, TakeTheLastOfTwo) {
  EXPECT_EQ(threads_of(flags_of({"--torchstone_threads=1", "--torchstone_threads=2"})), 2);
}

TEST(Flags, HaveEnvironmentTwinsThatTheCommandLineOverrules) {
  const EnvironmentVariable threads("TORCHSTONE_THREADS", "3");
  const EnvironmentVariable strict("TORCHSTONE_STRICT_UNDECIDED", "true");
  EXPECT_EQ(threads_of(flags_of({})), 3);
  EXPECT_TRUE(flags_of({}).strict_undecided);
  EXPECT_EQ(threads_of(flags_of({"--torchstone_threads=4"})), 4);
  const EnvironmentVariable seed("TORCHSTONE_SEED", "x");
  EXPECT_EQ(flag_error({}), "TORCHSTONE_SEED=x: 'x' (expected a whole number from 0 to 9007199254740992)");
}

TEST(Flags, RefuseTyposAndWrongValues) {
  EXPECT_EQ(flag_error({"--torchstone_bakends=eager"}),
            "unknown flag --torchstone_bakends (did you mean --torchstone_backends?)");
  EXPECT_EQ(flag_error({"--torchstone_zzzzzz=1"}),
            "unknown flag --torchstone_zzzzzz (expected one of --torchstone_list=flags)");
  EXPECT_EQ(flag_error({"--torchstone_"}), "unknown flag --torchstone_ (expected one of --torchstone_list=flags)");
  EXPECT_EQ(flag_error({"--torchstone_out"}), "--torchstone_out: no value (expected --torchstone_out=FOLDER)");
  EXPECT_EQ(flag_error({"--torchstone_seed="}), "--torchstone_seed: no value (expected --torchstone_seed=N)");
  EXPECT_EQ(flag_error({"--torchstone_isolate=frsh"}),
            "flag --torchstone_isolate=frsh: 'frsh' (expected one of fresh, shared, off; did you mean fresh?)");
  EXPECT_EQ(flag_error({"--torchstone_strict_undecided=1"}),
            "flag --torchstone_strict_undecided=1: '1' (expected true or false)");
  EXPECT_EQ(flag_error({"--torchstone_checks=accuracy,,tolerance"}),
            "flag --torchstone_checks=accuracy,,tolerance: an empty entry (expected names with commas between them)");
  EXPECT_THAT(flag_error({"--torchstone_devices=tpu"}), HasSubstr("'tpu' is not a supported device"));
  EXPECT_THAT(flag_error({"--torchstone_backends=inductor:x"}), HasSubstr("'x' is no key=value"));
  EXPECT_THAT(flag_error({"--torchstone_threads=many"}), HasSubstr("'many' (expected a whole number from 0 to 4096)"));
  EXPECT_THAT(flag_error({"--torchstone_memory_limit=1e400"}), HasSubstr("expected a number"));
  EXPECT_THAT(flag_error({"--torchstone_tolerance=-1"}), HasSubstr("'-1' (expected a number from 0 to 10)"));
  EXPECT_THAT(flag_error({"--torchstone_format=xml"}), HasSubstr("expected one of text, json, ctest, markdown"));
}

TEST(Flags, TakeALibraryNameTooLongForAFile) {
  const std::string name(5000, 'l');
  EXPECT_THAT(flags_of({"--torchstone_plugin=" + name}).plugins, testing::ElementsAre(name));
}

TEST(Flags, SplitBackendsWithSeveralOptions) {
  const Flags flags = flags_of({"--torchstone_backends=inductor:a=1,b=2,eager,inductor:c=3"});
  ASSERT_EQ(flags.axes.backends.size(), 3U);
  EXPECT_EQ(flags.axes.backends[0].value, (BackendSpec{"inductor", {{"a", "1"}, {"b", "2"}}}));
  EXPECT_EQ(flags.axes.backends[1].value, (BackendSpec{"eager", {}}));
  EXPECT_EQ(flags.axes.backends[2].value, (BackendSpec{"inductor", {{"c", "3"}}}));
}

TEST(Flags, OfTheTableAreInHelp) {
  const std::string help = flags_help();
  for (const auto& flag : flag_table()) {
    ASSERT_NE(flag.set, nullptr) << flag.name;
    EXPECT_THAT(help, HasSubstr(fmt::format("--torchstone_{}={}", flag.name, flag.value)));
    EXPECT_THAT(help, HasSubstr(fmt::format("\n      {}", flag.help)));
  }
  EXPECT_EQ(environment_name({"cache_limit", "", "", ""}), "TORCHSTONE_CACHE_LIMIT");
}

TEST(Flags, HaveNamesAndAliasesOfTheirOwn) {
  std::set<std::string> names;
  for (const auto& flag : flag_table()) {
    EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
    EXPECT_TRUE(flag.alias.empty() || names.insert(flag.alias).second) << flag.alias;
  }
}

TEST(Flags, StateDefaultsThatTheyAccept) {
  std::set<std::string> tried;
  for (const auto& flag : flag_table()) {
    const bool value = flag.boolean || flag.value == "N" || flag.value == "P" || flag.value == "SECONDS" ||
                       flag.value == "MB" || flag.value.find('|') != std::string::npos;
    if (!value || flag.fallback.empty() || flag.fallback.find(' ') != std::string::npos || flag.path) continue;
    EXPECT_EQ(flag_error({fmt::format("--torchstone_{}={}", flag.name, flag.fallback)}), "");
    tried.insert(flag.name);
  }
  for (const char* name : {"seed",
                           "rounds",
                           "measure_budget",
                           "processes",
                           "confidence",
                           "cold_cache",
                           "repeat",
                           "iterations_per_run",
                           "randomize_input",
                           "cold_start_latency",
                           "warm_start_latency",
                           "npy",
                           "export_profiler_trace",
                           "memory_snapshot",
                           "upstream_semantics",
                           "isolate",
                           "time_limit",
                           "compile_limit",
                           "cache_limit",
                           "report",
                           "junit_properties",
                           "color",
                           "heartbeat",
                           "github",
                           "strict_undecided",
                           "format"})
    EXPECT_TRUE(tried.contains(name)) << name;
}

TEST(ReproduceLine, RunsExactlyThatCase) {
  const Flags flags = flags_of({"--torchstone_out=/results", "--torchstone_list=cases",
                                "--torchstone_suites=/my suites/it's", "--torchstone_batch_size=2"});
  Case c;
  c.suite = "small";
  c.model = "first";
  EXPECT_EQ(reproduce_line(flags, c),
            "/opt/torchstone '--torchstone_suites=/my suites/it'\\''s' --torchstone_batch_size=2 "
            "--gtest_filter=small/Accuracy.CompiledMatchesEager/first_inference_float32_eager_cpu");
  EXPECT_EQ(flags.run.arguments, "'--torchstone_suites=/my suites/it'\\''s' --torchstone_batch_size=2");
  EXPECT_EQ(reproduce_line(flags_of({}), c),
            "/opt/torchstone --gtest_filter=small/Accuracy.CompiledMatchesEager/first_inference_float32_eager_cpu");
}

TEST(ReproduceLine, NamesTheCasesOwnModelAlone) {
  Flags flags = flags_of({"--torchstone_only=/a.pt", "--torchstone_only=timm:b", "--torchstone_inputs=/i.pt"});
  Case a, b;
  a.model = "a";
  b.model = "b";
  EXPECT_THAT(reproduce_line(flags, b), testing::HasSubstr("only=/a.pt")) << "no model is registered yet";
  flags.only_models = {{"/a.pt", "a"}, {"timm:b", "b"}};
  EXPECT_THAT(reproduce_line(flags, a), testing::StartsWith("/opt/torchstone --torchstone_only=/a.pt "
                                                            "--torchstone_inputs=/i.pt --gtest_filter="));
  EXPECT_THAT(reproduce_line(flags, b), testing::StartsWith("/opt/torchstone --torchstone_only=timm:b --gtest_filter="))
      << "the inputs of a TorchScript file would be refused";
}

TEST(ReproduceLine, MakesPathsAbsoluteAndKeepsTheEnvironment) {
  const EnvironmentVariable plugin("TORCHSTONE_PLUGIN", "./zoo.so");
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(
      flags_of({"--torchstone_suites=s/../t.yaml", "--torchstone_only=net.pt"}).run.arguments,
      fmt::format("--torchstone_suites={0}/t.yaml --torchstone_only={0}/net.pt --torchstone_plugin={0}/zoo.so", here));
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("a;b $c"), "'a;b $c'");
}

}  // namespace
}  // namespace torchstone::flags
