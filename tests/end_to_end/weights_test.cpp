// Checkpoints instead of random weights.
#include <fstream>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Shapes = std::vector<std::pair<std::string, std::vector<size_t>>>;

// torchbench's multilayer perceptron of the Lennard-Jones potential: 1 → 16 → 16 → 16 → 16 → 1.
const Shapes lennard_jones{{"0.weight", {16, 1}},  {"0.bias", {16}}, {"2.weight", {16, 16}}, {"2.bias", {16}},
                           {"4.weight", {16, 16}}, {"4.bias", {16}}, {"6.weight", {16, 16}}, {"6.bias", {16}},
                           {"8.weight", {1, 16}},  {"8.bias", {1}}};

/// Writes a safetensors file whose float32 tensors contain only `value`.
void write_filled(const std::string& path, const Shapes& shapes, float value) {
  nlohmann::json header;
  size_t count = 0;
  for (const auto& [name, shape] : shapes) {
    const size_t start = count;
    count += std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies<>());
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {4 * start, 4 * count}}};
  }
  const std::string text = header.dump();
  const uint64_t length = text.size();
  const std::vector<float> values(count, value);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << text;
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(4 * count));
}

std::vector<std::string> flags_with(const std::string& weights) {
  return {"--torchstone_only=lennard_jones", "--torchstone_checks=accuracy",      "--torchstone_modes=inference",
          "--torchstone_dtypes=float32",     "--torchstone_backends=torchscript", "--torchstone_weights=" + weights};
}

TEST(ACheckpoint, IsJudgedAndTheRowSaysSo) {
  const Torchstone torchstone;
  const std::string path = torchstone.out() + "/x.safetensors";
  write_filled(path, lennard_jones, std::numeric_limits<float>::quiet_NaN());
  const ProgramRun broken = torchstone.run(flags_with(path));
  EXPECT_NE(broken.exit_code, 0) << "weights of NaN were not judged\n" << broken.out;

  Shapes more = lennard_jones;
  more.push_back({"pooler.weight", {2}});
  write_filled(path, more, 0.125F);
  const ProgramRun run = torchstone.run(flags_with(path));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto notes = torchstone.results().at("results").at(0).at("outcome").at("notes");
  EXPECT_EQ(notes.at("weights"), path);
  EXPECT_EQ(notes.at("weights_left_over"), "1 of the checkpoint's tensors do not occur in the model: pooler.weight");
}

TEST(ACheckpoint, ThatDoesNotFitIsARowAndOneThatIsNotThereAWrongFlag) {
  const Torchstone torchstone;
  const std::string path = torchstone.out() + "/x.safetensors";
  write_filled(path, {{"0.weight", {2}}}, 0);
  const ProgramRun run = torchstone.run(flags_with(path));
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const auto outcome = torchstone.results().at("results").at(0).at("outcome");
  EXPECT_EQ(outcome.at("status"), "model_fail_to_load");
  EXPECT_THAT(outcome.dump(), AllOf(HasSubstr("0.weight: float32 tensor [2], expected"), HasSubstr("0.bias: missing")));
  const ProgramRun none = torchstone.run(flags_with("no_such_checkpoint"));
  EXPECT_EQ(none.exit_code, 2) << none.out << none.err;
  EXPECT_THAT(none.err, AllOf(HasSubstr("--torchstone_weights="),
                              HasSubstr("no_such_checkpoint does not exist (expected a checkpoint: FILE.safetensors")));
}

}  // namespace
}  // namespace torchstone
