#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "reports/record/result_json.h"
#include "reports/record/verdict.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Result known_failure(double error) {
  Result r = simple_result("S/Accuracy.C/model", Status::fail_accuracy);
  r.expected = "fail_accuracy";
  r.max_error = 3;
  r.outcome.reason = "wrong";
  r.outcome.metrics["error_of_limit"] = error;
  r.outcome.notes["expected_because"] = "a bug, https://x/1, e.yaml:1";
  return r;
}

TEST(AKnownFailure, PrintsItsReasonAndIssue) {
  const std::string row = console_row(known_failure(2.9), /*color=*/false);
  EXPECT_THAT(row, AllOf(HasSubstr("XFAIL"), HasSubstr("fail_accuracy: wrong\n"),
                         HasSubstr("\n             expected: a bug, https://x/1, e.yaml:1")));
  EXPECT_THAT(row, Not(HasSubstr("again: ")));
  EXPECT_THAT(console_row(simple_result("S/Accuracy.C/model", Status::fail_accuracy), false),
              Not(HasSubstr("expected")));
}

TEST(AKnownFailure, WithALargerErrorThanItsBoundIsRed) {
  EXPECT_TRUE(known_failure(3).as_expected());
  const Result worse = known_failure(3.01);
  EXPECT_FALSE(worse.as_expected());
  EXPECT_EQ(verdict_of(worse).word, "FAIL");
  EXPECT_THAT(console_row(worse, false),
              AllOf(HasSubstr("fail_accuracy, expected fail_accuracy up to 3×"), HasSubstr("\n             again: ")));
  Result other = known_failure(2);
  other.outcome.status = Status::crash;
  EXPECT_FALSE(other.as_expected());
  EXPECT_FALSE(other.exceeds_max_error()) << "the result has another status";
}

TEST(AKnownFailure, KeepsItsBoundInRecords) {
  const auto read = nlohmann::json(known_failure(5)).get<Result>();
  EXPECT_EQ(read.max_error, 3);
  EXPECT_FALSE(read.as_expected());
  EXPECT_FALSE(nlohmann::json(simple_result("a", Status::pass)).contains("max_error"));
}

}  // namespace
}  // namespace torchstone
