// A run against the results of another one: the flag and the tool, on the real program.
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

const std::vector<std::string> timed = {"--torchstone_only=lennard_jones", "--torchstone_modes=inference",
                                        "--torchstone_checks=performance", "--torchstone_backends=eager",
                                        "--torchstone_dtypes=float32",     "--torchstone_measure_budget=0.2",
                                        "--torchstone_tag=today"};

/// A baseline made of a real run, changed as a test needs it.
class Baseline : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const ProgramRun run = first().run(timed);
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  }
  static const Torchstone& first() {
    static const Torchstone run;
    return run;
  }
  template <typename Change>
  std::string changed(Change change) const {
    auto json = first().results();
    change(json);
    const std::string path = folder_.out() + "/baseline.json";
    std::ofstream(path) << json.dump();
    return path;
  }
  static ProgramRun compare(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {TORCHSTONE_REPORT, "compare"});
    return run_program(arguments);
  }
  Torchstone folder_;
};

void one_byte_less(nlohmann::json& json) {
  auto& bytes = json.at("results").at(0).at("outcome").at("metrics").at("compiled_peak_bytes");
  bytes = bytes.get<double>() - 1;
}

TEST_F(Baseline, OneByteMoreTurnsTheRunRed) {
  std::vector<std::string> arguments = timed;
  arguments.push_back("--torchstone_baseline=" + changed(one_byte_less));
  const ProgramRun run = folder_.run(arguments);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, testing::AllOf(HasSubstr("! SLOWER"), HasSubstr("compiled_peak_bytes"), HasSubstr("1 SLOWER")));
  EXPECT_THAT(read_file(folder_.out() + "/csv/eager_torchbench_float32_inference_cpu_performance.csv"),
              HasSubstr(",today,"));
}

TEST_F(Baseline, ThatCannotBeReadIsSaidBeforeAnythingRuns) {
  for (const std::string path : {"/no/such/results.json", TORCHSTONE_BINARY}) {
    const ProgramRun run = folder_.run({"--torchstone_baseline=" + path});
    EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
    EXPECT_THAT(run.err, HasSubstr(path));
    EXPECT_THAT(run.out, testing::Not(HasSubstr("RUN")));
  }
}

TEST_F(Baseline, TheToolHasADistinctExitCodeForEachAnswer) {
  const std::string same = first().out();
  EXPECT_EQ(compare({same, same}).exit_code, 0);
  EXPECT_EQ(compare({changed(one_byte_less), same}).exit_code, 1);
  EXPECT_EQ(compare({changed(one_byte_less), same, "--metrics", "speedup,compiled_ms"}).exit_code, 0);
  EXPECT_EQ(compare({same, same, "--metrics", "speed"}).exit_code, 2);
  EXPECT_EQ(compare({same, same + "/none"}).exit_code, 2);
  const std::string gone = changed([](auto& json) { json.at("results").at(0)["name"] = "another/Case.A/b"; });
  EXPECT_EQ(compare({gone, same}).exit_code, 3);
}

TEST_F(Baseline, OfAnotherMachineIsRefusedUnlessAskedFor) {
  const std::string other = changed([](auto& json) { json.at("machine")["cpu"] = "Another CPU"; });
  const ProgramRun refused = compare({other, first().out()});
  EXPECT_EQ(refused.exit_code, 2) << refused.out << refused.err;
  EXPECT_THAT(refused.out, HasSubstr("Another CPU"));
  EXPECT_THAT(refused.err, HasSubstr("--other-machine"));
  EXPECT_EQ(compare({"--other-machine", other, first().out()}).exit_code, 0);
  EXPECT_EQ(compare({"--metrics", "compiled_peak_bytes", other, first().out()}).exit_code, 0);
  std::vector<std::string> arguments = timed;
  arguments.push_back("--torchstone_baseline=" + other);
  const ProgramRun run = folder_.run(arguments);
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
}

TEST_F(Baseline, FailOnMakesMoreRed) {
  const std::string more = changed([](auto& json) {
    json.at("results").push_back(json.at("results").at(0));
    json.at("results").at(1)["name"] = "another/Case.A/b";
  });
  EXPECT_EQ(compare({more, first().out()}).exit_code, 0);
  EXPECT_EQ(compare({"--fail-on", "slower,gone", more, first().out()}).exit_code, 1);
  const auto json = nlohmann::json::parse(compare({"--format", "json", more, first().out()}).out);
  EXPECT_EQ(json.at("counts").at("GONE"), 1);
}

}  // namespace
}  // namespace torchstone
