#include "cases/selection/expand.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/core/model_registry.h"
#include "tests/unit/cases/selection/expanded.h"

namespace torchstone::selection {
namespace {

using test::error_of;
using test::fake_known;
using test::flags_of;
using test::names_of;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Expand, MultipliesRowsByModels) {
  const Expanded all(two_rows);
  EXPECT_EQ(all.error, "");
  EXPECT_EQ(all.names().size(), 2U * 2 * 2 + 2 + 1);
  EXPECT_EQ(all.names().front(), "small/Accuracy.CompiledMatchesEager/first_inference_float32_torchscript_cpu");
  EXPECT_EQ(all.names().back(), "small/Performance.CompiledAgainstEager/first_inference_float32_eager_cpu");
}

TEST(Expand, OfTheFullMatrixAddsEveryCombinationThatNoRowHas) {
  const Expanded all(two_rows, {"--torchstone_matrix=full"});
  EXPECT_EQ(all.error, "");
  // 2 checks × 2 models × 2 modes × 4 dtypes × 2 backends, and the control, which keeps its model.
  EXPECT_EQ(all.names().size(), 2U * 2 * 2 * 4 * 2 + 1);
  const auto names = all.names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  const auto& added = all.at("Performance.CompiledAgainstEager/second_training_float16_torchscript_cpu");
  EXPECT_FALSE(added.required_speedup.has_value());
  EXPECT_EQ(added.batch_size, 3);
  EXPECT_EQ(added.origin.at("dtype"), "flag --torchstone_matrix=full");
  EXPECT_EQ(all.at("Accuracy.CompiledMatchesEager/second_training_amp_inductor_cpu").dtype, DType::amp);
  EXPECT_EQ(all.at("Performance.CompiledAgainstEager/second_inference_float32_inductor_cpu").required_speedup, 1.1);
}

TEST(Expand, JudgesTheFullMatrixByRoundingTooUnlessASuiteOrFlagSaysOtherwise) {
  const std::string accuracy = "Accuracy.CompiledMatchesEager/second_inference_float32_inductor_cpu";
  const std::string added = "Accuracy.CompiledMatchesEager/second_training_amp_inductor_cpu";
  EXPECT_EQ(Expanded(two_rows).at(accuracy).judge, Judge::upstream);
  const Expanded full(two_rows, {"--torchstone_matrix=full"});
  EXPECT_EQ(full.at(accuracy).judge, Judge::both);
  EXPECT_EQ(full.at(added).judge, Judge::both);
  EXPECT_EQ(full.origin(added, "judge"), "flag --torchstone_matrix=full");
  const std::string performance = "Performance.CompiledAgainstEager/second_inference_float32_inductor_cpu";
  EXPECT_EQ(full.at(performance).judge, Judge::upstream) << "only accuracy has this verdict";
  const Expanded by_flag(two_rows, {"--torchstone_matrix=full", "--torchstone_judge=upstream"});
  EXPECT_EQ(by_flag.at(added).judge, Judge::upstream);
  std::string strict = two_rows;
  strict.replace(strict.find("{seed: 5}"), 9, "{seed: 5, judge: rounding}");
  EXPECT_EQ(Expanded(strict, {"--torchstone_matrix=full"}).at(added).judge, Judge::rounding);
}

TEST(Expand, NarrowsTheFullMatrixByTheOtherFlags) {
  const Expanded some(two_rows, {"--torchstone_matrix=full", "--torchstone_checks=accuracy",
                                 "--torchstone_dtypes=float16", "--torchstone_modes=inference"});
  EXPECT_EQ(some.names().size(), 2U * 2);
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_matrix=suites"}).names(), Expanded(two_rows).names());
  EXPECT_THAT(Expanded(two_rows, {"--torchstone_only=second", "--torchstone_matrix=full"}).names(),
              testing::SizeIs(2U * 2 * 4 * 2));
  EXPECT_THAT(error_of([] { flags_of({"--torchstone_matrix=all"}); }), HasSubstr("expected one of suites, full"));
}

TEST(Expand, DecidesEachFieldByTheStrongestSourceAndSaysWhich) {
  const Expanded all(two_rows, {"--torchstone_confidence=0.9"});
  const std::string accuracy = "Accuracy.CompiledMatchesEager/second_inference_float32_inductor_cpu";
  EXPECT_EQ(all.at(accuracy).batch_size, 3);
  EXPECT_EQ(all.origin(accuracy, "batch_size"), "s.yaml:10");
  EXPECT_EQ(all.at(accuracy).tolerance, 0.5);
  EXPECT_EQ(all.at(accuracy).seed, 5U);
  EXPECT_EQ(all.origin(accuracy, "seed"), "s.yaml:3");
  EXPECT_EQ(all.at(accuracy).confidence, 0.9);
  EXPECT_EQ(all.origin(accuracy, "confidence"), "flag --torchstone_confidence=0.9");
  EXPECT_EQ(all.origin(accuracy, "device"), "default");
  EXPECT_EQ(all.origin(accuracy, "backend"), "s.yaml:5");
  EXPECT_THAT(all.origin(accuracy, "cosine"), HasSubstr("tolerance rule of torchbench: all else"));
  EXPECT_FALSE(all.at(accuracy).required_speedup.has_value());
  EXPECT_EQ(all.at(accuracy).line, 10);
  EXPECT_FALSE(all.at(accuracy).skip_reason.has_value()) << "a mini is not too large";
  const Expanded full(two_rows, {"--torchstone_presets=full"});
  EXPECT_THAT(*full.at(accuracy + "_full").skip_reason, HasSubstr("too large"));
  const std::string performance = "Performance.CompiledAgainstEager/first_inference_float32_inductor_cpu";
  EXPECT_EQ(all.at(performance).required_speedup, 1.1);
  EXPECT_EQ(all.at(performance).time_limit_s, 50);
  EXPECT_EQ(all.at(performance).batch_size, 4);
  EXPECT_EQ(all.origin(performance, "time_limit_s"), "s.yaml:6");
}

TEST(Expand, CudaGraphsOfASuiteAreForCudaAndThoseOfAFlagForWhoAsks) {
  const std::string rows =
      "suite: s\ndefaults: {cuda_graphs: both}\nmatrix: [{checks: [accuracy, performance], backends: [eager]}]\n"
      "models: [first]\n";
  const Expanded cpu(rows);
  EXPECT_EQ(cpu.at("Performance").cuda_graphs, CudaGraphs::none);
  EXPECT_THAT(cpu.at("Performance").origin.at("cuda_graphs"), HasSubstr("cpu has none, not by "));
  const Expanded cuda(rows, {"--torchstone_devices=cuda:1"});
  EXPECT_EQ(cuda.at("Performance").cuda_graphs, CudaGraphs::both);
  EXPECT_THAT(cuda.names(),
              ElementsAre("s/Accuracy.CompiledMatchesEager/first_inference_float32_eager_cuda_1",
                          "s/Performance.CompiledAgainstEager/first_inference_float32_eager_cuda_1_graphs_both"));
  const Expanded asked(rows, {"--torchstone_cuda_graphs=compiled"});
  EXPECT_EQ(asked.at("Performance").cuda_graphs, CudaGraphs::compiled);
  EXPECT_THAT(asked.names().back(), testing::EndsWith("_cpu_graphs_compiled"));
  for (const char* old : {"true", "false"})
    EXPECT_THAT(Expanded(rows, {std::string("--torchstone_cuda_graphs=") + old}).error,
                HasSubstr("(expected one of none, compiled, both)"));
}

TEST(Expand, KnownFailuresCarryTheirReason) {
  const Expanded all(
      "suite: s\nmatrix: [{checks: [accuracy], backends: [eager]}]\nmodels:\n  - first: {expected: fail_accuracy, "
      "reason: issue 12}\n");
  EXPECT_EQ(all.at("first").expected_status, Status::fail_accuracy);
  EXPECT_THAT(all.at("first").origin.at("expected_reason"), HasSubstr("issue 12 ("));
}

TEST(Expand, ABoundNeedsAKnownWrongAnswer) {
  const auto rows = [](const std::string& settings) {
    return "suite: s\nmatrix: [{checks: [accuracy], backends: [eager]}]\nmodels:\n  - first: {" + settings + "}\n";
  };
  EXPECT_EQ(Expanded(rows("max_error: 3, expected: fail_accuracy, reason: x")).at("first").max_error, 3);
  for (const char* without : {"max_error: 3", "max_error: 3, expected: crash, reason: x"})
    EXPECT_THAT(Expanded(rows(without)).error, HasSubstr("max_error: a bound without a wrong answer")) << without;
  const Expanded overridden(
      "suite: s\nmatrix: [{checks: [accuracy], backends: [eager], expected: fail_accuracy, reason: x, max_error: 3}]\n"
      "models:\n  - first: {expected: crash, reason: y}\n");
  EXPECT_EQ(overridden.at("first").expected_status, Status::crash);
  EXPECT_EQ(overridden.at("first").max_error, std::nullopt);
}

TEST(Expand, AnExpectationOfAModelReplacesThatOfTheSuiteWithItsBound) {
  const Expanded all(
      "suite: s\ndefaults: {expected: fail_accuracy, reason: x, max_error: 3}\nmatrix: [{checks: [accuracy], "
      "backends: [eager]}]\nmodels:\n  - first: {expected: fail_accuracy, reason: y}\n  - second: {seed: 7}\n");
  EXPECT_EQ(all.at("first").max_error, std::nullopt);
  EXPECT_FALSE(all.at("first").origin.contains("max_error"));
  EXPECT_THAT(all.at("first").origin.at("expected_reason"), HasSubstr("y ("));
  EXPECT_EQ(all.at("second").max_error, 3);
}

TEST(Expand, AModelWhoseTrainingDoesNotRepeatIsComparedInInference) {
  const Expanded all(
      "suite: s\nmatrix: [{checks: [accuracy], modes: [inference, training], backends: [eager]}]\nmodels:\n"
      "  - first: {eager_not_deterministic: true}\n");
  EXPECT_TRUE(all.at("first_training").eager_not_deterministic);
  EXPECT_FALSE(all.at("first_inference").eager_not_deterministic);
}

TEST(Expand, AKnownFailureOfARowStaysWithTheValuesItWasSeenWith) {
  const std::string rows =
      "suite: s\nmatrix:\n  - {checks: [accuracy], backends: [eager], models: [first], seed: 7, expected: "
      "fail_accuracy, reason: issue 12, max_error: 3}\nmodels: [first, second]\n";
  EXPECT_EQ(Expanded(rows, {"--torchstone_backends=eager"}).at("first_").expected_status, Status::fail_accuracy);
  EXPECT_EQ(Expanded(rows, {"--torchstone_presets=full"}).at("first_").expected_status, Status::fail_accuracy);
  const Expanded other(rows, {"--torchstone_backends=torchscript"});
  EXPECT_EQ(other.at("first_").expected_status, Status::pass);
  EXPECT_FALSE(other.at("first_").origin.contains("expected_reason"));
  EXPECT_EQ(other.at("first_").max_error, std::nullopt);
  EXPECT_EQ(other.at("first_").seed, 7U);
}

TEST(Expand, FlagsNarrowToTheRowsThatMatch) {
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_checks=performance"}).names().size(), 3U);
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_checks=tolerance"}).names().size(), 0U);
  EXPECT_THAT(Expanded(two_rows, {"--torchstone_check=performance", "--torchstone_backends=eager"}).names(),
              ElementsAre("small/Performance.CompiledAgainstEager/first_inference_float32_eager_cpu",
                          "small/Performance.CompiledAgainstEager/second_inference_float32_eager_cpu"));
  EXPECT_THAT(Expanded(two_rows, {"--torchstone_only=second", "--torchstone_dtypes=bfloat16",
                                  "--torchstone_backends=inductor", "--torchstone_checks=accuracy"})
                  .names(),
              ElementsAre("small/Accuracy.CompiledMatchesEager/second_inference_bfloat16_inductor_cpu"));
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_suite=small"}).names().size(), 11U);
}

TEST(Expand, FlagsWidenThroughEveryRowOfACheck) {
  const Expanded eager(two_rows, {"--torchstone_backends=eager,inductor:freezing=true,mode=x"});
  // No accuracy row has either backend, so both are added. Performance has an eager row for one model only, so the
  // other model gets one too. A case that two rows would add is added once.
  EXPECT_EQ(eager.names().size(), 2U * 2 * 2 + 2 * 2);
  EXPECT_EQ(eager.at("first_inference_float32_inductor_freezing_mode_x_cpu").backend,
            (BackendSpec{"inductor", {{"freezing", "true"}, {"mode", "x"}}}));
  EXPECT_THAT(eager.origin("Accuracy.CompiledMatchesEager/first_inference_float32_eager_cpu", "backend"),
              HasSubstr("flag --torchstone_backends="));
  const Expanded cuda(two_rows, {"--torchstone_devices=cuda:1", "--torchstone_preset=full",
                                 "--torchstone_checks=performance", "--torchstone_mode=training"});
  EXPECT_THAT(cuda.names(),
              ElementsAre("small/Performance.CompiledAgainstEager/first_training_float32_inductor_cuda_1_full",
                          "small/Performance.CompiledAgainstEager/first_training_float32_eager_cuda_1_full"));
  EXPECT_EQ(cuda.at("first_training_float32_inductor").batch_size, 16);
  ASSERT_EQ(cuda.expansion.skipped.size(), 1U);
  EXPECT_THAT(cuda.expansion.skipped[0].name, HasSubstr("/second_training_float32_inductor_cuda_1_full"));
  EXPECT_EQ(cuda.expansion.skipped[0].reason, "not run on cuda (policy skip.device.cuda)");
  EXPECT_THAT(cuda.expansion.skipped[0].origin, HasSubstr("p.yaml:1"));
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_dtypes=float16,float32", "--torchstone_checks=accuracy"}).names().size(),
            8U);
}

TEST(Expand, RunsACheckThatNoRowNamesOnTheRowsOfTheCheckWhosePolicyItShares) {
  const Expanded parts(two_rows, {"--torchstone_checks=batch_invariance", "--torchstone_backends=inductor"});
  EXPECT_EQ(parts.error, "");
  EXPECT_EQ(parts.names().size(), 4U);
  EXPECT_EQ(parts.names().front(), "small/BatchInvariance.PartsMatchWhole/first_inference_float32_inductor_cpu");
  EXPECT_EQ(parts.at("second_inference_float32_inductor").batch_size, 3);
  EXPECT_THAT(Expanded(two_rows, {"--torchstone_checks=tolerance"}).names(), testing::IsEmpty());
}

TEST(Expand, TakesPyTorchsFlagsForTwoOfTheChecks) {
  const std::vector<std::string> of_inductor{"--torchstone_backends=inductor", "--torchstone_dtypes=float32"};
  const auto names = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), of_inductor.begin(), of_inductor.end());
    return Expanded(two_rows, flags).names();
  };
  EXPECT_EQ(names({"--torchstone_batch_invariance"}), names({"--torchstone_checks=batch_invariance"}));
  EXPECT_EQ(names({"--torchstone_find_batch_sizes"}), names({"--torchstone_checks=largest_batch"}));
  EXPECT_THAT(names({"--torchstone_find_batch_sizes"}).front(), HasSubstr("small/LargestBatch.FitsInMemory/first_"));
  EXPECT_EQ(names({"--torchstone_find_batch_sizes=false"}), names({}));
  EXPECT_EQ(names({"--torchstone_find_batch_sizes", "--torchstone_batch_invariance"}).size(), 4U);
}

TEST(Expand, SaysThatAFormerSettingIsACheck) {
  const auto error = [](const std::string& key) {
    return Expanded("suite: s\nmatrix:\n  - {checks: [accuracy], backends: [eager], " + key +
                    ": true}\nmodels: [first]\n")
        .error;
  };
  EXPECT_THAT(error("batch_invariance"), HasSubstr("expected checks: [batch_invariance]"));
  EXPECT_THAT(error("find_batch_size"), HasSubstr("expected checks: [largest_batch]"));
}

TEST(Expand, TakesBatchSizesFromAFileUnlessAFlagSaysOtherwise) {
  const test::Folder folder;
  const std::string file = folder.write("sizes.txt", "# of the paper\nfirst, 7\n\nsecond,9 # fits\n");
  const Expanded all(two_rows, {"--torchstone_batch_size_file=" + file});
  EXPECT_EQ(all.at("first_inference_float32_torchscript").batch_size, 7);
  EXPECT_EQ(all.origin("Accuracy.CompiledMatchesEager/first_inference_float32_torchscript_cpu", "batch_size"),
            file + ":2");
  EXPECT_EQ(all.at("second_inference_float32_torchscript").batch_size, 9);
  const Expanded overridden(two_rows, {"--torchstone_batch_size_file=" + file, "--torchstone_batch_size=3"});
  EXPECT_EQ(overridden.at("first_inference_float32_torchscript").batch_size, 3);
}

TEST(BatchSizeFile, NamesTheLineThatCannotBeUsed) {
  const test::Folder folder;
  const auto error = [&](const std::string& text) {
    return error_of([&] { flags::read_batch_sizes(folder.write("b.txt", text)); }, folder.path());
  };
  EXPECT_THAT(error("a,1\nb 2\n"), HasSubstr("b.txt:2: 'b 2' (expected NAME,SIZE)"));
  EXPECT_THAT(error("a,many\n"), HasSubstr("b.txt:1: 'many' (expected a whole number"));
  EXPECT_THAT(error("a,0\n"), HasSubstr("b.txt:1"));
  EXPECT_THAT(error("a,1\na,2\n"), HasSubstr("b.txt:2: a is listed twice"));
  EXPECT_THAT(error_of([] { flags::read_batch_sizes("/no/such/file"); }), HasSubstr("/no/such/file"));
}

TEST(Expand, RefusesWhatIsNotRegistered) {
  const auto suite = [](const std::string& backend, const std::string& models) {
    return "suite: s\nmatrix:\n  - {checks: [accuracy], backends: [" + backend + "]}\nmodels: [" + models + "]\n";
  };
  EXPECT_EQ(Expanded(suite("eager", "frist")).error,
            "s.yaml:4: models[0]: unknown model frist (expected one of first, second, third.v2; did you mean first?)");
  EXPECT_EQ(Expanded(suite("inductr", "first")).error,
            "s.yaml:3: matrix[0].backends[0]: unknown backend inductr (expected one of eager, inductor, torchscript; "
            "did you mean inductor?)");
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_backends=egaer"}).error,
            "flag --torchstone_backends=egaer: unknown backend egaer (expected one of eager, inductor, torchscript; "
            "did you mean eager?)");
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_checks=acuracy"}).error,
            "flag --torchstone_checks=acuracy: unknown check acuracy (expected one of accuracy, batch_invariance, "
            "compile_time, largest_batch, performance, tolerance, tournament; did you mean accuracy?)");
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_suite=smal"}).error,
            "flag --torchstone_suite=smal: unknown suite smal (expected small; did you mean small?)");
}

TEST(Expand, KeepsTheBatchOfAModelWhoseBatchIsFixed) {
  const test::Folder folder;
  const std::string sizes = folder.write("sizes.txt", "third.v2,32\nfirst,32\n");
  const auto suite = [](const std::string& model) {
    return "suite: s\nmatrix:\n  - {checks: [accuracy], backends: [eager]}\nmodels: [first, " + model + "]\n";
  };
  const std::string fixed = "third_v2_inference_float32_eager_cpu", other = "first_inference_float32_eager_cpu";
  const Expanded by_flag(suite("third.v2"), {"--torchstone_batch_size=16"});
  EXPECT_EQ(by_flag.at(other).batch_size, 16);
  EXPECT_EQ(by_flag.at(fixed).batch_size, 1);
  EXPECT_EQ(by_flag.origin(fixed, "batch_size"),
            "zoo.cpp:7 (the model's own), fixed: not by flag --torchstone_batch_size=16");
  const Expanded by_file(suite("third.v2"), {"--torchstone_batch_size_file=" + sizes});
  EXPECT_EQ(by_file.at(other).batch_size, 32);
  EXPECT_EQ(by_file.at(fixed).batch_size, 1);
  EXPECT_EQ(Expanded(suite("{third.v2: {batch_size: 5}}")).at(fixed).batch_size, 1);
}

TEST(Expand, RefusesAMistypedOptionOfABackendAsAnErrorOfUsage) {
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_backends=torchscript:frozn=true"}).error,
            "flag --torchstone_backends=torchscript:frozn=true: backend torchscript: frozn=true: torchscript has no "
            "such option (expected one of frozen, optimize_for_inference; did you mean frozen?)");
  EXPECT_EQ(
      Expanded(two_rows, {"--torchstone_backends=torchscript:frozen=yes"}).error,
      "flag --torchstone_backends=torchscript:frozen=yes: backend torchscript: frozen=yes: expected true or false");
  EXPECT_EQ(
      Expanded("suite: s\nmatrix:\n  - {checks: [accuracy], backends: [{eager: {fast: 1}}]}\nmodels: [first]\n").error,
      "s.yaml:3: matrix[0].backends[0]: backend eager: fast=1: eager takes no option");
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_backends=torchscript:frozen=true"}).error, "");
}

TEST(Expand, RefusesCasesWithTheSameName) {
  EXPECT_EQ(Expanded("suite: s\nmatrix:\n  - {checks: [accuracy], backends: [eager]}\n  - {checks: [accuracy], "
                     "backends: [eager, inductor]}\nmodels: [first]\n")
                .error.substr(0, 125),
            "s.yaml:4: matrix[1]: the case s/Accuracy.CompiledMatchesEager/first_inference_float32_eager_cpu is "
            "registered twice (first by");
  static const std::vector<ModelInfo> models{test::fake("a.b", 1, 1), test::fake("a_b", 1, 1)};
  const Expanded collision("suite: s\nmatrix: [{checks: [accuracy], backends: [eager]}]\nmodels: [a.b, a_b]\n", {},
                           {{&models[0], &models[1]}, {"eager"}});
  EXPECT_THAT(
      collision.error,
      HasSubstr(
          "the models a.b and a_b get the same name s/Accuracy.CompiledMatchesEager/a_b_inference_float32_eager_cpu"));
}

TEST(Expand, AForcedDtypeIsNotRegisteredTwice) {
  const test::Folder folder;
  folder.write("p.yaml", "dtype: {force_fp16_for_bf16_models: [first]}\n");
  const std::string file = folder.write("s.yaml",
                                        "suite: s\npolicy: p.yaml\nmatrix: [{checks: [accuracy], dtypes: [bfloat16, "
                                        "float16], backends: [eager]}]\nmodels: [first]\n");
  const Expansion expansion = expand(suite::read_suites(file), fake_known(), flags_of({}));
  EXPECT_THAT(names_of(expansion.cases),
              ElementsAre("s/Accuracy.CompiledMatchesEager/first_inference_float16_eager_cpu"));
  ASSERT_EQ(expansion.skipped.size(), 1U);
  EXPECT_EQ(expansion.skipped[0].name, "s/Accuracy.CompiledMatchesEager/first_inference_float16_eager_cpu");
  EXPECT_EQ(expansion.skipped[0].reason,
            "a policy, the device or a flag makes it the same case as "
            "s/Accuracy.CompiledMatchesEager/first_inference_bfloat16_eager_cpu: both are "
            "s/Accuracy.CompiledMatchesEager/first_inference_float16_eager_cpu");
}

TEST(Expand, RowsOfTheSameWordsAreAnErrorBesideAForcedOneToo) {
  const test::Folder folder;
  folder.write("p.yaml", "dtype: {force_fp16_for_bf16_models: [first]}\n");
  const auto row = [](const std::string& dtype) {
    return "  - {checks: [accuracy], dtypes: [" + dtype + "], backends: [eager]}\n";
  };
  for (const std::string& rows :
       {row("bfloat16") + row("float16") + row("float16"), row("float16") + row("float16") + row("bfloat16")}) {
    const std::string file = folder.write("s.yaml", "suite: s\npolicy: p.yaml\nmatrix:\n" + rows + "models: [first]\n");
    EXPECT_THROW(expand(suite::read_suites(file), fake_known(), flags_of({})), config::ConfigError) << rows;
  }
}

TEST(Expand, AnOptionThatAPolicyAddsMeetsTheSameOptionOfASuiteOrAFlag) {
  const test::Folder folder;
  folder.write("p.yaml", "emulate_precision_casts: [first]\n");
  const std::string rounding = "first_inference_float32_inductor_emulate_precision_casts_cpu";
  const auto expanded = [&](const std::string& backends, const flags::Flags& flags) {
    const std::string file =
        folder.write("s.yaml", "suite: s\npolicy: p.yaml\nmatrix: [{checks: [accuracy], backends: [" + backends +
                                   "]}]\nmodels: [first, second]\n");
    return expand(suite::read_suites(file), fake_known(), flags);
  };
  const auto with_flag = flags_of({"--torchstone_backends=inductor,inductor:emulate_precision_casts=true"});
  for (const Expansion& expansion : {expanded("inductor, {inductor: {emulate_precision_casts: true}}", flags_of({})),
                                     expanded("eager", with_flag)}) {
    EXPECT_THAT(names_of(expansion.cases),
                ElementsAre(testing::EndsWith("/" + rounding), HasSubstr("/second_inference_float32_inductor_cpu"),
                            HasSubstr("/second_inference_float32_inductor_emulate_precision_casts_cpu")));
    ASSERT_EQ(expansion.skipped.size(), 1U);
    EXPECT_THAT(expansion.skipped[0].name, testing::EndsWith("/" + rounding));
    EXPECT_THAT(expansion.skipped[0].reason, HasSubstr("/first_inference_float32_inductor_cpu: both are "));
  }
}

TEST(Expand, RowsThatDifferByCudaGraphsAloneAreOneOnACpu) {
  const std::string rows =
      "suite: s\nmatrix:\n  - {checks: [performance], backends: [eager], cuda_graphs: both}\n"
      "  - {checks: [performance], backends: [eager]}\nmodels: [first]\n";
  const Expanded cpu(rows);
  EXPECT_EQ(cpu.error, "");
  EXPECT_EQ(cpu.names().size(), 1U);
  EXPECT_EQ(cpu.expansion.skipped.size(), 1U);
  EXPECT_EQ(Expanded(rows, {"--torchstone_devices=cuda"}).names().size(), 2U);
}

TEST(Expand, ASkippedModelIsListedWithItsReason) {
  const Expanded all(
      "suite: s\nmatrix: [{checks: [accuracy], backends: [eager]}]\nmodels: [{first: {skip: needs data}}]\n");
  ASSERT_EQ(all.expansion.skipped.size(), 1U);
  EXPECT_EQ(all.expansion.skipped[0].reason, "needs data (suite)");
  EXPECT_THROW(require_cases(all.expansion), NothingSelected);
  EXPECT_THAT(error_of([&] { require_cases(all.expansion); }),
              HasSubstr("nothing to run: the suites and flags select no case (1 skipped"));
}

TEST(Expand, KnowsTheRegistriesOfThisProgram) {
  ModelInfo info = test::fake("test_only_model", 2, 1);
  info.make = [](const ModelOptions&) -> std::shared_ptr<Model> { return nullptr; };
  if (!find_model(info.name)) register_model(info, __FILE__, __LINE__);
  ASSERT_NE(known_here().model("test_only_model"), nullptr);
  EXPECT_EQ(known_here().model("test_only_model")->eval_batch, 1);
  EXPECT_EQ(known_here().model("no_such_model"), nullptr);
}

using testing::AllOf;
using testing::EndsWith;
using testing::SizeIs;

constexpr auto one_row =
    "suite: small\npolicy: p.yaml\nmatrix:\n  - {checks: [accuracy], backends: [torchscript]}\nmodels: [first]\n";

Expansion swept(std::vector<std::string> arguments, test::Folder& folder) {
  folder.write("p.yaml", policy);
  folder.write("s.yaml", one_row);
  arguments.insert(arguments.begin(), "--torchstone_tournament");
  return expand(suite::read_suites(folder.path() + "/s.yaml"), test::fake_known(),
                test::flags_of(std::move(arguments)));
}

TEST(Sweep, HasACaseForEachCombinationWithANameOfItsOwn) {
  test::Folder folder;
  const auto cases = swept({"--torchstone_batch_size=1,8", "--torchstone_threads=2,4"}, folder).cases;
  EXPECT_THAT(test::names_of(cases), ElementsAre(EndsWith("_cpu_batch_size_1_threads_2"), EndsWith("_1_threads_4"),
                                                 EndsWith("_8_threads_2"), EndsWith("_cpu_batch_size_8_threads_4")));
  ASSERT_THAT(cases, SizeIs(4));
  EXPECT_EQ(std::pair(cases[1].batch_size, cases[1].threads), std::pair(int64_t{1}, 4));
  EXPECT_EQ(std::pair(cases[2].batch_size, cases[2].threads), std::pair(int64_t{8}, 2));
  EXPECT_THAT(cases[2].origin.at("batch_size"), HasSubstr("--torchstone_batch_size=1,8"));
}

TEST(Sweep, OfOneValueIsNone) {
  test::Folder folder;
  const auto cases = swept({"--torchstone_batch_size=8"}, folder).cases;
  ASSERT_THAT(cases, SizeIs(1));
  EXPECT_THAT(name_of(cases[0]), EndsWith("_cpu"));
  EXPECT_EQ(cases[0].batch_size, 8);
}

TEST(Sweep, TellsWhatIsThereAlready) {
  test::Folder folder;
  const auto expansion = swept({"--torchstone_batch_size=8,08"}, folder);
  EXPECT_THAT(expansion.cases, SizeIs(1));
  ASSERT_THAT(expansion.skipped, SizeIs(1));
  EXPECT_THAT(expansion.skipped[0].reason, HasSubstr("batch size 8 already"));
}

TEST(SweepFlags, AreOfTheTournamentAloneAndCheckedOneByOne) {
  const auto words_of = [](std::vector<std::string> arguments) {
    return test::error_of([&] { test::flags_of(std::move(arguments)); });
  };
  EXPECT_THAT(words_of({"--torchstone_threads=1,2"}),
              AllOf(HasSubstr("--torchstone_threads=1,2"), HasSubstr("several values need --torchstone_tournament")));
  EXPECT_THAT(words_of({"--torchstone_tournament", "--torchstone_threads=1,x"}), HasSubstr("x"));
  EXPECT_THAT(words_of({"--torchstone_tournament", "--torchstone_batch_size=0,2"}), HasSubstr("1 to 1000000"));
  EXPECT_THAT(words_of({"--torchstone_tournament", "--torchstone_threads=2,2"}), HasSubstr("2 is given twice"));
  EXPECT_THAT(words_of({"--torchstone_tournament", "--torchstone_seed=1,2"}), HasSubstr("1,2"));
  EXPECT_TRUE(test::flags_of({"--torchstone_tournament", "--torchstone_threads=2"}).sweeps.empty());
}

}  // namespace
}  // namespace torchstone::selection
