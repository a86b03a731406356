// Options of performance cases that users of upstream's harness expect: fixed rounds, random inputs, raw timings,
// traces, allocations, cold and warm starts, several models in one run.
#include <filesystem>
#include <map>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const char* const lennard_jones = "lennard_jones_inference_float32_torchscript_cpu";

ProgramRun run_performance(const Torchstone& torchstone, const std::string& backend, std::vector<std::string> options) {
  options.insert(options.end(), {"--torchstone_only=lennard_jones", "--torchstone_checks=performance",
                                 "--torchstone_modes=inference", "--torchstone_backends=" + backend,
                                 "--torchstone_dtypes=float32", "--torchstone_measure_budget=0.2"});
  return torchstone.run(options);
}

/// Returns the path of the only file in a subfolder of the results. The test fails if there are none or several.
std::string only_file(const Torchstone& torchstone, const std::string& folder) {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(torchstone.out() + "/" + folder, none)) files.push_back(entry.path());
  EXPECT_EQ(files.size(), 1u) << folder;
  return files.empty() ? "" : files.front();
}

TEST(Options, FixRoundsCallsAndThreadsAndAreRecorded) {
  const Torchstone torchstone;
  const ProgramRun run =
      run_performance(torchstone, "torchscript",
                      {"--torchstone_repeat=7", "--torchstone_iterations_per_run=3", "--torchstone_randomize_input",
                       "--torchstone_threads=1", "--torchstone_pin_threads=cores"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto outcome = torchstone.row(lennard_jones).at("outcome");
  EXPECT_EQ(outcome.at("metrics").at("rounds"), 7);
  EXPECT_EQ(outcome.at("metrics").at("calls_per_block"), 3);
  EXPECT_EQ(outcome.at("samples").at("eager_s").size(), 7u);
  EXPECT_EQ(outcome.at("notes").at("repeat"), "7");
  EXPECT_EQ(outcome.at("notes").at("iterations_per_run"), "3");
  EXPECT_EQ(outcome.at("notes").at("randomize_input"), "true");
  EXPECT_EQ(outcome.at("notes").at("threads"), "1");
  EXPECT_THAT(outcome.at("notes").at("pin_threads"), testing::StartsWith("cores: CPU "));
  const std::vector<std::string> command = torchstone.results().at("run").at("argv");
  for (const char* flag : {"--torchstone_repeat=7", "--torchstone_randomize_input"})
    EXPECT_THAT(command, testing::Contains(flag));
  for (const char* folder : {"samples", "traces", "memory"}) EXPECT_FALSE(fs::exists(torchstone.out() + "/" + folder));
}

TEST(Options, LeaveSamplesTraceAndAllocationsOfACase) {
  const Torchstone torchstone;
  const ProgramRun run = run_performance(torchstone, "torchscript",
                                         {"--torchstone_npy", "--torchstone_export_profiler_trace",
                                          "--torchstone_memory_snapshot", "--torchstone_repeat=5"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto outcome = torchstone.row(lennard_jones).at("outcome");

  const std::string npy = read_file(only_file(torchstone, "samples"));
  EXPECT_THAT(npy, HasSubstr("'shape': (5, 2)"));
  EXPECT_EQ(npy.size(), 128u + 5 * 2 * 8);

  EXPECT_EQ(torchstone.out() + "/" + outcome.at("notes").at("trace").get<std::string>(),
            only_file(torchstone, "traces"));
  const auto trace = nlohmann::json::parse(read_file(only_file(torchstone, "traces")));
  std::map<std::string, int> complete;
  for (const auto& event : trace.at("traceEvents"))
    if (event.at("ph") == "X") ++complete[event.at("name").get<std::string>()];
  EXPECT_EQ(complete["eager"], 3);
  EXPECT_EQ(complete["compiled"], 3);
  EXPECT_GT(complete["aten::linear"] + complete["aten::addmm"], 0);

  EXPECT_EQ(torchstone.out() + "/" + outcome.at("notes").at("memory_snapshot").get<std::string>(),
            only_file(torchstone, "memory"));
  const auto memory = nlohmann::json::parse(read_file(only_file(torchstone, "memory")));
  EXPECT_EQ(memory.at("case"), torchstone.row(lennard_jones).at("name"));
  for (const std::string side : {"eager", "compiled"}) {
    EXPECT_EQ(memory.at(side).at("peak_bytes"), outcome.at("metrics").at(side + "_peak_bytes")) << side;
    EXPECT_EQ(memory.at(side).at("allocations"), outcome.at("metrics").at(side + "_allocations")) << side;
    EXPECT_GT(memory.at(side).at("events").size(), 0u) << side;
  }
}

TEST(Options, DoNotLeaveAnEarlierRunsFiles) {
  const Torchstone torchstone;
  ASSERT_EQ(run_performance(torchstone, "eager", {"--torchstone_npy", "--torchstone_repeat=3"}).exit_code, 0);
  only_file(torchstone, "samples");
  ASSERT_EQ(run_performance(torchstone, "eager", {"--torchstone_repeat=3"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(torchstone.out() + "/samples"));
}

TEST(StartUp, OfAColdCaseIsMeasuredInAProcessOfItsOwn) {
  const Torchstone torchstone;
  const ProgramRun run =
      run_performance(torchstone, "torchscript",
                      {"--torchstone_cold_start_latency", "--torchstone_warm_start_latency", "--torchstone_repeat=3"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto outcome = torchstone.row(lennard_jones).at("outcome");
  EXPECT_GT(outcome.at("metrics").at("cold_start_s"), 0);
  EXPECT_THAT(outcome.at("notes").at("cold_start"),
              testing::AllOf(HasSubstr("capture_s="), HasSubstr("first_call_s=")));
  EXPECT_FALSE(outcome.at("metrics").contains("warm_start_s"));
  EXPECT_EQ(outcome.at("notes").at("warm_start"), "not measured: torchscript keeps no compiled programs");
}

TEST(StartUp, SaysThatAColdStartTakesAProcess) {
  const Torchstone torchstone;
  ASSERT_EQ(run_performance(torchstone, "eager",
                            {"--torchstone_cold_start_latency", "--torchstone_isolate=off", "--torchstone_repeat=3"})
                .exit_code,
            0);
  EXPECT_THAT(torchstone.row("lennard_jones").at("outcome").at("notes").at("cold_start"), HasSubstr("not measured"));
}

TEST(StartUp, OfInductorIsColdWithoutACacheAndWarmWithOne) {
  const Torchstone torchstone;
  const std::vector<std::string> options{"--torchstone_repeat=3", "--torchstone_warm_start_latency"};
  const ProgramRun warm = run_performance(torchstone, "inductor", options);
  ASSERT_EQ(warm.exit_code, 0) << warm.out << warm.err;
  auto outcome = torchstone.row("lennard_jones").at("outcome");
  if (outcome.at("status") == "unsupported") GTEST_SKIP() << outcome.at("reason");
  const auto metrics = outcome.at("metrics");
  EXPECT_EQ(metrics.at("cache_hit"), 1);  // the cache was filled before the case's process began
  EXPECT_DOUBLE_EQ(metrics.at("warm_start_s"),
                   metrics.at("load_s").get<double>() + metrics.at("first_call_s").get<double>());
  EXPECT_FALSE(metrics.contains("cold_start_s"));
  if (metrics.contains("break_even_calls")) {
    EXPECT_GT(metrics.at("speedup_low"), 1);
  } else {
    EXPECT_LE(metrics.at("speedup_low"), 1);
  }

  auto cold_options = options;
  cold_options.emplace_back("--torchstone_cold_start_latency");
  const ProgramRun cold = run_performance(torchstone, "inductor", cold_options);
  ASSERT_EQ(cold.exit_code, 0) << cold.out << cold.err;
  outcome = torchstone.row("lennard_jones").at("outcome");
  // The run's cache has the program already. It was nevertheless compiled again, into the cache of the cold start, and
  // loaded from there.
  EXPECT_GT(outcome.at("metrics").at("cold_start_s").get<double>(),
            outcome.at("metrics").at("compile_s").get<double>());
  EXPECT_EQ(outcome.at("metrics").at("cache_hit"), 1);
  EXPECT_TRUE(outcome.at("metrics").contains("warm_start_s"));
  EXPECT_NE(outcome.at("metrics").at("compile_s"), metrics.at("compile_s"));
}

TEST(Only, TakesSeveralModels) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults(
      "*", {"--torchstone_only=healthy", "--torchstone_only=two_outputs", "--torchstone_list=cases"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const char* model : {"/healthy_", "/two_outputs_"}) EXPECT_NE(run.out.find(model), std::string::npos) << model;
  EXPECT_EQ(run.out.find("/zero_output_"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace torchstone
