#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "cases/selection/expand.h"
#include "cases/selection/listing.h"
#include "cases/settings/suite.h"
#include "tests/unit/cases/support.h"

// Files and Python modules that are models of upstream's, expanded by the rows of the shipped suites own and python.

namespace torchstone::selection {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Expansion expanded_by(const std::string& suite, const ModelInfo& info, OwnDtype dtype,
                      std::vector<std::string> arguments) {
  const Known known{{&info}, {"eager", "inductor", "torchscript", "torch_compile"}, {{info.name, dtype}}};
  return expand({suite::read_suite(TORCHSTONE_SOURCE_DIR "/cases/suites/" + suite + ".yaml")}, known,
                test::flags_of(std::move(arguments)));
}

/// Returns the cases of a file with 2 samples.
Expansion of_file(std::optional<UpstreamModel> upstream, std::vector<std::string> arguments = {}) {
  ModelInfo info = test::fake("a_file", 2, 2, /*fixed=*/true);
  info.suites = {"own"};
  info.upstream = std::move(upstream);
  arguments.push_back("--torchstone_only=/a_file.pt2");
  return expanded_by("own", info, {DType::float32, DType::float32}, std::move(arguments));
}

/// Returns the cases of a module that a Python package makes.
Expansion of_module(std::optional<UpstreamModel> upstream, std::vector<std::string> arguments = {}) {
  ModelInfo info = test::fake("a_module", 0, 0);
  info.python = "timm:a_module";
  info.upstream = std::move(upstream);
  arguments.push_back("--torchstone_only=a_module");
  return expanded_by("python", info, {DType::as_written, DType::float32}, std::move(arguments));
}

const Case& case_of(const Expansion& expansion, const std::string& part) {
  for (const auto& c : expansion.cases)
    if (name_of(c).find(part) != std::string::npos) return c;
  throw std::out_of_range(part);
}

TEST(UpstreamModel, OfAFileIsJudgedByThePolicyOfItsSuite) {
  const Expansion cases = of_file(UpstreamModel{"huggingface", "OPTForCausalLM"});
  const Case& inference = case_of(cases, "CompiledMatchesEager/a_file_inference_float32_inductor");
  EXPECT_EQ(inference.policy, "huggingface");
  EXPECT_THAT(inference.origin.at("policy"), AllOf(HasSubstr("own.yaml:"), EndsWith(" for upstream's OPTForCausalLM")));
  EXPECT_EQ(inference.tolerance, 1e-3);
  EXPECT_THAT(inference.origin.at("tolerance"), HasSubstr("huggingface.yaml"));
  EXPECT_EQ(inference.batch_size, 2) << "a file has a fixed batch size";
  const Case& training = case_of(cases, "CompiledMatchesEager/a_file_training_float32_inductor");
  EXPECT_EQ(training.tolerance, 1e-2);
  EXPECT_EQ(training.optimizer, OptimizerKind::sgd);
  EXPECT_THAT(training.origin.at("optimizer"), HasSubstr("huggingface.yaml:"));
  EXPECT_FALSE(training.eval_in_training) << "only torchbench trains in eval mode";
}

TEST(UpstreamModel, IsNoFileThatNamesNoSuite) {
  const Expansion cases = of_file(std::nullopt);
  const Case& training = case_of(cases, "CompiledMatchesEager/a_file_training_float32_inductor");
  EXPECT_EQ(training.policy, "torchbench");
  EXPECT_THAT(training.origin.at("policy"), HasSubstr("own.yaml:"));
  EXPECT_EQ(training.tolerance, 1e-4);
  EXPECT_EQ(training.optimizer, OptimizerKind::adam);
  EXPECT_TRUE(training.eval_in_training);
  EXPECT_EQ(training.batch_size, 2);
}

TEST(UpstreamModel, OfAFileThatFixesTheModeCompilesItsTrainingOnceForBothChecks) {
  for (const bool fixed : {true, false}) {
    ModelInfo info = test::fake("a_file", 2, 2, /*fixed=*/true);
    info.suites = {"own"};
    info.fixed_mode = fixed;
    const Expansion cases =
        expanded_by("own", info, {DType::float32, DType::float32}, {"--torchstone_only=/a_file.pt2"});
    const Case& training = case_of(cases, "CompiledMatchesEager/a_file_training_float32_inductor");
    EXPECT_EQ(training.shares_timed_package, fixed) << "accuracy trains another program, in eval mode";
    EXPECT_EQ(training.eval_in_training, !fixed);
    EXPECT_TRUE(case_of(cases, "CompiledMatchesEager/a_file_inference_float32_inductor").shares_timed_package);
  }
}

TEST(UpstreamModel, OfPythonHasUpstreamsSettings) {
  const Expansion mini = of_module(UpstreamModel{"huggingface", "BertForMaskedLM"});
  const Case& training = case_of(mini, "CompiledMatchesEager/a_module_training");
  EXPECT_EQ(training.tolerance, 2e-2);
  EXPECT_EQ(training.optimizer, OptimizerKind::adam) << "upstream's optimizer, not the SGD of user modules";
  EXPECT_TRUE(training.larger_multiplier_for_smaller_tensor);
  EXPECT_EQ(training.batch_size, 1);
  const Expansion full = of_module(UpstreamModel{"huggingface", "BertForMaskedLM"}, {"--torchstone_presets=full"});
  EXPECT_EQ(case_of(full, "CompiledAgainstEager/a_module_inference").batch_size, 16) << "32 divided by 2";
  EXPECT_EQ(case_of(full, "CompiledMatchesEager/a_module_inference").batch_size, 1);
  const Expansion timm = of_module(UpstreamModel{"", "ghostnet_100"});
  EXPECT_EQ(case_of(timm, "CompiledMatchesEager/a_module_training").policy, "timm") << "upstream:ghostnet_100";
  EXPECT_EQ(case_of(timm, "CompiledMatchesEager/a_module_training").optimizer, OptimizerKind::sgd);
  const Case fixed = case_of(of_module(UpstreamModel{"torchbench", "maml_omniglot"}), "CompiledMatchesEager");
  EXPECT_EQ(fixed.batch_size, 5);
  EXPECT_TRUE(fixed.fixed_batch);
}

TEST(UpstreamModel, IsNoModuleOfAUsersOwn) {
  const Case training = case_of(of_module(std::nullopt), "CompiledMatchesEager/a_module_training");
  EXPECT_EQ(training.policy, "torchbench");
  EXPECT_EQ(training.tolerance, 1e-4);
  EXPECT_EQ(training.batch_size, 1);
  EXPECT_EQ(training.optimizer, OptimizerKind::sgd);
  EXPECT_THAT(training.origin.at("optimizer"), HasSubstr("python.yaml (default_optimizer)"));
}

TEST(OwnModule, DecidesItsBatchUnlessASettingStatesOne) {
  const auto case_by = [](std::vector<std::string> arguments) {
    return case_of(of_module(std::nullopt, std::move(arguments)), "CompiledMatchesEager/a_module_inference");
  };
  const Case own = case_by({});
  EXPECT_EQ(own.batch_source, BatchSource::module);
  EXPECT_EQ(known_batch(own), std::nullopt);
  EXPECT_THAT(listing::explanation({own}, "*"),
              testing::ContainsRegex("  batch_size +- +zoo.cpp: the default of get_example_inputs.., or 1 "));
  const Case asked = case_by({"--torchstone_batch_size=1"});
  EXPECT_EQ(asked.batch_source, BatchSource::stated);
  EXPECT_EQ(known_batch(asked), 1);
  EXPECT_THAT(listing::explanation({asked}, "*"),
              testing::ContainsRegex("  batch_size +1 +flag --torchstone_batch_size=1\n"));
  const test::Folder folder;
  const Case of_file = case_by({"--torchstone_batch_size_file=" + folder.write("sizes.txt", "a_module,3\n")});
  EXPECT_EQ(known_batch(of_file), 3);
}

TEST(OwnModule, TakesTheBatchOfASuite) {
  ModelInfo info = test::fake("a_module", 0, 0);
  info.python = "path:net.py,class:Net";
  const Known known{{&info}, {"eager"}, {{info.name, {DType::as_written, DType::float32}}}};
  const auto expanded = [&](const std::string& defaults, std::vector<std::string> arguments = {}) {
    const test::Folder folder;
    arguments.push_back("--torchstone_only=a_module");
    return expand({suite::read_suite(folder.write(
                      "s.yaml", "suite: s\nown_modules: true\ndefaults: {" + defaults +
                                    "}\nmatrix: [{checks: [accuracy], dtypes: [own], backends: [eager]}]\n"))},
                  known, test::flags_of(std::move(arguments)));
  };
  EXPECT_EQ(known_batch(case_of(expanded("batch_size: 5"), "a_module")), 5);
  EXPECT_EQ(known_batch(case_of(expanded("seed: 5"), "a_module")), std::nullopt);
  const Case dynamic = case_of(expanded("dynamic_range: 4..9", {"--torchstone_dynamic=batch"}), "a_module");
  EXPECT_EQ(dynamic.batch_source, BatchSource::module);
  EXPECT_EQ(dynamic.batch_size, 4) << "the batch size of modules without a default";
  EXPECT_THAT(dynamic.origin.at("batch_size"), EndsWith("or 1 without one, moved into dynamic_range 4..9"));
}

TEST(OwnModel, IsJudgedByRoundingToo) {
  const Expansion file = of_file(std::nullopt), module = of_module(std::nullopt);
  for (const Expansion* cases : {&file, &module}) {
    const Case& accuracy = case_of(*cases, "CompiledMatchesEager");
    EXPECT_EQ(accuracy.judge, Judge::both);
    EXPECT_THAT(accuracy.origin.at("judge"), HasSubstr(".yaml:"));
    EXPECT_EQ(case_of(*cases, "CompiledAgainstEager").judge, Judge::upstream);
  }
  EXPECT_EQ(case_of(of_file(std::nullopt, {"--torchstone_judge=upstream"}), "CompiledMatchesEager").judge,
            Judge::upstream);
}

TEST(UpstreamModel, KeepsAndChangesDtypesAsUpstreamDoes) {
  const UpstreamModel only_float32{"huggingface", "GoogleFnet"};
  EXPECT_THAT(of_module(only_float32).cases, SizeIs(4)) << "the dtype as written is float32";
  const Expansion none = of_module(only_float32, {"--torchstone_dtypes=bfloat16"});
  EXPECT_THAT(none.cases, IsEmpty());
  EXPECT_THAT(none.skipped.at(0).reason, HasSubstr("only_fp32"));
  EXPECT_THAT(none.skipped.at(0).origin, HasSubstr("huggingface.yaml:"));
  EXPECT_THAT(test::error_of([&] { require_cases(none); }), testing::Not(HasSubstr("no_skip")))
      << "the case would not run with this flag either";
  const Expansion forced =
      of_file(UpstreamModel{"torchbench", "doctr_det_predictor"}, {"--torchstone_dtypes=bfloat16"});
  EXPECT_EQ(case_of(forced, "CompiledMatchesEager").dtype, DType::amp);
}

TEST(UpstreamModel, IsSkippedWhereUpstreamSkipsIt) {
  const UpstreamModel skipped{"torchbench", "hf_Bert"};
  EXPECT_THAT(of_file(skipped).cases, IsEmpty());
  EXPECT_THAT(of_file(skipped).skipped.at(0).reason, HasSubstr("skip.all"));
  EXPECT_THAT(test::error_of([&] { require_cases(of_file(skipped)); }),
              AllOf(HasSubstr("8 skipped: not run anywhere (policy skip.all), see --torchstone_list=skipped"),
                    HasSubstr("; --torchstone_no_skip runs them)")));
  const Expansion all = of_file(skipped, {"--torchstone_no_skip"});
  EXPECT_THAT(case_of(all, "CompiledMatchesEager").skip_override, testing::Optional(HasSubstr("skip.all")));
}

TEST(UpstreamModel, HasTheTolerancesOfFreezingAndTheMasks) {
  const Expansion frozen =
      of_file(UpstreamModel{"timm", "adv_inception_v3"}, {"--torchstone_backends=inductor:freezing=true"});
  EXPECT_EQ(case_of(frozen, "CompiledMatchesEager/a_file_inference").tolerance, 8e-2);
  const Expansion sam = of_file(UpstreamModel{"torchbench", "sam"}, {"--torchstone_no_skip"});
  EXPECT_EQ(case_of(sam, "CompiledMatchesEager/a_file_inference").iou_threshold, 0.95);
  EXPECT_EQ(case_of(sam, "CompiledMatchesEager/a_file_inference").accuracy_check_runs, 5);
}

}  // namespace
}  // namespace torchstone::selection
