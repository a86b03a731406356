// Tables of operators, layers and convolutions that the real program writes for its cases.
#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ProgramRun run_tables(const Torchstone& torchstone, const std::string& model, const std::string& backend,
                      std::vector<std::string> options) {
  options.insert(options.end(), {"--torchstone_only=" + model, "--torchstone_checks=accuracy",
                                 "--torchstone_dtypes=float32", "--torchstone_backends=" + backend});
  return torchstone.run(options);
}

std::string note_of(const Torchstone& torchstone, const std::string& name) {
  return torchstone.row("").at("outcome").at("notes").at(name);
}

/// Returns the content of the file that a note of the only row names.
std::string file_of(const Torchstone& torchstone, const std::string& name) {
  return read_file(torchstone.out() + "/" + note_of(torchstone, name));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(ProgramTables, OfACompiledProgramSayWhatTheCompilerTookAndWhatEachLayerTakes) {
  const Torchstone torchstone;
  const ProgramRun run =
      run_tables(torchstone, "lennard_jones", "inductor",
                 {"--torchstone_modes=inference", "--torchstone_coverage", "--torchstone_layer_times"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;

  const std::string coverage = file_of(torchstone, "coverage");
  EXPECT_THAT(coverage, StartsWith("operator,overload,calls,eager_us,share,compiled_by,compiler,aten,both,nothing,"
                                   "unknown\n"));
  EXPECT_THAT(coverage, testing::ContainsRegex("\naten::tanh,,[0-9]+,[0-9.]+,[0-9.]+,compiler,"));
  EXPECT_THAT(coverage, testing::ContainsRegex("\naten::addmm,,[0-9]+,[0-9.]+,[0-9.]+,aten,|"
                                               "\naten::linear,,[0-9]+,[0-9.]+,[0-9.]+,aten,"));

  const auto layers = lines_of(file_of(torchstone, "layers"));
  EXPECT_EQ(layers.at(0), "layer,operators,kernels,eager_us,compiled_us,slower_us");
  EXPECT_THAT(layers.back(), StartsWith("outside of operators and kernels,,,"));
  EXPECT_THAT(file_of(torchstone, "layers"), HasSubstr("aoti_torch_cpu_addmm_out"));

  EXPECT_THAT(run.out, HasSubstr("operators of torchbench/Accuracy.CompiledMatchesEager/lennard_jones_"));
  EXPECT_THAT(run.out, HasSubstr("layers of torchbench/Accuracy.CompiledMatchesEager/lennard_jones_"));
  EXPECT_THAT(run.out, HasSubstr("  a call takes "));
}

TEST(ProgramTables, OfABackendThatTellsNothingOfItsKernelsSayThatItIsUnknown) {
  const Torchstone torchstone;
  const ProgramRun run =
      run_tables(torchstone, "lennard_jones", "torchscript",
                 {"--torchstone_modes=inference", "--torchstone_coverage", "--torchstone_layer_times"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(file_of(torchstone, "coverage"), testing::ContainsRegex("\naten::tanh,,[0-9]+,[0-9.]+,[0-9.]+,unknown,"));
  EXPECT_EQ(note_of(torchstone, "layers"), "not written: the backend torchscript does not report its kernels");
  EXPECT_FALSE(std::filesystem::exists(torchstone.out() + "/layers"));
}

TEST(ProgramTables, OfTrainingAreForwardAndLossAndSayThatLayersAreOfInference) {
  const Torchstone torchstone;
  const ProgramRun run = run_tables(torchstone, "dcgan", "eager",
                                    {"--torchstone_modes=training", "--torchstone_coverage", "--torchstone_layer_times",
                                     "--torchstone_log_conv_args", "--torchstone_isolate=off"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(file_of(torchstone, "coverage"), HasSubstr(",aten,"));
  EXPECT_THAT(file_of(torchstone, "coverage"), Not(HasSubstr(",unknown,")));
  EXPECT_THAT(note_of(torchstone, "layers"), HasSubstr("the backend is eager itself"));
  const auto convolutions = nlohmann::json::parse(file_of(torchstone, "conv_args"));
  EXPECT_GT(convolutions.size(), 1U);
  EXPECT_EQ(convolutions.at("convolution").at("weight").at("dtype"), "torch.float32");
}

TEST(ProgramTables, OfAProgramThatCannotBeCapturedAreTheReasonAndNoFile) {
  const Torchstone torchstone;
  const ProgramRun without = torchstone.run_faults("*Accuracy*branches*torchscript*");
  EXPECT_FALSE(torchstone.row("branches").at("outcome").at("notes").contains("conv_args"));
  const ProgramRun run = torchstone.run_faults("*Accuracy*branches*torchscript*", {"--torchstone_log_conv_args"});
  EXPECT_EQ(run.exit_code, without.exit_code);
  EXPECT_THAT(note_of(torchstone, "conv_args"), StartsWith("not written: "));
  EXPECT_FALSE(std::filesystem::exists(torchstone.out() + "/conv_args"));
}

}  // namespace
}  // namespace torchstone
