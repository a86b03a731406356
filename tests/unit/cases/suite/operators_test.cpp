#include "cases/suite/operators.h"

#include "tests/unit/cases/support.h"

namespace torchstone::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* log =
    "Operator: aten.test_add.Tensor\n"
    "cnt: 2, ((T([2], f32), 1), {})\n"
    "cnt: 1, ((T([3], f32), 1), {})\n"
    "cnt: 1, ((T([4], f32), 1), {})\n"
    "Operator: aten.test_embedding.default\n"
    "cnt: 1, ((T([4], f32), T([1], i64)), {})\n";

constexpr const char* suite_text =
    "suite: operators\n"
    "matrix:\n"
    "  - {checks: [accuracy], backends: [eager]}\n"
    "operators: {logs: [log.txt], max_samples: 2}\n";

/// The suite of a folder, its logs read.
std::vector<suite::Suite> read(const Folder& folder, const std::vector<std::string>& flags = {}) {
  auto suites = suite::read_suites(folder.path() + "/suite.yaml");
  add_operators(suites, flags_of(flags));
  return suites;
}

std::vector<std::string> models_of(const suite::Suite& suite) {
  std::vector<std::string> names;
  for (const auto& model : suite.models) names.push_back(model.name);
  return names;
}

TEST(Operators, EachInputOfALogIsAModelOfTheSuite) {
  const Folder folder;
  folder.write("log.txt", log);
  folder.write("suite.yaml", suite_text);
  const auto suites = read(folder);
  EXPECT_THAT(models_of(suites[0]),
              ElementsAre("aten.test_add.Tensor.0", "aten.test_add.Tensor.1", "aten.test_embedding.default.0"));
  EXPECT_EQ(suites[0].models[1].place.line, 3);
  const selection::Expansion expansion = expand(suites, selection::known_here(), flags_of({}));
  EXPECT_THAT(
      names_of(expansion.cases),
      ElementsAre("operators/Accuracy.CompiledMatchesEager/aten_test_add_Tensor_0_inference_float32_eager_cpu",
                  "operators/Accuracy.CompiledMatchesEager/aten_test_add_Tensor_1_inference_float32_eager_cpu"));
  ASSERT_EQ(expansion.skipped.size(), 1U);
  EXPECT_THAT(expansion.skipped[0].reason, HasSubstr("its indices cannot be drawn"));
  EXPECT_THAT(expansion.skipped[0].origin, HasSubstr("log.txt:6"));
}

TEST(Operators, FlagsChooseLogsSamplesAndLayouts) {
  const Folder folder;
  folder.write("log.txt", log);
  folder.write("suite.yaml", suite_text);
  const auto other = folder.write("other.txt", "Operator: aten.test_relu.default\ncnt: 1, ((T([2], f32),), {})\n");
  EXPECT_THAT(models_of(read(folder, {"--torchstone_start_index=2", "--torchstone_max_samples=9"})[0]),
              ElementsAre("aten.test_add.Tensor.2"));
  EXPECT_THAT(models_of(read(
                  folder, {"--torchstone_operator_logs=" + other, "--torchstone_layouts=recorded,channels_last"})[0]),
              ElementsAre("aten.test_relu.default.0", "aten.test_relu.default.0_channels_last"));
}

TEST(Operators, SeveralLogsAreOne) {
  const Folder folder;
  folder.write("log.txt", log);
  folder.write("second.txt", log);
  folder.write("suite.yaml",
               "suite: operators\nmatrix: [{checks: [accuracy], backends: [eager]}]\noperators: {logs: [log.txt, "
               "second.txt]}\n");
  EXPECT_EQ(read(folder)[0].models.size(), 4U);
}

TEST(Operators, ASuiteThatIsNotChosenReadsNoLog) {
  const Folder folder;
  folder.write("log.txt", "broken");
  folder.write("suite.yaml", suite_text);
  folder.write("b/other.yaml", "suite: other\nmodels: [first]\nmatrix: [{checks: [accuracy], backends: [eager]}]\n");
  auto suites = suite::read_suites(folder.path() + "/suite.yaml");
  suites.push_back(suite::read_suite(folder.path() + "/b/other.yaml"));
  add_operators(suites, flags_of({"--torchstone_suite=other"}));
  EXPECT_THAT(suites[0].models, IsEmpty());
}

TEST(Operators, MistakesAreNamedWithFileAndLine) {
  const Folder folder;
  folder.write("log.txt", "Operator: aten.test_add.Tensor\ncnt: 2, ((T([2], f99), 1), {})\n");
  folder.write("suite.yaml", suite_text);
  EXPECT_THAT(error_of([&] { read(folder); }, folder.path()),
              HasSubstr("log.txt:2:18: 'f99), 1), {})' (expected a dtype"));
  const auto error = [&](const std::string& operators) {
    folder.write("suite.yaml",
                 "suite: operators\nmatrix: [{checks: [accuracy], backends: [eager]}]\noperators: " + operators + "\n");
    return error_of([&] { suite::read_suites(folder.path() + "/suite.yaml"); }, folder.path());
  };
  EXPECT_THAT(error("{max_samples: 3}"), HasSubstr("suite.yaml:3: operators: the key logs is missing"));
  EXPECT_THAT(error("{logs: [absent.txt]}"), HasSubstr("there is no file"));
  EXPECT_THAT(error("{logs: []}"), HasSubstr("an empty list"));
  EXPECT_THAT(error("{logs: [log.txt], max_samples: 0}"), HasSubstr("operators.max_samples"));
  EXPECT_THAT(error("{logs: [log.txt], layouts: [channel_last]}"), HasSubstr("did you mean channels_last?"));
  EXPECT_THAT(error("{logs: [log.txt], sample: 1}"), HasSubstr("unknown key"));
}

}  // namespace
}  // namespace torchstone::test
