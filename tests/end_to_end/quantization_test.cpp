// Weights quantised by torchao. They are judged by cosine similarity, and are red if nothing was quantised or the
// answer is wrong.
#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

bool lacks_torchao(const nlohmann::json& outcome) {
  return outcome.at("status") == "unsupported" &&
         outcome.at("reason").get<std::string>().find("pip install torchao") != std::string::npos;
}

struct Quantised {
  const char *scheme, *healthy;  ///< the value of the option, and a model with operators to quantise
  const char* nothing;           ///< part of the reason for a model without such operators
};

class QuantisedBy : public testing::TestWithParam<Quantised> {};
// Inductor does not compile "healthy" with pt2e (docs/inductor_faults.md).
INSTANTIATE_TEST_SUITE_P(Quantization, QuantisedBy,
                         testing::Values(Quantised{"int8dynamic", "healthy", "the program has no linear"},
                                         Quantised{"int8weightonly", "healthy", "the program has no linear"},
                                         Quantised{"pt2e", "two_outputs", "Inductor compiled no convolution"}),
                         [](const auto& one) { return std::string(one.param.scheme); });

TEST_P(QuantisedBy, IsJudgedByCosineSimilarityAndPlantedFaultsAreRed) {
  const Torchstone torchstone;
  const std::string option = std::string("quantization=") + GetParam().scheme, model = GetParam().healthy;
  const ProgramRun run =
      torchstone.run_faults("*/" + model + "_inference_*:*/elementwise_inference_float32_inductor_*",
                            {"--torchstone_checks=accuracy", "--torchstone_backends=inductor:" + option +
                                                                 ",fault_program:value=v1,fault=negated," + option});
  const std::string name = std::string("_inference_float32_inductor_quantization_") + GetParam().scheme;
  const auto outcome = torchstone.row("/" + model + name).at("outcome");
  if (lacks_torchao(outcome)) GTEST_SKIP() << "no torchao (pip install torchao)";
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_EQ(outcome.at("status"), "pass") << outcome.dump(1);
  EXPECT_EQ(outcome.at("metrics").at("quantized_operators"), 1);
  EXPECT_GT(outcome.at("metrics").at("max_abs_error"), 1e-4)
      << "the error is as small as eager's, so nothing was quantised";
  EXPECT_EQ(outcome.at("notes").at("judged_by"),
            "cosine similarity of at least 0.99: quantised weights are not eager's");
  EXPECT_THAT(outcome.at("notes").at("tolerance"), HasSubstr("cosine"));
  const auto nothing = torchstone.row("/elementwise" + name).at("outcome");
  EXPECT_EQ(nothing.at("status"), "not_compiled") << nothing.dump(1);
  EXPECT_THAT(nothing.at("reason"), HasSubstr(std::string("nothing to quantise: ") + GetParam().nothing));
  const auto wrong = torchstone.row("/" + model + "_inference_float32_fault_program").at("outcome");
  EXPECT_EQ(wrong.at("status"), "fail_accuracy") << wrong.dump(1);
  EXPECT_THAT(wrong.at("reason"), HasSubstr("cosine similarity is"));
}

TEST(Quantization, OfFourBitsLeavesALinearWhoseSizesItCannotTakeAndAPlantedFaultIsRed) {
  const Torchstone torchstone;
  const std::string option = "quantization=int4weightonly";
  const ProgramRun run = torchstone.run_faults(
      "*/two_widths_*:*/healthy_*",
      {std::string("--torchstone_suites=") + TORCHSTONE_SOURCE_DIR + "/tests/faults/quantised.yaml",
       "--torchstone_backends=inductor:" + option + ",fault_program:value=v1,fault=negated," + option});
  const std::string name = "_inference_float32_inductor_quantization_int4weightonly";
  const auto outcome = torchstone.row("/two_widths" + name).at("outcome");
  if (lacks_torchao(outcome)) GTEST_SKIP() << "no torchao (pip install torchao)";
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_EQ(outcome.at("status"), "pass") << outcome.dump(1);
  EXPECT_EQ(outcome.at("metrics").at("quantized_operators"), 1);
  EXPECT_EQ(outcome.at("metrics").at("unquantized_linears"), 1);
  EXPECT_GT(outcome.at("metrics").at("max_abs_error"), 1e-3)
      << "the error is too small for four bits, so nothing was quantised";
  EXPECT_THAT(outcome.at("notes").at("judged_by"), HasSubstr("cosine similarity of at least 0.99"));
  const auto nothing = torchstone.row("/healthy" + name).at("outcome");
  EXPECT_EQ(nothing.at("status"), "not_compiled") << nothing.dump(1);
  EXPECT_THAT(nothing.at("reason"), HasSubstr("need multiples of 32 inputs and of 16 outputs"));
  const auto wrong = torchstone.row("/two_widths_inference_float32_fault_program").at("outcome");
  EXPECT_EQ(wrong.at("status"), "fail_accuracy") << wrong.dump(1);
  EXPECT_THAT(wrong.at("reason"), HasSubstr("cosine similarity is"));
}

TEST(Quantization, InATournamentIsNamedWithItsErrorBudget) {
  const Torchstone torchstone;
  const std::string name = "inductor:quantization=int8weightonly";
  const ProgramRun run = torchstone.run_faults(
      "*/healthy_inference_*", {"--torchstone_tournament", "--torchstone_processes=3",
                                "--torchstone_measure_budget=0.1", "--torchstone_backends=inductor," + name});
  const auto model = nlohmann::json::parse(read_file(torchstone.out() + "/tournament.json")).at("models").at(0);
  for (const auto& variant : model.at("variants")) {
    if (variant.at("name") != name) continue;
    if (lacks_torchao(variant.at("ladder").at("outcome"))) GTEST_SKIP() << "no torchao (pip install torchao)";
    EXPECT_TRUE(variant.at("timed")) << variant.dump(1);
    EXPECT_GT(variant.at("error"), 1e-5) << "the error is as small as eager's, so nothing was quantised";
  }
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("! " + name + " is judged by cosine similarity of at least 0.99"));
  EXPECT_THAT(read_file(torchstone.out() + "/tournament.html"), HasSubstr(name + " is judged by cosine similarity"));
}

TEST(Quantization, SaysWhatItDoesNotDo) {
  const Torchstone torchstone;
  const ProgramRun wrong =
      torchstone.run({"--torchstone_only=lennard_jones", "--torchstone_backends=inductor:quantization=int8dynamc"});
  EXPECT_EQ(wrong.exit_code, 2) << wrong.out;
  EXPECT_THAT(wrong.err, HasSubstr("did you mean int8dynamic?"));
  torchstone.run_faults("*/healthy_inference_*:*/trainable_training_*",
                        {"--torchstone_checks=accuracy", "--torchstone_dtypes=float32,amp",
                         "--torchstone_backends=inductor:quantization=int8dynamic"});
  const auto reason_of = [&](const std::string& name) {
    const auto outcome = torchstone.row(name).at("outcome");
    EXPECT_EQ(outcome.at("status"), "unsupported") << outcome.dump(1);
    return outcome.at("reason").get<std::string>();
  };
  EXPECT_THAT(reason_of("/trainable_training_float32_inductor_quantization_int8dynamic"),
              HasSubstr("quantised weights cannot be trained"));
  EXPECT_THAT(reason_of("/healthy_inference_amp_inductor_quantization_int8dynamic"), HasSubstr("autocast"));
}

}  // namespace
}  // namespace torchstone
