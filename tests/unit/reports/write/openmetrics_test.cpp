#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "reports/write/formats.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::write {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(OpenMetrics, GivesEachMetricInItsBaseUnit) {
  const std::string text = write_openmetrics({sample_run(), sample_results()});
  EXPECT_THAT(text, HasSubstr("# TYPE torchstone_eager_seconds gauge\n# UNIT torchstone_eager_seconds seconds\n"
                              "# HELP torchstone_eager_seconds eager, median\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE torchstone_compression_ratio gauge\n"));
  EXPECT_THAT(text, HasSubstr("torchstone_compiled_peak_bytes{"));
  EXPECT_THAT(text, testing::ContainsRegex("torchstone_speedup_ratio\\{[^}]*model=\"resnet50\"[^}]*\\} 1.43\n"));
  EXPECT_THAT(text, testing::ContainsRegex("torchstone_compiled_seconds\\{[^}]*model=\"resnet50\"[^}]*\\} 0.0125\n"));
  EXPECT_THAT(text, HasSubstr("torchstone_undeclared{case="));
  EXPECT_THAT(text, testing::ContainsRegex("torchstone_case_info\\{[^}]*status=\"fail_speedup\"\\} 1\n"));
  EXPECT_THAT(text, testing::EndsWith("\n# EOF\n"));
}

TEST(OpenMetrics, EscapesLabels) {
  Result hostile = simple_result("a\"b\\c\nd", Status::pass);
  const std::string text = write_openmetrics({sample_run(), {hostile}});
  EXPECT_THAT(text, HasSubstr(R"(case="a\"b\\c\nd")"));
}

TEST(OpenMetrics, HasOneSampleForEachNameAndItsLastResultCounts) {
  Result first = simple_result("a", Status::pass, "performance"), second = first;
  first.outcome.metrics = {{"speedup", 1}};
  second.outcome.metrics = {{"speedup", 2}};
  const std::string text = write_openmetrics({{}, {first, second}});
  EXPECT_THAT(text, testing::ContainsRegex("torchstone_speedup_ratio\\{[^}]*\\} 2\n"));
  EXPECT_THAT(text, Not(testing::ContainsRegex("torchstone_speedup_ratio\\{[^}]*\\} 1\n")));
}

TEST(OpenMetrics, SaysWhichSpeedUpsAreNoisy) {
  Result noisy = simple_result("a", Status::pass, "performance"),
         fine = simple_result("b", Status::pass, "performance");
  noisy.outcome.metrics["speedup"] = fine.outcome.metrics["speedup"] = 1.2;
  fine.outcome.metrics["speedup_low"] = 1.1, fine.outcome.metrics["speedup_high"] = 1.3;
  noisy.outcome.why_noisy = "the threads ran in different cache domains";
  const std::string text = write_openmetrics({{}, {noisy, fine, simple_result("c", Status::pass)}});
  EXPECT_THAT(text, testing::ContainsRegex("torchstone_case_noisy\\{case=\"a\"[^}]*\\} 1\n"));
  EXPECT_THAT(text, testing::ContainsRegex("torchstone_case_noisy\\{case=\"b\"[^}]*\\} 0\n"));
  EXPECT_THAT(text, Not(testing::ContainsRegex("torchstone_case_noisy\\{case=\"c\"")));
}

/// Checks the grammar of the text format line by line: metadata before samples, no interleaved families, no duplicates.
TEST(OpenMetrics, FollowsTheGrammar) {
  const std::string text = write_openmetrics({sample_run(), sample_results()});
  const std::regex metadata(R"re(# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*))re");
  const std::regex sample(
      R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\[\\"n])*"(,[a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\[\\"n])*")*\})? (NaN|[+-]Inf|-?[0-9.]+(e[+-]?[0-9]+)?))re");
  std::set<std::string> families, samples;
  std::string family, line;
  std::istringstream lines(text);
  while (std::getline(lines, line) && line != "# EOF") {
    std::smatch match;
    if (std::regex_match(line, match, metadata)) {
      if (match[1] == "TYPE") {
        family = match[2];
        EXPECT_TRUE(families.insert(family).second) << line;
      }
      EXPECT_EQ(family, match[2]) << line;
      EXPECT_TRUE(match[1] != "UNIT" || family.ends_with("_" + match[3].str())) << line;
      continue;
    }
    ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
    EXPECT_TRUE(match[1] == family || match[1] == family + "_info") << line;
    EXPECT_TRUE(samples.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
  EXPECT_EQ(line, "# EOF");
  EXPECT_GT(samples.size(), 100u);
  EXPECT_FALSE(std::getline(lines, line)) << "there is text after # EOF";
}

TEST(OpenMetrics, IsReadByTheReferenceParser) {
  const std::string python = TORCHSTONE_PYTHON;
  if (python.empty() || run_line("'" + python + "' -c 'import prometheus_client'").exit_code != 0)
    GTEST_SKIP() << "the Python package prometheus_client is not installed";
  const TemporaryFolder folder;
  write_atomically(folder.path() / "metrics.txt", write_openmetrics({sample_run(), sample_results()}));
  const Finished finished = run_line("'" + python +
                                     "' -c 'import sys; from prometheus_client.openmetrics import parser; "
                                     "print(sum(len(f.samples) for f in parser.text_string_to_metric_families("
                                     "open(sys.argv[1], encoding=\"utf-8\", newline=\"\").read())))' '" +
                                     (folder.path() / "metrics.txt").string() + "'");
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_GT(std::atoi(finished.output.c_str()), 100) << finished.output;
}

}  // namespace
}  // namespace torchstone::write
