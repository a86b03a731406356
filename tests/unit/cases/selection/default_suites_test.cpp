#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "cases/selection/expand.h"
#include "models/core/registry.h"
#include "tests/unit/cases/selection/expanded.h"

namespace torchstone::selection {
namespace {

using test::flags_of;

TEST(CaseNames, UseOnlyWhatCtestAndGoogleTestPass) {
  const Expanded all(two_rows,
                     {"--torchstone_backends=inductor:cpp.threads=2,inductor", "--torchstone_devices=cuda:0,cpu"});
  EXPECT_FALSE(all.names().empty());
  for (const auto& name : all.names())
    EXPECT_THAT(name, testing::MatchesRegex("[A-Za-z0-9_]+/[A-Za-z]+\\.[A-Za-z]+/[A-Za-z0-9_]+"));
}

/// How many cases compare a model in float32 inference with this backend.
size_t float32_cases(const Expansion& expansion, const std::string& backend) {
  return static_cast<size_t>(std::count_if(expansion.cases.begin(), expansion.cases.end(), [&](const Case& c) {
    return c.check == "accuracy" && c.mode == Mode::inference && c.dtype == DType::float32 && c.backend.name == backend;
  }));
}

/// The shipped suites without fastrnns, which has rules of its own and borrows models of others.
std::vector<suite::Suite> suites_of_the_zoo() {
  auto suites = suite::read_suites("");
  std::erase_if(suites, [](const suite::Suite& suite) { return suite.name == "fastrnns"; });
  return suites;
}

// The shipped suites against the models of this program. Every model that is missing is named.
TEST(DefaultSuites, ListTheZooAndCompareEachModelWithTwoBackends) {
  const auto suites = suites_of_the_zoo();
  std::set<std::string> listed, missing, unlisted;
  for (const auto& suite : suites) {
    for (const auto& model : suite.models) {
      listed.insert(model.name);
      const auto* info = find_model(model.name);
      if (!info || std::find(info->suites.begin(), info->suites.end(), suite.name) == info->suites.end())
        missing.insert(suite.name + " " + model.name);
    }
  }
  EXPECT_THAT(missing, testing::IsEmpty()) << "the registry lacks models that the suites list";
  const std::vector<std::string> of_a_log{"operators"};  // registered by a test that read one
  for (const auto* info : all_models())
    if (!listed.count(info->name) && info->name != "test_only_model" && info->family != "lstm" &&
        info->suites != of_a_log)
      unlisted.insert(info->name);
  EXPECT_THAT(unlisted, testing::IsEmpty()) << "no suite lists these models";
  if (!missing.empty()) return;
  const Expansion expansion = expand(suites, {all_models(), {"eager", "inductor", "torchscript"}}, flags_of({}));
  EXPECT_EQ(float32_cases(expansion, "torchscript"), listed.size());
  EXPECT_EQ(float32_cases(expansion, "inductor"), listed.size());
  EXPECT_EQ(expansion.skipped.size(), 0U);
}

TEST(DefaultSuites, FastrnnsHasEveryRunnerAndUpstreamsConvolutionalNetworks) {
  auto suites = suite::read_suites("");
  std::erase_if(suites, [](const suite::Suite& suite) { return suite.name != "fastrnns"; });
  ASSERT_EQ(suites.size(), 1U);
  std::set<std::string> listed, runners{"resnet18", "resnet50"};
  for (const auto& model : suites[0].models) listed.insert(model.name);
  for (const auto* info : all_models())
    if (info->family == "lstm") runners.insert(info->name);
  EXPECT_EQ(listed, runners);
  const Known known{all_models(), {"eager", "inductor", "nn_lstm", "torchscript"}};
  const Expansion expansion = expand(suites, known, flags_of({}));
  EXPECT_EQ(float32_cases(expansion, "nn_lstm"), 11U);
  for (const auto& c : expansion.cases) {
    if (c.backend.name == "nn_lstm") {
      EXPECT_EQ(c.tolerance, 0.001) << name_of(c);
    }
  }
}

// The same without the zoo: a stand-in for each listed model.
TEST(DefaultSuites, ExpandWithStandIns) {
  const auto suites = suites_of_the_zoo();
  std::vector<ModelInfo> infos;
  for (const auto& suite : suites)
    for (const auto& model : suite.models)
      infos.push_back(test::fake(model.name, 16, 8, model.name == "soft_actor_critic"));
  Known known{{}, {"eager", "inductor", "torchscript"}};
  for (const auto& info : infos) known.models.push_back(&info);
  const Expansion expansion = expand(suites, known, flags_of({}));
  EXPECT_EQ(float32_cases(expansion, "inductor"), infos.size());
  EXPECT_EQ(expansion.skipped.size(), 0U);
  for (const auto& c : expansion.cases) {
    const bool fixed =
        c.model == "soft_actor_critic" || c.model == "demucs" || c.model == "pyhpc_turbulent_kinetic_energy";
    const int64_t expected = fixed                       ? (c.mode == Mode::training ? 16 : 8)
                             : c.suite == "huggingface"  ? 1
                             : c.suite == "timm"         ? 8
                             : c.model == "pytorch_unet" ? 2
                                                         : 4;
    EXPECT_EQ(c.batch_size, expected) << name_of(c);
  }
  const Expansion full = expand(
      suites, known,
      flags_of({"--torchstone_preset=full", "--torchstone_checks=performance", "--torchstone_only=BertForMaskedLM"}));
  ASSERT_EQ(full.cases.size(), 1U);
  EXPECT_EQ(full.cases[0].batch_size, 4);
}

}  // namespace
}  // namespace torchstone::selection
