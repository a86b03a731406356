// The plug-ins of examples/, built against an installation and loaded by the installed program.
#include <filesystem>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"
#include "tests/end_to_end/installation.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(AnInstallation, BuildsAPlugInWhoseModelIsJudged) {
  const std::string plugin = installation().plugin("model_plugin", "my_models");
  const ProgramRun run = installation().run({"--torchstone_plugin=" + plugin, "--torchstone_only=tiny_mlp",
                                             "--torchstone_checks=accuracy", "--torchstone_backends=torchscript"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto row = installation().results().at("results").at(0);
  EXPECT_THAT(row.at("name").get<std::string>(), HasSubstr("tiny_mlp_inference_float32_torchscript"));
  EXPECT_EQ(row.at("outcome").at("status"), "pass") << row.dump(1);
}

TEST_F(AnInstallation, RunsAPlugInsModelInAPrivateSuite) {
  const std::string plugin = installation().plugin("model_plugin", "my_models");
  const ProgramRun run = installation().run({"--torchstone_plugin=" + plugin, "--torchstone_suite=mine",
                                             "--torchstone_checks=accuracy", "--torchstone_backends=torchscript"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  std::vector<std::string> names;
  const auto results = installation().results();
  for (const auto& row : results.at("results")) names.push_back(row.at("name"));
  EXPECT_THAT(names, testing::UnorderedElementsAre(
                         "mine/Accuracy.CompiledMatchesEager/tiny_mlp_inference_float32_torchscript_cpu",
                         "mine/Accuracy.CompiledMatchesEager/tiny_mlp_training_float32_torchscript_cpu"));
}

TEST_F(AnInstallation, LinksModelsIntoAProgramOfItsUser) {
  const ProgramRun run = run_program({installation().executable("own_program", "my_tests"), "--torchstone_suite=mine",
                                      "--torchstone_checks=accuracy", "--torchstone_backends=torchscript",
                                      "--torchstone_out=" + installation().results_folder()});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("mine/Accuracy.*/TinyMlp_inference_float32_torchscript_cpu"));
}

TEST_F(AnInstallation, BuildsATrainingLoopOfItsUser) {
  const std::string out = installation().results_folder();
  const ProgramRun run = run_program({installation().executable("own_training", "train_resnet18"), "--backend",
                                      "torchscript", "--steps", "4", "--batch", "4", "--side", "32", "--out", out});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(read_file(out + "/loss.csv"), testing::StartsWith("step,eager,torchscript\n0,"));
}

TEST_F(AnInstallation, BuildsAPlugInWithABackendAloneAndRefusesASecondOneOfTheName) {
  const std::string plugin = installation().plugin("backend_plugin", "my_backend");
  const std::vector<std::string> arguments{"--torchstone_plugin=" + plugin, "--torchstone_only=lennard_jones",
                                           "--torchstone_backends=folded", "--torchstone_checks=accuracy",
                                           "--torchstone_modes=inference,training"};
  const ProgramRun run = installation().run(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  std::map<std::string, nlohmann::json> outcomes;
  const auto results = installation().results();
  for (const auto& row : results.at("results")) outcomes[row.at("mode")] = row.at("outcome");
  EXPECT_EQ(outcomes["inference"]["status"], "pass") << outcomes["inference"].dump(1);
  EXPECT_EQ(outcomes["training"]["status"], "unsupported");
  EXPECT_THAT(outcomes["training"]["reason"].get<std::string>(), HasSubstr("compiles inference only"));

  const std::string copy = std::filesystem::path(plugin).replace_filename("libother.so");
  std::filesystem::copy_file(plugin, copy);
  const ProgramRun both = installation().run({"--torchstone_plugin=" + plugin, "--torchstone_plugin=" + copy});
  EXPECT_EQ(both.exit_code, 2) << both.out << both.err;
  EXPECT_THAT(both.err, AllOf(HasSubstr("libother.so"), HasSubstr("backend folded is already registered at"),
                              HasSubstr("my_backend.cpp:"), HasSubstr("of the plug-in " + plugin)));
}

TEST_F(AnInstallation, BuildsAPlugInWhoseCheckIsRun) {
  const std::string plugin = installation().plugin("check_plugin", "my_check");
  const ProgramRun run = installation().run({"--torchstone_plugin=" + plugin, "--torchstone_only=lennard_jones",
                                             "--torchstone_checks=repeats", "--torchstone_backends=torchscript",
                                             "--torchstone_modes=inference"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto row = installation().results().at("results").at(0);
  EXPECT_THAT(row.at("name").get<std::string>(), HasSubstr("Repeats.CompiledRepeatsItself/lennard_jones_inference"));
  EXPECT_EQ(row.at("check"), "repeats");
  EXPECT_EQ(row.at("outcome").at("status"), "pass") << row.dump(1);
  EXPECT_EQ(row.at("outcome").at("notes").at("calls"), "5");
}

TEST_F(AnInstallation, BuildsAPlugInWhoseReportWriterWritesInARunAndAfterIt) {
  const std::string plugin = installation().plugin("report_writer_plugin", "my_writer");
  const ProgramRun run = installation().run({"--torchstone_plugin=" + plugin, "--torchstone_only=lennard_jones",
                                             "--torchstone_checks=accuracy", "--torchstone_backends=torchscript",
                                             "--torchstone_modes=inference"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const std::string table = read_file(installation().results_folder() + "/slowest.md");
  EXPECT_THAT(table, HasSubstr("| pass | torchbench/Accuracy.CompiledMatchesEager/lennard_jones_inference_float32"));
  const ProgramRun after = run_program(
      {installation().program("torchstone-report"), "slowest", installation().results_folder(), "--plugin=" + plugin});
  EXPECT_EQ(after.exit_code, 0) << after.err;
  EXPECT_EQ(after.out, table);
}

TEST(APlugInThatIsNone, IsAnErrorThatNamesIt) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({"--torchstone_plugin=/no/such/libplugin.so"});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("libplugin.so"));
}

TEST(APlugInThatRegistersNothing, IsAnErrorThatSaysWhatIsExpected) {
  const Torchstone torchstone;
  const std::string plugin = TORCHSTONE_FAULTS;
  const ProgramRun run = torchstone.run({"--torchstone_plugin=" + plugin, "--torchstone_plugin=" + plugin});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("registered nothing"), HasSubstr("TORCHSTONE_BACKEND")));
}

}  // namespace
}  // namespace torchstone
