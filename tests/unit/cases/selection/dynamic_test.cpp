#include <gmock/gmock.h>

#include "cases/selection/expand.h"
#include "cases/settings/case_fields.h"
#include "tests/unit/cases/selection/expanded.h"

namespace torchstone::selection {
namespace {

using test::error_of;
using test::flags_of;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr auto first_accuracy = "Accuracy.CompiledMatchesEager/first_inference_float32_inductor_cpu";

std::vector<std::string> reasons_of(const Expansion& expansion) {
  std::vector<std::string> reasons;
  for (const auto& one : expansion.skipped) reasons.push_back(one.name + ": " + one.reason);
  return reasons;
}

TEST(DynamicSizes, AreOffUnlessAFlagOrASuiteAsks) {
  for (const auto& c : Expanded(two_rows).expansion.cases) EXPECT_EQ(c.dynamic, Dynamic::off) << name_of(c);
  const Expanded both(two_rows, {"--torchstone_dynamic=off,batch"});
  EXPECT_EQ(both.error, "");
  EXPECT_EQ(both.names().size(), 2 * Expanded(two_rows).names().size());
  EXPECT_EQ(both.at(std::string(first_accuracy) + "_dynamic_batch").dynamic, Dynamic::batch);
  const Expanded all(two_rows, {"--torchstone_dynamic=all"});
  EXPECT_EQ(all.names().size(), Expanded(two_rows).names().size());
  for (const auto& name : all.names()) EXPECT_TRUE(name.ends_with("_dynamic_all")) << name;
}

TEST(DynamicSizes, AreAKeyOfRowsAndDefaults) {
  const std::string head = "suite: small\ndefaults: {dynamic: batch, dynamic_range: 3..9}\nmatrix:\n";
  const Expanded suite(head +
                       "  - {checks: [accuracy], backends: [inductor]}\n"
                       "  - {checks: [accuracy], backends: [inductor], dynamic: [off, all]}\nmodels: [first]\n");
  EXPECT_EQ(suite.error, "");
  EXPECT_THAT(suite.names(), ElementsAre(std::string("small/") + first_accuracy + "_dynamic_batch",
                                         std::string("small/") + first_accuracy,
                                         std::string("small/") + first_accuracy + "_dynamic_all"));
  EXPECT_EQ(suite.expansion.cases[0].dynamic_range, (BatchRange{3, 9}));
  EXPECT_EQ(suite.expansion.cases[0].origin.at("dynamic").substr(suite.folder.path().size()), "/s.yaml:2");
  EXPECT_THAT(Expanded(head + "  - {checks: [accuracy], backends: [inductor], dynamic: on}\nmodels: [first]\n").error,
              HasSubstr("'on' is not a choice of dynamic sizes (expected one of off, batch, all"));
}

TEST(DynamicSizes, LeaveOutFixedBatchesAndChecksOfOneSize) {
  const std::string suite =
      "suite: small\nmatrix:\n  - {checks: [accuracy, tolerance], backends: [inductor]}\nmodels: [first, third.v2]\n";
  const Expanded dynamic(suite, {"--torchstone_dynamic=batch"});
  EXPECT_THAT(dynamic.names(), ElementsAre(std::string("small/") + first_accuracy + "_dynamic_batch"));
  const auto reasons = reasons_of(dynamic.expansion);
  EXPECT_THAT(reasons, SizeIs(3));
  EXPECT_THAT(reasons, Contains(HasSubstr("third_v2_inference_float32_inductor_cpu_dynamic_batch: its batch size is "
                                          "fixed, so it has no dynamic sizes")));
  EXPECT_THAT(reasons, Contains(HasSubstr("the check tolerance does not support dynamic sizes")));
  EXPECT_THAT(reasons_of(Expanded(suite).expansion), SizeIs(0));
}

TEST(DynamicSizes, OfAFixedBatchAreTheOthersThatTheModelDeclares) {
  ModelInfo alone = test::fake("alone", 1, 1, /*fixed=*/true), none = test::fake("none", 1, 1, /*fixed=*/true);
  alone.dimensions_alone = true;
  const Known known{{&alone, &none}, {"inductor"}};
  const std::string suite =
      "suite: small\nmatrix:\n  - {checks: [accuracy], backends: [inductor]}\nmodels: [alone, none]\n";
  const Expanded dynamic(suite, {"--torchstone_dynamic=batch,all"}, known);
  EXPECT_EQ(dynamic.error, "");
  ASSERT_THAT(dynamic.names(), ElementsAre(HasSubstr("/alone_inference_float32_inductor_cpu_dynamic_all")));
  EXPECT_EQ(dynamic.expansion.cases[0].batch_size, 1) << "not one of dynamic_range";
  EXPECT_THAT(reasons_of(dynamic.expansion),
              testing::UnorderedElementsAre(
                  HasSubstr("/alone_inference_float32_inductor_cpu_dynamic_batch: its batch size is fixed; "
                            "--torchstone_dynamic=all varies its other sizes"),
                  HasSubstr("_dynamic_batch: its batch size is fixed, so it has no dynamic sizes"),
                  HasSubstr("_dynamic_all: its batch size is fixed, and it declares no other dynamic size")));
  const Expanded nothing("suite: small\nmatrix:\n  - {checks: [accuracy], backends: [inductor]}\nmodels: [none]\n",
                         {"--torchstone_dynamic=all"}, known);
  EXPECT_THAT([&] { require_cases(nothing.expansion); },
              testing::ThrowsMessage<NothingSelected>(HasSubstr(
                  "no case (1 skipped: its batch size is fixed, and it declares no other dynamic size, see ")));
}

TEST(DynamicSizes, OfAnExportedFileWithAFixedBatchSayHowToExportIt) {
  ModelInfo exported = test::fake("exported", 1, 1, /*fixed=*/true);
  exported.file = "my.pt2";
  const Known known{{&exported}, {"inductor"}};
  const Expanded dynamic("suite: small\nmatrix:\n  - {checks: [accuracy], backends: [inductor]}\nmodels: [exported]\n",
                         {"--torchstone_dynamic=batch,all"}, known);
  EXPECT_THAT(
      reasons_of(dynamic.expansion),
      testing::AllOf(SizeIs(2), testing::Each(HasSubstr("torch.export.export(model, inputs, dynamic_shapes=({0: "
                                                        "torch.export.Dim(\"batch\")},))"))));
}

TEST(DynamicSizes, CompileForABatchOfTheRange) {
  const Expanded within(two_rows, {"--torchstone_dynamic=batch", "--torchstone_dynamic_range=5..7"});
  EXPECT_EQ(within.at(first_accuracy).batch_size, 5);
  EXPECT_THAT(within.at(first_accuracy).origin.at("batch_size"),
              HasSubstr("nearest of dynamic_range 5..7 to 4, by accuracy batch size of"));
  const Expanded above(two_rows, {"--torchstone_dynamic=batch", "--torchstone_batch_size=100"});
  EXPECT_EQ(above.at(first_accuracy).batch_size, 64);
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_batch_size=100"}).at(first_accuracy).batch_size, 100);
}

TEST(DynamicSizes, HaveARangeOfTwoNumbers) {
  EXPECT_EQ(parse_batch_range("2..64"), (BatchRange{2, 64}));
  EXPECT_EQ(to_string(BatchRange{1, 8}), "1..8");
  for (const char* wrong : {"", "2", "2..", "..4", "4..4", "5..4", "0..4", "-1..4", "2..4..6", "2...4", "a..b",
                            "2..1000001", "2..99999999999999999999", " 2..4"})
    EXPECT_FALSE(parse_batch_range(wrong)) << wrong;
  EXPECT_THAT(
      error_of([] { flags_of({"--torchstone_dynamic_range=64"}); }),
      HasSubstr("'64' is not a range of batch sizes (expected MINIMUM..MAXIMUM such as 2..64, at most 1000000)"));
}

TEST(DynamicSizes, DoNotMeetAStaticKnownFailure) {
  const std::string suite =
      "suite: small\nmatrix:\n  - {checks: [accuracy], backends: [inductor], expected: fail_accuracy, reason: known}\n"
      "models: [first]\n";
  const Expanded both(suite, {"--torchstone_dynamic=off,batch"});
  EXPECT_EQ(both.at(std::string(first_accuracy) + "_dynamic_batch").expected_status, Status::pass);
  EXPECT_EQ(both.expansion.cases[0].expected_status, Status::fail_accuracy);
}

}  // namespace
}  // namespace torchstone::selection
