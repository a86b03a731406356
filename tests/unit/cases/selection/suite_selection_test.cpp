#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "cases/selection/expand.h"
#include "models/core/model_registry.h"
#include "tests/temporary_folder.h"
#include "tests/unit/cases/selection/expanded.h"

namespace torchstone::selection {
namespace {

using test::flags_of;
using testing::ElementsAre;

TEST(Expand, OnlyTakesAModelThatNoSuiteLists) {
  const Expanded third(two_rows, {"--torchstone_only=third.v2", "--torchstone_checks=performance"});
  EXPECT_THAT(third.names(),
              ElementsAre("small/Performance.CompiledAgainstEager/third_v2_inference_float32_inductor_cpu"));
  EXPECT_EQ(third.at("third").batch_size, 1);
  EXPECT_EQ(third.at("third").file, "zoo.cpp");
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_only=thrid.v2"}).error,
            "flag --torchstone_only=thrid.v2: unknown model thrid.v2 (expected one of first, second, third.v2; did you "
            "mean third.v2?)");
}

TEST(Expand, OnlyRunsTheRowsThatAreKeptToOtherModelsForBrevity) {
  const std::string rows =
      "suite: small\nmatrix:\n  - {checks: [accuracy], backends: [inductor]}\n"
      "  - {checks: [performance], backends: [inductor], models: [first]}\n"
      "  - {checks: [performance], backends: [eager], models: [first]}\n"
      "  - {checks: [performance], backends: [torchscript], models: [first], required_speedup: 2}\n"
      "models: [first, second]\n";
  EXPECT_EQ(Expanded(rows).names().size(), 2U + 3U);
  // Leaves out the control, and the row whose required speed-up was measured on `first`.
  EXPECT_THAT(Expanded(rows, {"--torchstone_only=second"}).names(),
              ElementsAre("small/Accuracy.CompiledMatchesEager/second_inference_float32_inductor_cpu",
                          "small/Performance.CompiledAgainstEager/second_inference_float32_inductor_cpu"));
  EXPECT_EQ(Expanded(rows, {"--torchstone_only=first"}).names().size(), 1U + 3U);
}

TEST(Expand, OnlyRunsACombinationOnceWhoseModelsAreSharedOutAmongRows) {
  const std::string rows =
      "suite: small\nmatrix:\n  - {checks: [accuracy], backends: [torchscript, inductor], models: [first]}\n"
      "  - {checks: [accuracy], backends: [torchscript], models: [second]}\nmodels: [first, second]\n";
  EXPECT_THAT(Expanded(rows, {"--torchstone_only=third.v2"}).names(),
              ElementsAre("small/Accuracy.CompiledMatchesEager/third_v2_inference_float32_torchscript_cpu",
                          "small/Accuracy.CompiledMatchesEager/third_v2_inference_float32_inductor_cpu"));
}

inline constexpr auto for_files =
    "suite: own\nown_files: true\nmatrix:\n"
    "  - {checks: [accuracy, performance], modes: [inference, training], backends: [inductor]}\n";

/// Returns the known models and a file with 8 samples. `not_trained` is the reason why it cannot be trained, or empty.
Known known_file(const std::string& file, const std::string& not_trained) {
  static ModelInfo info;
  info = test::fake("my_net", 8, 8);
  info.suites = {"own"};
  info.file = file;
  info.not_trained = not_trained;
  Known known = test::fake_known();
  known.models.push_back(&info);
  return known;
}

TEST(Expand, AFileRunsByTheRowsForFilesWithItsOwnBatch) {
  const Known known = known_file("/my-net.pt2", "");
  const Expanded all(for_files, {"--torchstone_only=/my-net.pt2"}, known);
  EXPECT_THAT(all.names(), ElementsAre("own/Accuracy.CompiledMatchesEager/my_net_inference_float32_inductor_cpu",
                                       "own/Accuracy.CompiledMatchesEager/my_net_training_float32_inductor_cpu",
                                       "own/Performance.CompiledAgainstEager/my_net_inference_float32_inductor_cpu",
                                       "own/Performance.CompiledAgainstEager/my_net_training_float32_inductor_cpu"));
  EXPECT_EQ(all.at("Accuracy").batch_size, 8);
  const Expanded other(for_files, {"--torchstone_only=/my-net.pt2", "--torchstone_batch_size=3"}, known);
  EXPECT_EQ(other.at("Accuracy").batch_size, 3);
}

TEST(Expand, AccuracyOfAFileSharesThePackageOfTheTimedCase) {
  const auto shares = [](const std::string& rows, const std::vector<std::string>& further) {
    std::vector<std::string> arguments{"--torchstone_only=/my-net.pt2"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return Expanded(rows, arguments, known_file("/my-net.pt2", "")).at("Accuracy").shares_timed_package;
  };
  EXPECT_TRUE(shares(for_files, {}));
  EXPECT_FALSE(shares(for_files, {"--torchstone_checks=accuracy"})) << "nothing is timed";
  EXPECT_FALSE(shares(for_files, {"--torchstone_deterministic=true"}));
  EXPECT_FALSE(shares(for_files, {"--torchstone_upstream_semantics=true"}));
  const std::string on_cuda =
      "suite: own\nown_files: true\nmatrix:\n"
      "  - {checks: [accuracy, performance], backends: [inductor], devices: [cuda]}\n";
  EXPECT_FALSE(shares(on_cuda, {})) << "accuracy has no TF32";
  const std::string of_another_batch =
      "suite: own\nown_files: true\nmatrix:\n"
      "  - {checks: [accuracy], backends: [inductor]}\n"
      "  - {checks: [performance], backends: [inductor], batch_size: 4}\n";
  EXPECT_FALSE(shares(of_another_batch, {}));
  EXPECT_FALSE(shares(for_files, {"--torchstone_cold_start_latency=true"}))
      << "such a case compiles into its own cache";
  const Expanded zoo(
      "suite: small\nmatrix:\n  - {checks: [accuracy, performance], backends: [inductor]}\nmodels: [first]\n");
  EXPECT_FALSE(zoo.at("Accuracy").shares_timed_package) << "compiled for deterministic algorithms";
}

TEST(Expand, AFileRunsInItsOwnDtypeUnlessAFlagAsksForAnother) {
  const std::string rows =
      "suite: own\nown_files: true\nmatrix:\n"
      "  - {checks: [accuracy], dtypes: [own], backends: [inductor]}\n";
  Known known = known_file("/my-net.pt2", "");
  const auto dtypes = [&](const std::vector<std::string>& further = {}) {
    std::vector<std::string> arguments{"--torchstone_only=/my-net.pt2"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    std::vector<std::string> found;
    for (const auto& c : Expanded(rows, arguments, known).expansion.cases) found.emplace_back(to_string(c.dtype));
    return found;
  };
  EXPECT_THAT(dtypes(), ElementsAre("float32")) << "without a floating dtype, float32 is used";
  known.dtypes["my_net"] = {DType::bfloat16, DType::bfloat16};
  EXPECT_THAT(dtypes(), ElementsAre("bfloat16"));
  EXPECT_THAT(Expanded(rows, {"--torchstone_only=/my-net.pt2"}, known).names(),
              ElementsAre("own/Accuracy.CompiledMatchesEager/my_net_inference_bfloat16_inductor_cpu"));
  EXPECT_THAT(dtypes({"--torchstone_dtypes=float32"}), ElementsAre("float32"));
  EXPECT_THAT(dtypes({"--torchstone_dtypes=bfloat16,amp"}), ElementsAre("bfloat16", "amp"));
  const std::string both =
      "suite: own\nown_files: true\nmatrix:\n"
      "  - {checks: [accuracy], dtypes: [float32, own], backends: [inductor]}\n";
  EXPECT_EQ(Expanded(both, {"--torchstone_only=/my-net.pt2"}, known).names().size(), 2U);
  EXPECT_THAT(Expanded("suite: small\nmatrix:\n  - {checks: [accuracy], dtypes: [own], backends: [inductor]}\n"
                       "models: [first]\n")
                  .error,
              testing::HasSubstr("own"))
      << "a model of the zoo has no dtype of its own";
}

TEST(Expand, AFileOfSeveralDtypesRunsAsWrittenByTheRulesOfItsLoosest) {
  const std::string rows =
      "suite: own\nown_files: true\nmatrix:\n"
      "  - {checks: [accuracy], modes: [training], dtypes: [own], backends: [inductor]}\n";
  Known known = known_file("/my-net.pt2", "");
  const auto only_case = [&](selection::OwnDtype own, const std::vector<std::string>& further = {}) {
    known.dtypes["my_net"] = own;
    std::vector<std::string> arguments{"--torchstone_only=/my-net.pt2"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    const Expanded expanded(rows, arguments, known);
    EXPECT_THAT(expanded.expansion.cases, testing::SizeIs(1)) << expanded.error;
    return expanded.expansion.cases.at(0);
  };
  const Case half = only_case({DType::as_written, DType::float16});
  EXPECT_EQ(name_of(half), "own/Accuracy.CompiledMatchesEager/my_net_training_as_written_inductor_cpu");
  EXPECT_EQ(half.tolerance, 1e-3);
  EXPECT_TRUE(half.equal_nan);
  EXPECT_EQ(half.optimizer, OptimizerKind::sgd) << "the same optimizer as in float16";
  const Case wide = only_case({DType::as_written, DType::float32});
  EXPECT_EQ(wide.tolerance, 1e-4);
  EXPECT_FALSE(wide.equal_nan);
  EXPECT_EQ(wide.optimizer, OptimizerKind::adam);
  const Case twice = only_case({DType::float64, DType::float64});
  EXPECT_EQ(twice.dtype, DType::float64);
  EXPECT_FALSE(twice.equal_nan);
  EXPECT_EQ(only_case({DType::as_written, DType::float16}, {"--torchstone_dtypes=float64"}).dtype, DType::float64);
  EXPECT_THAT(Expanded(rows, {"--torchstone_only=/my-net.pt2", "--torchstone_dtypes=as_written"}, known).error,
              testing::HasSubstr("is not a dtype"));
}

TEST(Expand, AFileThatCannotBeTrainedHasNoRowsOfTrainingUnlessTheyAreAskedFor) {
  const Known known = known_file("/my-net.pt2", "it holds no parameters");
  const Expanded all(for_files, {"--torchstone_only=/my-net.pt2"}, known);
  EXPECT_EQ(all.names().size(), 2U);
  ASSERT_EQ(all.expansion.skipped.size(), 2U);
  EXPECT_EQ(all.expansion.skipped[0].reason, "it holds no parameters");
  EXPECT_EQ(all.expansion.skipped[0].origin, "/my-net.pt2");
  const Expanded asked(for_files, {"--torchstone_only=/my-net.pt2", "--torchstone_modes=training"}, known);
  EXPECT_EQ(asked.names().size(), 2U);
}

TEST(Expand, SuitesForFilesRunNothingElseAndFilesRunInNoOtherSuite) {
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_only=/my-net.pt2"}, known_file("/my-net.pt2", "")).error,
            "flag --torchstone_only=/my-net.pt2: a file needs a suite with the key own_files, such as the program's "
            "suite own, and none is selected");
  EXPECT_EQ(
      Expanded(for_files, {"--torchstone_only=first"}).error,
      "flag --torchstone_only=first: suites with the key own_files or own_modules run models of --torchstone_only, and "
      "no other suite is selected");
  EXPECT_THAT(Expanded(for_files).names(), testing::IsEmpty());
  EXPECT_THAT(Expanded(std::string(for_files) + "models: [first]\n").error,
              testing::HasSubstr("a suite with own_files must not list models: --torchstone_only names them"));
}

TEST(Expand, APythonModuleRunsAsWrittenByTheRowsForModules) {
  constexpr const char* for_modules =
      "suite: python\nown_modules: true\nmatrix:\n"
      "  - {checks: [accuracy], modes: [training], dtypes: [own], backends: [inductor]}\n";
  ModelInfo info = test::fake("Net", 0, 0);
  info.python = "path:/net.py,class:Net";
  Known known = test::fake_known();
  known.models.push_back(&info);
  known.dtypes["Net"] = {DType::as_written, DType::float32};
  const Expanded all(for_modules, {"--torchstone_only=Net"}, known);
  EXPECT_THAT(all.names(), ElementsAre("python/Accuracy.CompiledMatchesEager/Net_training_as_written_inductor_cpu"));
  EXPECT_EQ(all.at("Accuracy").tolerance, 1e-4);
  EXPECT_EQ(all.at("Accuracy").float16_tolerance, 1e-3);
  EXPECT_FALSE(all.at("Accuracy").equal_nan);
  EXPECT_EQ(all.at("Accuracy").narrow_equal_nan, true);
  const Expanded strict(for_modules, {"--torchstone_only=Net", "--torchstone_equal_nan=false"}, known);
  EXPECT_FALSE(strict.at("Accuracy").narrow_equal_nan) << "the user's choice holds for every dtype";
  const Expanded loose(for_modules, {"--torchstone_only=Net", "--torchstone_tolerance=0.5"}, known);
  EXPECT_EQ(loose.at("Accuracy").tolerance, 0.5);
  EXPECT_FALSE(loose.at("Accuracy").float16_tolerance) << "a tolerance of the user holds for every dtype";
  EXPECT_THAT(Expanded(for_modules, {"--torchstone_only=first"}, known).error,
              testing::HasSubstr("suites with the key own_files or own_modules"));
  EXPECT_THAT(Expanded(two_rows, {"--torchstone_only=Net"}, known).error,
              testing::HasSubstr("a Python module needs a suite with the key own_modules"));
}

TEST(Expand, OnlyNamesAFileByItsStem) {
  const std::string file = flags_of({"--torchstone_only=dir/my-net.v2.pt"}).only.at(0).value;
  EXPECT_TRUE(file.starts_with("/"));
  EXPECT_TRUE(only_is_file(file));
  EXPECT_EQ(only_model(file), "my_net_v2");
  EXPECT_FALSE(only_is_file("resnet18"));
  EXPECT_TRUE(only_is_file("net.pt2"));
  const test::Folder folder;
  folder.write("big-net.v2/eval.pt2", "");
  EXPECT_EQ(only_model(folder.path() + "/big-net.v2/"), "big_net_v2");
  // The zoo has another model named resnet18.
  EXPECT_EQ(only_model("resnet18.pt"), "resnet18_file");
}

TEST(Expand, OnlySeveralModelsGivesTheCasesOfEach) {
  const auto names = [](const std::vector<std::string>& models) {
    std::vector<std::string> arguments;
    for (const auto& model : models) arguments.push_back("--torchstone_only=" + model);
    return Expanded(two_rows, arguments).names();
  };
  auto both = names({"first"});
  const auto second = names({"second"});
  ASSERT_FALSE(second.empty());
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_EQ(names({"first", "second"}), both);
  EXPECT_EQ(names({"second", "second"}), second);
  EXPECT_THAT(
      Expanded(two_rows, {"--torchstone_only=first,second"}).error,
      testing::HasSubstr("unknown model first,second (expected one model; give --torchstone_only several times"));
  EXPECT_THAT(Expanded(two_rows, {"--torchstone_only=first", "--torchstone_only=third_"}).error,
              testing::HasSubstr("--torchstone_only=third_: unknown model third_"));
  const TemporaryFolder folder;
  EXPECT_THAT(
      Expanded(two_rows, {"--torchstone_only=" + folder.path().string()}).error,
      testing::HasSubstr(folder.path().string() + ": a folder without a program (expected eval.pt2, train.pt2"));
  std::string long_list = "first";  // longer than the file system allows for a name
  while (long_list.size() < 300) long_list += ",second";
  EXPECT_THAT(Expanded(two_rows, {"--torchstone_only=" + long_list}).error, testing::HasSubstr("expected one model;"));
}

TEST(CaseNames, UseOnlyWhatCtestAndGoogleTestPass) {
  const Expanded all(two_rows,
                     {"--torchstone_backends=inductor:cpp.threads=2,inductor", "--torchstone_devices=cuda:0,cpu"});
  EXPECT_FALSE(all.names().empty());
  for (const auto& name : all.names())
    EXPECT_THAT(name, testing::MatchesRegex("[A-Za-z0-9_]+/[A-Za-z]+\\.[A-Za-z]+/[A-Za-z0-9_]+"));
}

/// Returns the number of accuracy cases in float32 inference with this backend.
size_t float32_cases(const Expansion& expansion, const std::string& backend) {
  return static_cast<size_t>(std::count_if(expansion.cases.begin(), expansion.cases.end(), [&](const Case& c) {
    return c.check == "accuracy" && c.mode == Mode::inference && c.dtype == DType::float32 && c.backend.name == backend;
  }));
}

/// Returns the shipped suites that list models of the zoo. Leaves out fastrnns, which has its own rules and borrows
/// models of other suites.
std::vector<suite::Suite> suites_of_the_zoo() {
  auto suites = suite::read_suites("");
  std::erase_if(suites, [](const suite::Suite& suite) { return suite.name == "fastrnns" || suite.own_modules; });
  return suites;
}

/// Registered models that no suite lists, so that the default set stays short. --torchstone_only runs them.
const std::set<std::string> by_name_only{"AlbertForMaskedLM",
                                         "AlbertForQuestionAnswering",
                                         "BartForCausalLM",
                                         "BartForConditionalGeneration",
                                         "BertForQuestionAnswering",
                                         "BlenderbotSmallForCausalLM",
                                         "BlenderbotSmallForConditionalGeneration",
                                         "DebertaV2ForMaskedLM",
                                         "DebertaV2ForQuestionAnswering",
                                         "DistilBertForQuestionAnswering",
                                         "ElectraForCausalLM",
                                         "ElectraForQuestionAnswering",
                                         "LayoutLMForSequenceClassification",
                                         "LearningToPaint",
                                         "M2M100ForConditionalGeneration",
                                         "MBartForCausalLM",
                                         "MBartForConditionalGeneration",
                                         "MT5ForConditionalGeneration",
                                         "MegatronBertForCausalLM",
                                         "MegatronBertForQuestionAnswering",
                                         "MobileBertForMaskedLM",
                                         "MobileBertForQuestionAnswering",
                                         "OPTForCausalLM",
                                         "PLBartForCausalLM",
                                         "PLBartForConditionalGeneration",
                                         "PegasusForCausalLM",
                                         "PegasusForConditionalGeneration",
                                         "RobertaForQuestionAnswering",
                                         "TrOCRForCausalLM",
                                         "XGLMForCausalLM",
                                         "XLNetLMHeadModel",
                                         "basic_gnn_edgecnn",
                                         "basic_gnn_gat",
                                         "cait_m36_384",
                                         "coat_lite_mini",
                                         "convit_base",
                                         "crossvit_9_240",
                                         "cspdarknet53",
                                         "dm_nfnet_f0",
                                         "ese_vovnet19b_dw",
                                         "fbnetc_100",
                                         "fbnetv3_b",
                                         "functorch_dp_cifar10",
                                         "functorch_maml_omniglot",
                                         "gemma3_decode",
                                         "gemma3_prefill",
                                         "ghostnet_100",
                                         "gmixer_24_224",
                                         "gpt_oss_decode",
                                         "gpt_oss_prefill",
                                         "hf_Bart",
                                         "hf_Bert_large",
                                         "hf_GPT2",
                                         "hf_GPT2_large",
                                         "hf_Roberta_base",
                                         "hf_T5_base",
                                         "hf_T5_large",
                                         "hf_Whisper",
                                         "hf_clip",
                                         "hf_distil_whisper",
                                         "jx_nest_base",
                                         "lcnet_050",
                                         "llama",
                                         "mamba2_decode",
                                         "mamba2_prefill",
                                         "maml_omniglot",
                                         "mistral_decode",
                                         "mistral_prefill",
                                         "mixnet_l",
                                         "phi4_mini_decode",
                                         "phi4_mini_prefill",
                                         "phlippe_densenet",
                                         "phlippe_resnet",
                                         "pit_b_224",
                                         "poolformer_m36",
                                         "pyhpc_isoneutral_mixing",
                                         "qwen3_5_decode",
                                         "qwen3_5_prefill",
                                         "qwen3_decode",
                                         "qwen3_prefill",
                                         "res2net101_26w_4s",
                                         "res2net50_14w_8s",
                                         "res2next50",
                                         "rexnet_100",
                                         "sam_vit_base",
                                         "sd3_transformer",
                                         "stable_diffusion_15_unet",
                                         "stable_diffusion_unet",
                                         "swsl_resnext101_32x16d",
                                         "t5_decode",
                                         "tf_mixnet_l",
                                         "timm_nfnet",
                                         "timm_regnet",
                                         "tinynet_a",
                                         "tnt_s_patch16_224",
                                         "twins_pcpvt_base",
                                         "visformer_small",
                                         "vision_maskrcnn",
                                         "vit_base_patch14_dinov2",
                                         "vit_base_patch16_siglip_256",
                                         "vovnet39a",
                                         "whisper_decode",
                                         "whisper_encoder",
                                         "whisper_tiny",
                                         "xcit_large_24_p8_224",
                                         "yolov3"};

// Compares the shipped suites with the models of this program. A failure names every missing model.
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
  const std::vector<std::string> of_a_log{"operators"};  // registered by a test that reads an operator log
  for (const auto* info : all_models())
    if (!listed.count(info->name) && info->python.empty() && info->name != "test_only_model" &&
        info->family != "lstm" && info->suites != of_a_log && !info->upstream)
      unlisted.insert(info->name);
  EXPECT_EQ(unlisted, by_name_only) << "no suite lists these models";
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

// The same without the zoo, with a stand-in for each listed model.
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
    static const std::set<std::string> of_their_own{"basic_gnn_edgecnn",
                                                    "basic_gnn_gcn",
                                                    "basic_gnn_gin",
                                                    "basic_gnn_sage",
                                                    "demucs",
                                                    "pyhpc_turbulent_kinetic_energy",
                                                    "pytorch_CycleGAN_and_pix2pix",
                                                    "soft_actor_critic",
                                                    "speech_transformer",
                                                    "speech_transformer_masked"};
    const bool fixed = of_their_own.contains(c.model);
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
