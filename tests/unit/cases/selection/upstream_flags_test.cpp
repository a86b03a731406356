// Counterparts of upstream's flags --no-skip, --fast and --ci (benchmarks/dynamo/common.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cases/selection/expand.h"
#include "cases/settings/policy.h"
#include "tests/unit/cases/support.h"

namespace torchstone::selection {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto suite_text =
    "suite: s\npolicy: p.yaml\nmatrix: [{checks: [accuracy], modes: [training], dtypes: [float32, bfloat16], "
    "backends: [eager]}]\nmodels: [first, second]\n";

struct Selected {
  test::Folder folder;
  Expansion expansion;

  Selected(const std::string& policy, std::vector<std::string> arguments, const std::string& suite = suite_text) {
    folder.write("p.yaml", policy);
    folder.write("s.yaml", suite);
    expansion =
        expand(suite::read_suites(folder.path() + "/s.yaml"), test::fake_known(), test::flags_of(std::move(arguments)));
  }
  std::vector<std::string> models() const {
    std::vector<std::string> names;
    for (const auto& c : expansion.cases)
      if (c.dtype == DType::float32) names.push_back(c.model);
    return names;
  }
  const Case& of(const std::string& model) const { return *std::ranges::find(expansion.cases, model, &Case::model); }
  std::vector<std::string> reasons() const {
    std::vector<std::string> found;
    for (const auto& skipped : expansion.skipped) found.push_back(skipped.reason + " " + skipped.origin);
    return found;
  }
};

TEST(NoSkip, RunsWhatTheListsOfModelsToSkipLeaveOutAndSaysWhichListItWas) {
  for (const char* list : {"skip: {all: [second]}", "skip: {device: {cpu: [second]}}",
                           "skip: {test: {training: [second]}}", "skip: {multiprocess: [second]}"}) {
    EXPECT_THAT(Selected(list, {}).models(), ElementsAre("first")) << list;
    const Selected all(list, {"--torchstone_no_skip"});
    EXPECT_THAT(all.models(), ElementsAre("first", "second")) << list;
    EXPECT_THAT(all.expansion.skipped, IsEmpty()) << list;
    EXPECT_THAT(all.of("second").skip_override.value_or(""), HasSubstr("(policy skip.")) << list;
    EXPECT_THAT(all.of("second").origin.at("skip_override"), EndsWith("p.yaml:1")) << list;
    EXPECT_FALSE(all.of("first").skip_override.has_value()) << list;
  }
}

TEST(NoSkip, ChangesNoDtypeAndExportsNoMoreThanUpstream) {
  const Selected narrow("only_fp32: [second]", {"--torchstone_no_skip"});
  EXPECT_THAT(narrow.reasons(), ElementsAre(HasSubstr("runs in float32 only")));
  EXPECT_FALSE(narrow.of("second").skip_override.has_value());
  const std::string exported =
      "suite: s\npolicy: p.yaml\nmatrix: [{checks: [accuracy], backends: [inductor]}]\nmodels: [first, second]\n";
  EXPECT_THAT(
      Selected("skip: {control_flow: [second]}", {"--torchstone_no_skip", "--torchstone_upstream_semantics"}, exported)
          .models(),
      ElementsAre("first"));
}

TEST(Fast, LeavesTheSlowModelsOutUnlessNothingIsSkipped) {
  const char* slow = "slow: [second]";
  EXPECT_THAT(Selected(slow, {}).models(), ElementsAre("first", "second"));
  const Selected fast(slow, {"--torchstone_fast"});
  EXPECT_THAT(fast.models(), ElementsAre("first"));
  EXPECT_THAT(fast.reasons(), testing::Each(HasSubstr("slow, skipped by --torchstone_fast (policy slow)")));
  EXPECT_THAT(fast.reasons(), testing::Each(EndsWith("p.yaml:1")));
  const Selected both(slow, {"--torchstone_fast", "--torchstone_no_skip"});
  EXPECT_THAT(both.models(), ElementsAre("first", "second"));
  EXPECT_THAT(both.of("second").skip_override.value_or(""), HasSubstr("(policy slow)"));
}

TEST(Fast, KnowsUpstreamsSlowModels) {
  const auto policy = policy::read_policy(TORCHSTONE_SOURCE_DIR "/cases/policies/torchbench.yaml", "torchbench");
  policy::Conditions conditions;
  conditions.fast = true;
  for (const char* model : {"BERT_pytorch", "demucs", "fastNLP_Bert", "speech_transformer", "vision_maskrcnn"}) {
    conditions.model = model;
    EXPECT_TRUE(exclusion(policy, conditions).has_value()) << model;
  }
  conditions.model = "resnet18";
  EXPECT_FALSE(exclusion(policy, conditions).has_value());
}

TEST(Ci, HoldsTheListsOfUpstreamsCiUnlessItIsTurnedOff) {
  const char* lists = "optimizer: {sgd_in_ci: [second]}";
  const Selected ci(lists, {});
  EXPECT_EQ(ci.of("second").optimizer, OptimizerKind::sgd);
  EXPECT_THAT(ci.of("second").origin.at("optimizer"), EndsWith("p.yaml:1 (optimizer.sgd_in_ci)"));
  EXPECT_EQ(ci.of("first").optimizer, OptimizerKind::adam);
  const Selected plain(lists, {"--torchstone_ci=false"});
  EXPECT_EQ(plain.of("second").optimizer, OptimizerKind::adam);
  EXPECT_EQ(plain.of("second").origin.at("ci"), "flag --torchstone_ci=false");
  const std::string by_suite =
      "suite: s\npolicy: p.yaml\ndefaults: {ci: false}\nmatrix: [{checks: [accuracy], modes: [training], backends: "
      "[eager]}]\nmodels: [first, second: {ci: true}]\n";
  EXPECT_EQ(Selected("optimizer: {sgd_in_ci: [first, second]}", {}, by_suite).of("first").optimizer,
            OptimizerKind::adam);
}

TEST(Ci, DecidesTheBatchOfTimmsAccuracyOnCuda) {
  const std::string of_cuda =
      "suite: s\npolicy: p.yaml\nmatrix: [{checks: [accuracy], modes: [training], backends: [inductor], devices: "
      "[cuda]}]\nmodels: [first]\n";
  const char* batch = "tolerance_rule: timm\nbatch_size: {ci_accuracy: {first: 32}}";
  EXPECT_EQ(Selected(batch, {}, of_cuda).of("first").batch_size, 32);
  EXPECT_EQ(Selected(batch, {"--torchstone_ci=false"}, of_cuda).of("first").batch_size, 8);
}

TEST(MemoryColumns, AreColdWithAColdStartUnlessSaidOtherwise) {
  EXPECT_TRUE(Selected("slow: []", {}).of("first").use_warm_peak_memory);
  const Selected cold("slow: []", {"--torchstone_cold_start_latency"});
  EXPECT_FALSE(cold.of("first").use_warm_peak_memory);
  EXPECT_THAT(cold.of("first").origin.at("use_warm_peak_memory"), HasSubstr("--torchstone_cold_start_latency"));
  EXPECT_TRUE(Selected("slow: []", {"--torchstone_cold_start_latency", "--torchstone_use_warm_peak_memory"})
                  .of("first")
                  .use_warm_peak_memory);
  EXPECT_FALSE(Selected("slow: []", {"--torchstone_use_warm_peak_memory=false"}).of("first").use_warm_peak_memory);
}

}  // namespace
}  // namespace torchstone::selection
