#include <gmock/gmock.h>

#include "reports/record/summary.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

std::vector<std::string> chosen(const std::vector<Result>& results) {
  std::vector<std::string> words;
  for (const Result* result : one_of_each_name(results))
    words.push_back(result->name + " " + std::string(to_string(result->outcome.status)));
  return words;
}

TEST(Repetitions, OneThatIsNotAsExpectedStandsForTheCase) {
  EXPECT_THAT(chosen({simple_result("a", Status::fail_accuracy), simple_result("b", Status::pass),
                      simple_result("a", Status::pass), simple_result("b", Status::crash)}),
              testing::ElementsAre("a fail_accuracy", "b crash"));
  EXPECT_THAT(chosen({simple_result("a", Status::crash), simple_result("a", Status::fail_accuracy)}),
              testing::ElementsAre("a fail_accuracy"))
      << "the last of them";
  EXPECT_THAT(chosen({simple_result("a", Status::pass), simple_result("a", Status::uninformative),
                      simple_result("a", Status::pass_due_to_skip)}),
              testing::ElementsAre("a uninformative"));
}

}  // namespace
}  // namespace torchstone
