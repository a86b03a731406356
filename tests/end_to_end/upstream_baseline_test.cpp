// Comparisons of a run with a CSV file of benchmarks/dynamo, in the real programs.
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class UpstreamCsv : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_.path() / name;
    std::ofstream(path) << text;
    return path;
  }
  /// Runs lennard_jones, which takes milliseconds, with eager as the backend.
  ProgramRun run(const std::string& baseline, std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {"--torchstone_only=lennard_jones", "--torchstone_modes=inference",
                                         "--torchstone_backends=eager", "--torchstone_baseline=" + baseline});
    return torchstone_.run(arguments);
  }
  static ProgramRun compare(const std::string& baseline, const std::string& results) {
    return run_program({TORCHSTONE_REPORT, "compare", baseline, results});
  }
  TemporaryFolder folder_;
  Torchstone torchstone_;
};

const std::vector<std::string> accuracy = {"--torchstone_checks=accuracy", "--torchstone_dtypes=float32"};

TEST_F(UpstreamCsv, OfExpectedStatusesIsMetOrBroken) {
  const std::string rows =
      "name,accuracy,graph_breaks\n\n\n\nlennard_jones,pass,0\n\n\n\nhealthy,pass,0\n\n\n\nmoco,pass,7\n";
  const std::string csv = write("eager_torchbench_inference.csv", rows);
  const ProgramRun met = run(csv, accuracy);
  EXPECT_EQ(met.exit_code, 0) << met.out << met.err;
  EXPECT_THAT(met.out, AllOf(HasSubstr("1 of its 3 rows are of models here"), HasSubstr("0 BROKEN")));

  const std::string any = write("expected.csv", rows);
  const ProgramRun broken =
      torchstone_.run_faults("*Accuracy*/healthy_*fault_weight*", {"--torchstone_baseline=" + any});
  EXPECT_EQ(broken.exit_code, 1) << broken.out << broken.err;
  EXPECT_THAT(broken.out, AllOf(HasSubstr("! BROKEN"), HasSubstr("pass → fail_accuracy"), HasSubstr("1 BROKEN")));
  EXPECT_EQ(compare(any, torchstone_.out()).exit_code, 1);
  EXPECT_EQ(compare(csv, torchstone_.out()).exit_code, 3) << "the file name states another suite and backend";
  const ProgramRun markdown = run_program({TORCHSTONE_REPORT, "markdown", torchstone_.out(), "--baseline", any});
  EXPECT_EQ(markdown.exit_code, 0) << markdown.err;
  EXPECT_THAT(markdown.out, HasSubstr("| BROKEN |"));
  const std::string page = folder_.path() / "page.html";
  const ProgramRun html = run_program({TORCHSTONE_REPORT, "html", torchstone_.out(), "--baseline", any, "-o", page});
  EXPECT_EQ(html.exit_code, 0) << html.err;
  EXPECT_THAT(read_file(page), AllOf(HasSubstr("Since the baseline <small>" + any), HasSubstr("1 of its 3 rows")));
}

TEST_F(UpstreamCsv, OfSpeedupsIsANumberAgainstThisRunsInterval) {
  const std::vector<std::string> timed = {"--torchstone_checks=performance", "--torchstone_dtypes=float32",
                                          "--torchstone_measure_budget=0.2"};
  const std::string tiny = write("a.csv", "dev,name,speedup\ncpu,lennard_jones,0.001\n");
  const ProgramRun faster = run(tiny, timed);
  EXPECT_EQ(faster.exit_code, 0) << faster.out << faster.err;
  EXPECT_THAT(faster.out, AllOf(HasSubstr("without an interval"), HasSubstr("* FASTER")));
  const std::string own = torchstone_.out() + "/csv/eager_torchbench_float32_inference_cpu_performance.csv";
  EXPECT_THAT(compare(own, torchstone_.out()).exit_code, 0) << "a run compared with its own table";
  const std::string huge = write("b.csv", "dev,name,speedup\ncpu,lennard_jones,1000.0\n");
  const ProgramRun slower = compare(huge, torchstone_.out());
  EXPECT_EQ(slower.exit_code, 1) << slower.out << slower.err;
  EXPECT_THAT(slower.out, AllOf(HasSubstr("! SLOWER"), HasSubstr("a single number against this run's interval")));
  const std::string batch = write("c.csv", "dev,name,batch_size,speedup\ncpu,lennard_jones,123456,1000.0\n");
  EXPECT_EQ(compare(batch, torchstone_.out()).exit_code, 3) << "the baseline has another batch size";
}

TEST_F(UpstreamCsv, KnowsUpstreamsNamesOfOurModels) {
  const std::string csv =
      write("timm_inference.csv", "name,accuracy,graph_breaks\ndeit_tiny_patch16_224.fb_in1k,pass,0\n");
  const ProgramRun run = torchstone_.run({"--torchstone_only=deit_tiny_patch16_224", "--torchstone_checks=accuracy",
                                          "--torchstone_modes=inference", "--torchstone_dtypes=float32",
                                          "--torchstone_backends=eager", "--torchstone_baseline=" + csv});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("1 of its 1 rows are of models here"), HasSubstr("1 SAME")));
  EXPECT_EQ(compare(csv, torchstone_.out()).exit_code, 0);
}

TEST_F(UpstreamCsv, ThatIsUnusableOrAmbiguousIsSaidBeforeAnythingRuns) {
  const std::string any = write("any.csv", "name,accuracy,graph_breaks\nlennard_jones,pass,0\n");
  const ProgramRun ambiguous = run(any, {"--torchstone_checks=accuracy", "--torchstone_dtypes=float32,bfloat16"});
  EXPECT_EQ(ambiguous.exit_code, 2) << ambiguous.out << ambiguous.err;
  EXPECT_THAT(ambiguous.err, AllOf(HasSubstr(any + ":2: lennard_jones may be any of 2 cases"), HasSubstr("dtype")));
  EXPECT_THAT(ambiguous.out, Not(HasSubstr("lennard_jones_inference")));
  for (const auto& [text, words] : std::map<std::string, std::string>{
           {"name,status\na,pass\n", ".csv:1: neither a column accuracy nor a column speedup"},
           {"name,accuracy\na,passed\n", ".csv:2: accuracy of a: expected one of pass,"},
           {"name,accuracy\na,pass\na,pass\n", ".csv:3: a occurs twice, first in line 2"},
           {"name,speedup\na,1.25\nb,1.2", ".csv:3: the last line has no end"}}) {
    const std::string bad = write("bad.csv", text);
    for (const ProgramRun& refused : {run(bad, accuracy), compare(bad, torchstone_.out())}) {
      EXPECT_EQ(refused.exit_code, 2) << text << refused.out << refused.err;
      EXPECT_THAT(refused.err, HasSubstr("bad" + words));
    }
  }
}

}  // namespace
}  // namespace torchstone
