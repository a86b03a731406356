// The values in upstream's columns (csv/*.csv), and upstream's gates applied to Torchstone's results.
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

ProgramRun gate(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {TORCHSTONE_REPORT, "gate"});
  return run_program(arguments);
}

TEST(UpstreamsColumns, HoldItsCountersAndItsReadingOfMemory) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults(
      "*Performance*/healthy_*fault_none*", {"--torchstone_checks=performance", "--torchstone_backends=fault_none",
                                             "--torchstone_required_speedup=0.001", "--torchstone_measure_budget=0.2"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto metrics = torchstone.row("/healthy_").at("outcome").at("metrics");
  EXPECT_GT(metrics.at("calls_captured"), 0);
  EXPECT_EQ(metrics.at("unique_graphs"), 1);
  for (const char* none : {"graph_breaks", "unique_graph_breaks", "fallbacks_to_eager"})
    EXPECT_EQ(metrics.at(none), 0) << none;
  for (const char* unknown : {"autograd_captures", "autograd_compiles", "cudagraph_skips"})
    EXPECT_FALSE(metrics.contains(unknown)) << unknown;

  constexpr double of_libtorch = 50e6;  // bytes of the libraries; upstream measures the memory of the whole process
  EXPECT_GT(metrics.at("eager_peak_mem"), of_libtorch);
  EXPECT_GT(metrics.at("dynamo_peak_mem"), of_libtorch);
  EXPECT_LT(metrics.at("eager_peak_bytes"), of_libtorch)
      << "Torchstone's peak excludes memory that was already allocated";

  const ProgramRun same = gate({"graph_breaks", "--actual", torchstone.out(), "--expected", torchstone.out()});
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_THAT(same.out, HasSubstr("green: 1 PASS"));
  auto broken = torchstone.results();
  for (auto& row : broken.at("results")) row["outcome"]["metrics"]["graph_breaks"] = 1;
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "results.json") << broken;
  const ProgramRun red = gate({"graph_breaks", "--actual", folder.path(), "--expected", torchstone.out()});
  EXPECT_EQ(red.exit_code, 1) << red.out << red.err;
  EXPECT_THAT(red.out, HasSubstr("graph_breaks")) << red.err;
}

class GateOfTables : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::string path = folder_.path() / name;
    std::ofstream(path) << text;
    return path;
  }
  TemporaryFolder folder_;
};

TEST_F(GateOfTables, RefusesAThresholdThatIsNoNumber) {
  const std::string slow = write("slow.csv", "name,speedup,compression_ratio\na,0.01,0.01\n");
  const std::string good = write("good.csv", "name,speedup,compression_ratio\na,2,1\n");
  for (const std::string value : {"nan", "NaN", "-nan", "inf", "-inf", "-1", "0", "1e400", "x"})
    for (const std::string flag : {"-t", "-s"}) {
      std::vector<std::string> arguments = {"speedup", "-f", slow, flag, value};
      if (flag == "-s") arguments.insert(arguments.end(), {"-t", "1"});
      const ProgramRun run = gate(arguments);
      EXPECT_EQ(run.exit_code, 2) << flag << value << run.out;
      EXPECT_THAT(run.err, HasSubstr("threshold")) << value;
    }
  for (const std::string value : {"nan", "inf", "-0.1", "10.5"}) {
    const ProgramRun run = gate({"memory", "-f", slow, "--expected", good, "--part", value});
    EXPECT_EQ(run.exit_code, 2) << value << run.out;
    EXPECT_THAT(run.err, HasSubstr("--part: expected a number from 0 to 10, found " + value));
  }
  for (const char* flag : {"--tol", "--iou"})
    EXPECT_EQ(run_program({TORCHSTONE_REPORT, "diff", slow, slow, flag, "nan"}).exit_code, 2) << flag;
  EXPECT_EQ(gate({"speedup", "-f", good, "-t", "1.5", "-s", "0.95"}).exit_code, 0);
  EXPECT_EQ(gate({"memory", "-f", slow, "--expected", good, "--part", "0.5"}).exit_code, 1);
}

TEST_F(GateOfTables, RefusesTheSameTablesAsCompare) {
  const std::string good = write("good.csv", "name,accuracy,graph_breaks\na,pass,0\n");
  for (const auto& [text, words] :
       std::map<std::string, std::string>{{"name,accuracy\na,pass", "bad.csv:2: the last line has no end"},
                                          {"name,accuracy\na,passs\n", "bad.csv:2: accuracy of a: expected one of"},
                                          {"name,accuracy\na,pass\na,pass\n", "bad.csv:3: a occurs twice"},
                                          {"name,batch_size,accuracy\na,x,pass\n", "bad.csv:2: batch_size of a"}}) {
    const std::string bad = write("bad.csv", text);
    for (const ProgramRun& refused :
         {gate({"accuracy", "-f", good, "--expected", bad}), gate({"accuracy", "-f", bad, "--expected", good})}) {
      EXPECT_EQ(refused.exit_code, 2) << text << refused.out;
      EXPECT_THAT(refused.err, HasSubstr(words));
    }
  }
}

TEST_F(GateOfTables, NamesAFlakyModelThatIsNotThere) {
  const std::string good = write("good.csv", "name,accuracy\nresnet18,pass\n");
  const ProgramRun mistyped = gate({"accuracy", "-f", good, "--flaky", "resnet18,resnet81"});
  EXPECT_EQ(mistyped.exit_code, 0) << mistyped.err;
  EXPECT_THAT(mistyped.err,
              HasSubstr("warning: --flaky resnet81: no model here has this name (expected resnet18; did you mean "
                        "resnet18?)"));
  EXPECT_EQ(gate({"accuracy", "-f", good, "--flaky", "resnet18"}).err, "");
}

}  // namespace
}  // namespace torchstone
