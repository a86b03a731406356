#include "cases/settings/suite.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/cases/support.h"

namespace torchstone::suite {
namespace {

using test::error_of;
using testing::HasSubstr;

const std::string head = "suite: small\nmodels: [first, {second: {batch_size: 2}}]\nmatrix:\n";

std::string suite_error(const std::string& text) {
  const test::Folder folder;
  return error_of([&] { read_suite(folder.write("s.yaml", text)); }, folder.path());
}

TEST(Suite, ReadsRowsModelsAndDefaults) {
  const test::Folder folder;
  folder.write("policies/p.yaml", "tolerance_rule: timm\n");
  const Suite suite = read_suite(folder.write(
      "suites/s.yaml",
      "suite: small\npolicy: ../policies/p.yaml\ndefaults: {preset: full, device: cuda, seed: 5}\nmatrix:\n"
      "  - {checks: [accuracy], dtypes: bfloat16, backends: [eager, {inductor: {freezing: true}}], models: [first]}\n"
      "  - {checks: performance, presets: [mini], backends: 'inductor:a=b', required_speedup: 1.5}\n"
      "models:\n  - first\n  - second: {batch_size: 2, skip: broken}\n  - third:\n"));
  EXPECT_EQ(suite.name, "small");
  EXPECT_EQ(suite.policy.rule, policy::Rule::timm);
  ASSERT_EQ(suite.rows.size(), 2U);
  const config::Axes& axes = suite.rows[0].axes;
  EXPECT_EQ(axes.checks.at(0).value, "accuracy");
  EXPECT_EQ(axes.modes.at(0).value, Mode::inference);
  EXPECT_EQ(axes.modes.at(0).place.file, "default");
  EXPECT_EQ(axes.dtypes.at(0).value, DType::bfloat16);
  EXPECT_EQ(axes.backends.at(1).value, (BackendSpec{"inductor", {{"freezing", "true"}}}));
  EXPECT_EQ(axes.devices.at(0).value, "cuda");
  EXPECT_EQ(axes.presets.at(0).value, Preset::full);
  EXPECT_EQ(suite.rows[0].models.at(0).value, "first");
  EXPECT_EQ(suite.rows[1].axes.presets.at(0).value, Preset::mini);
  EXPECT_EQ(suite.rows[1].axes.backends.at(0).value, (BackendSpec{"inductor", {{"a", "b"}}}));
  EXPECT_EQ(suite.rows[1].place.line, 6);
  ASSERT_EQ(suite.models.size(), 3U);
  EXPECT_EQ(suite.models[1].skip, "broken");
  EXPECT_EQ(suite.models[1].place.line, 9);
}

TEST(Suite, RefusesUnknownKeys) {
  EXPECT_EQ(suite_error("suite: small\nmodel: [a]\n"),
            "s.yaml:2: model: unknown key (expected one of suite, policy, upstream_policies, expected_file, defaults, "
            "matrix, models, operators, own_files, own_modules; did you mean models?)");
  EXPECT_THAT(suite_error(head + "  - {checks: [accuracy], backends: [eager], required_speedp: 1}\n"),
              HasSubstr("s.yaml:4: matrix[0].required_speedp: unknown key"));
  EXPECT_THAT(suite_error(head + "  - {checks: [accuracy], backends: [eager], required_speedp: 1}\n"),
              HasSubstr("did you mean required_speedup?)"));
  EXPECT_THAT(suite_error("suite: s\nmatrix: []\nmodels:\n  - a: {batch_sise: 1}\n"),
              HasSubstr("s.yaml:4: models[0].a.batch_sise: unknown key"));
  EXPECT_THAT(suite_error("suite: s\ndefaults: {presett: mini}\n"), HasSubstr("did you mean presets?"));
}

TEST(Suite, RefusesValuesWithWhatWasExpected) {
  const auto row = [](const std::string& keys) { return suite_error(head + "  - {" + keys + "}\n"); };
  EXPECT_EQ(row("checks: [speed], backends: [eager]"),
            "s.yaml:4: matrix[0].checks[0]: 'speed' is not a check (expected one of accuracy, batch_invariance, "
            "compile_time, largest_batch, performance, tolerance, tournament)");
  EXPECT_THAT(row("checks: [accuracy], modes: [infer], backends: [eager]"),
              HasSubstr("'infer' is not a mode (expected one of inference, training"));
  EXPECT_THAT(row("checks: [accuracy], dtypes: [floot32], backends: [eager]"), HasSubstr("did you mean float32?"));
  EXPECT_THAT(row("checks: [accuracy], devices: [gpu], backends: [eager]"),
              HasSubstr("'gpu' is not a supported device (expected cpu, cuda or cuda:N)"));
  for (const char* xpu : {"xpu", "xpu:0"})
    EXPECT_THAT(row(fmt::format("checks: [accuracy], devices: ['{}'], backends: [eager]", xpu)),
                HasSubstr(fmt::format("devices[0]: '{}' is not a supported device", xpu)));
  EXPECT_THAT(row("checks: [accuracy], presets: [maxi], backends: [eager]"),
              HasSubstr("'maxi' is not a preset (expected one of mini, full"));
  EXPECT_EQ(row("backends: [eager]"), "s.yaml:4: matrix[0]: the key checks is missing");
  EXPECT_EQ(row("checks: [accuracy]"), "s.yaml:4: matrix[0]: the key backends is missing");
  EXPECT_EQ(row("checks: [], backends: [eager]"), "s.yaml:4: matrix[0].checks: an empty list (expected at least one)");
  EXPECT_THAT(row("checks: [accuracy], backends: ['inductor:freezing']"),
              HasSubstr("matrix[0].backends[0]: backend 'inductor:freezing': 'freezing' is no key=value"));
  EXPECT_THAT(row("checks: [accuracy], backends: [{a: {}, b: {}}]"),
              HasSubstr("2 backends in one map (expected name: {option: value})"));
  EXPECT_THAT(row("checks: [accuracy], backends: [{a: [1]}]"), HasSubstr("a list (expected a map key: value)"));
  EXPECT_THAT(row("checks: [accuracy], backends: {a: {}}"), HasSubstr("matrix[0].backends: a map (expected a list)"));
  EXPECT_THAT(row("checks: [accuracy], backends: [eager], models: [frst]"),
              HasSubstr("frst is not a model of this suite (expected one of first, second; did you mean first?)"));
  EXPECT_THAT(row("checks: [accuracy], backends: [eager], models: []"), HasSubstr("an empty list"));
  EXPECT_THAT(row("checks: [accuracy], backends: [eager], tolerance: -1"),
              HasSubstr("matrix[0].tolerance: '-1' (expected a number from 0 to 10)"));
  EXPECT_THAT(row("checks: [accuracy], backends: [eager], time_limit: soon"),
              HasSubstr("'soon' (expected a number from 1 to 86400)"));
  EXPECT_THAT(row("checks: [accuracy], backends: [eager], seed: 1e3"),
              HasSubstr("'1e3' (expected a whole number from 0 to"));
  EXPECT_THAT(row("checks: [accuracy], backends: [eager], cosine: 1"), HasSubstr("'1' (expected true or false)"));
  EXPECT_THAT(row("checks: [accuracy], backends: [eager], expected: fail_acuracy, reason: x"),
              HasSubstr("'fail_acuracy' is not a status"));
  EXPECT_THAT(row("checks: [accuracy], backends: [eager], expected: fail_accuracy"),
              HasSubstr("a known failure without a reason"));
  EXPECT_THAT(row("checks: [accuracy], backends: [eager], reason: x"), HasSubstr("a reason without a status"));
  EXPECT_THAT(suite_error("suite: s\nmodels: [a]\nmatrix: [word]\n"),
              HasSubstr("matrix[0]: 'word' (expected a map key: value)"));
}

TEST(Suite, RefusesADocumentWithoutItsParts) {
  EXPECT_EQ(suite_error("models: [a]\n"), "s.yaml:1: the key suite is missing");
  EXPECT_EQ(suite_error("suite: a-b\n"),
            "s.yaml:1: suite: 'a-b' is not a valid suite name (expected letters, digits and _)");
  EXPECT_EQ(suite_error("suite: s\nmatrix: []\n"), "s.yaml:1: the key models is missing");
  EXPECT_EQ(suite_error("suite: s\nmodels: []\nmatrix: []\n"),
            "s.yaml:2: models: an empty list (expected at least one model)");
  EXPECT_EQ(suite_error("suite: s\nmodels: [a]\nmatrix: []\n"),
            "s.yaml:3: matrix: an empty list (expected at least one row)");
  EXPECT_EQ(suite_error("suite: s\nmodels: [a, b, a]\n"), "s.yaml:2: models[2]: a is already listed at s.yaml:2");
  EXPECT_EQ(suite_error("suite: s\nmodels: [{a: {}, b: {}}]\n"),
            "s.yaml:2: models[0]: 2 keys (expected a model's name, or name: {key: value})");
  EXPECT_EQ(suite_error("suite: s\npolicy: no.yaml\n"), "s.yaml:2: policy: no such file: no.yaml");
  EXPECT_THAT(suite_error("suite: s\npolicy: " + std::string(5000, 'p') + "\n"),
              HasSubstr("s.yaml:2: policy: no such file: ppp"));
  EXPECT_EQ(suite_error("word\n"), "s.yaml:1: 'word' (expected a map key: value)");
}

TEST(Suites, AreReadFromAFolderInTheOrderOfTheirNames) {
  const test::Folder folder;
  EXPECT_THAT(error_of([&] { read_suites(folder.path()); }), HasSubstr("no *.yaml in this folder"));
  const std::string rest = "\nmodels: [a]\nmatrix: [{checks: [accuracy], backends: [eager]}]\n";
  folder.write("b.yaml", "suite: later" + rest);
  folder.write("a.yaml", "suite: early" + rest);
  folder.write("notes.txt", "not a suite");
  const auto suites = read_suites(folder.path());
  ASSERT_EQ(suites.size(), 2U);
  EXPECT_EQ(suites[0].name, "early");
  EXPECT_EQ(read_suites(folder.path() + "/b.yaml").at(0).name, "later");
  folder.write("c.yaml", "suite: early" + rest);
  EXPECT_EQ(error_of([&] { read_suites(folder.path()); }, folder.path()),
            "c.yaml:1: the suite early is already in a.yaml");
  EXPECT_EQ(error_of([&] { read_suites(folder.path() + "/none.yaml"); }, folder.path()),
            "none.yaml: the file cannot be read");
}

TEST(Suites, ShareTheFileOfAPolicyButNotWhatTheyAdd) {
  const test::Folder folder;
  folder.write("policies/p.yaml", "only_fp32: [m]\n");
  const std::string matrix = "matrix: [{checks: [accuracy], backends: [eager]}]\n";
  folder.write("mine.yaml", "suite: mine\nown_files: true\nupstream_policies: {timm: policies/p.yaml}\n" + matrix);
  folder.write("timm.yaml", "suite: timm\npolicy: policies/p.yaml\nmodels: [m]\n" + matrix);
  folder.write("zoo.yaml", "suite: zoo\npolicy: policies/p.yaml\nmodels: [m]\n" + matrix);
  const auto suites = read_suites(folder.path());
  ASSERT_EQ(suites.size(), 3U);
  const policy::Policy& of_file = suites[0].upstream_policies.at("timm");
  EXPECT_TRUE(of_file.keeps_batch_size);
  EXPECT_FALSE(suites[1].policy.keeps_batch_size);
  EXPECT_THAT(of_file.origin, HasSubstr("mine.yaml:3"));
  EXPECT_THAT(suites[1].policy.origin, HasSubstr("timm.yaml:2"));
  EXPECT_EQ(of_file.rule, policy::Rule::timm);
  EXPECT_EQ(suites[1].policy.rule, policy::Rule::timm);
  EXPECT_EQ(suites[2].policy.rule, policy::Rule::torchbench) << "the default of another suite";
  for (const auto* policy : {&of_file, &suites[1].policy, &suites[2].policy})
    EXPECT_NE(policy->find("only_fp32", "m"), nullptr) << policy->origin;
}

}  // namespace
}  // namespace torchstone::suite

namespace torchstone::test {
namespace {

using testing::AllOf;
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

/// Reads the suite of a folder and the operator logs that it names.
std::vector<suite::Suite> read(const Folder& folder, const std::vector<std::string>& flags = {}) {
  auto suites = suite::read_suites(folder.path() + "/suite.yaml");
  prepare_models(suites, flags_of(flags));
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

TEST(Operators, LogsAreFoundByTheNameOfAModel) {
  const Folder folder;
  folder.write("log.txt", log);
  folder.write("suite.yaml", suite_text);
  const auto sources = [](const suite::Suite& suite) {
    std::set<std::string> files;
    for (const auto& model : suite.models) files.insert(std::filesystem::path(model.place.file).filename());
    return files;
  };
  EXPECT_THAT(sources(read(folder, {"--torchstone_operators_of=squeezenet1_1"})[0]),
              testing::UnorderedElementsAre("squeezenet1_1_inference.txt"));
  EXPECT_THAT(sources(read(folder, {"--torchstone_operators_of=squeezenet1_1,BertForMaskedLM",
                                    "--torchstone_operator_logs=" + folder.path() + "/log.txt"})[0]),
              testing::UnorderedElementsAre("log.txt", "squeezenet1_1_inference.txt", "BertForMaskedLM_inference.txt"));
  EXPECT_THAT(error_of([&] { read(folder, {"--torchstone_operators_of=resnet_of_nobody"}); }),
              AllOf(HasSubstr("flag --torchstone_operators_of=resnet_of_nobody: no log of the operators of "),
                    HasSubstr("--torchstone_log_operator_inputs=FILE records one")));
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
  prepare_models(suites, flags_of({"--torchstone_suite=other"}));
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
  EXPECT_THAT(error("{logs: [absent.txt]}"), HasSubstr("no such file"));
  EXPECT_THAT(error("{logs: []}"), HasSubstr("an empty list"));
  EXPECT_THAT(error("{logs: [log.txt], max_samples: 0}"), HasSubstr("operators.max_samples"));
  EXPECT_THAT(error("{logs: [log.txt], layouts: [channel_last]}"), HasSubstr("did you mean channels_last?"));
  EXPECT_THAT(error("{logs: [log.txt], sample: 1}"), HasSubstr("unknown key"));
}

}  // namespace
}  // namespace torchstone::test
