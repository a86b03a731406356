#include "cases/main/print_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchstone::listing {
namespace {

using testing::ElementsAre;

Case case_of(const std::string& model, const std::string& backend) {
  Case c;
  c.suite = "small";
  c.model = model;
  c.backend.name = backend;
  return c;
}

TEST(Programs, OfCasesThatDifferInBackendCheckOrToleranceAreOne) {
  std::vector<Case> cases{case_of("first", "eager"), case_of("second", "eager"), case_of("first", "inductor"),
                          case_of("first", "eager"), case_of("first", "eager"),  case_of("first", "eager")};
  cases[2].check = "performance";
  cases[2].tolerance = 1;
  cases[3].mode = Mode::training;
  cases[4].batch_size = 2;
  cases[5].dtype = DType::amp;
  EXPECT_THAT(groups_with_one_program(cases, {0, 1, 2, 3, 4, 5}),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1), ElementsAre(3), ElementsAre(4), ElementsAre(5)));
  EXPECT_THAT(groups_with_one_program(cases, {2, 0}), ElementsAre(ElementsAre(2, 0))) << "in the order selected";
}

TEST(Programs, ThatCannotBeCapturedHaveTheirStatusAndReason) {
  ListedProgram program{.cases = {"a", "b"}};
  program.failure = Outcome{};
  program.failure->status = Status::fail_to_capture;
  program.failure->reason = "control flow";
  program.failure->detail = "at net.py:3";
  program.failure->phase = "capture";
  EXPECT_EQ(to_text(program), "# a\n# b\nfail_to_capture: control flow\nat net.py:3\n");
  EXPECT_EQ(to_json(program).dump(), R"({"cases":["a","b"],"status":"fail_to_capture","reason":"control flow",)"
                                     R"("phase":"capture","detail":"at net.py:3"})");
}

TEST(Programs, StandUnderTheNamesOfTheirCases) {
  const auto description = nlohmann::json::parse(R"({"inputs": [], "constants": {}, "nodes": [], "outputs": [],
      "result": [], "parameters": {"tensors": 0, "elements": 0}, "buffers": {"tensors": 0, "elements": 0}})");
  const ListedProgram program{.cases = {"a"}, .description = description};
  EXPECT_EQ(to_text(program), "# a\ninputs:\nconstants:\nnodes:\noutputs:\n0 nodes; no parameters; no buffers\n");
  EXPECT_EQ(to_json(program).at("program"), nlohmann::ordered_json(description));
}

}  // namespace
}  // namespace torchstone::listing
