#include <algorithm>

#include <gmock/gmock.h>

#include "reports/write/formats.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::write {
namespace {

Result failed(const std::string& name) {
  Result result = simple_result(name, Status::fail_accuracy);
  result.outcome.reason = "100% wrong: a, b\nsecond line";
  result.reproduce = "./torchstone --gtest_filter='" + name + "'";
  return result;
}

TEST(Annotations, NameFileLineTitleCauseAndReproduction) {
  EXPECT_EQ(
      write_annotations({{}, {failed("suite/A.B/model,x:y")}}, ""),
      "::error file=cases/torchbench.yaml,line=12,title=model%2Cx%3Ay::fail_accuracy: 100%25 wrong: a, b%0Asecond "
      "line%0Aagain: ./torchstone --gtest_filter='suite/A.B/model,x:y'\n");
}

TEST(Annotations, GivePathsAsSeenFromTheWorkspace) {
  Result result = failed("a");
  result.file = "/home/ci/repo/cases/x.yaml";
  EXPECT_THAT(write_annotations({{}, {result}}, "/home/ci/repo"), testing::HasSubstr("file=cases/x.yaml,"));
  EXPECT_THAT(write_annotations({{}, {result}}, "/home/ci/rep"),
              testing::HasSubstr("file=/home/ci/repo/cases/x.yaml,"));
  result.file = "";
  EXPECT_THAT(write_annotations({{}, {result}}, ""), testing::StartsWith("::error title=a::"));
}

TEST(Annotations, AreAtMostEightAndACount) {
  std::vector<Result> results(20, failed("a"));
  results.push_back(simple_result("fine", Status::pass));
  results.push_back(simple_result("skipped", Status::unsupported));
  const std::string text = write_annotations({{}, results}, "");
  EXPECT_EQ(std::ranges::count(text, '\n'), 9);
  EXPECT_THAT(text, testing::EndsWith("::error title=Torchstone::and 12 more cases not as expected\n"));
  results.resize(8);
  EXPECT_EQ(std::ranges::count(write_annotations({{}, results}, ""), '\n'), 8);
}

TEST(Annotations, AreNoneWhenAllIsAsExpectedAndNothingNoisy) {
  EXPECT_EQ(write_annotations({{}, {simple_result("a", Status::pass)}}, ""), "");
}

TEST(Annotations, NameNoisySpeedUpsInANotice) {
  Result noisy = simple_result("suite/Performance.A/resnet18", Status::pass, "performance");
  noisy.outcome.metrics["speedup"] = 1.2;
  noisy.outcome.why_noisy = "the threads ran in different cache domains";
  EXPECT_EQ(write_annotations({{}, {noisy, simple_result("fine", Status::pass)}}, ""),
            "::notice title=Torchstone::1 speed-up is noisy, so its interval proves too little: resnet18\n");
  EXPECT_THAT(
      write_annotations({{}, std::vector<Result>(10, noisy)}, ""),
      testing::AllOf(testing::HasSubstr("10 speed-ups are noisy, so each interval proves too little: resnet18, "),
                     testing::EndsWith("resnet18 and 2 more\n")));
}

TEST(Annotations, StayOneLineEachWhateverTheTextSays) {
  for (const auto& result : sample_results()) {
    const std::string text = write_annotations({{}, {result}}, "");
    EXPECT_LE(std::ranges::count(text, '\n'), 1);
    EXPECT_EQ(text.find('\r'), std::string::npos);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace torchstone::write
