#include "cases/main/session.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <torchstone/model_info.h>

#include "reports/base/files.h"
#include "reports/record/report_json.h"
#include "tests/temporary_folder.h"

namespace torchstone {
namespace {

/// A session of one case that is skipped, so that nothing is loaded or compiled.
class SessionOfOneCase : public testing::Test {
 protected:
  SessionOfOneCase() {
    std::filesystem::create_directories(folder_.path() / "cases");
    Case& c = cases_.front();
    c.suite = "torchbench";
    c.model = "resnet18";
    c.skip_reason = "too large";
    suites_.front().name = c.suite;
    suites_.front().policy.upstream_names = {{"resnet18", "resnet18.tv_in1k"}};
  }

  static flags::Flags flags_for(const std::filesystem::path& out) {
    flags::Flags flags;
    flags.run.out = out.string();
    flags.run.isolate = Isolation::off;
    return flags;
  }

  const TemporaryFolder folder_;
  flags::Flags flags_ = flags_for(folder_.path());
  std::vector<Case> cases_ = std::vector<Case>(1);
  std::vector<suite::Suite> suites_ = std::vector<suite::Suite>(1);
  Session session_{flags_, cases_, suites_, isolate::CaseRunner(cases_, flags_.run)};
};

TEST_F(SessionOfOneCase, MakesTheResultThatTheListenerTakes) {
  const auto result = session_.run(0);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->name, name_of(cases_[0]));
  EXPECT_EQ(result->outcome.status, Status::pass_due_to_skip);
  EXPECT_EQ(result->outcome.reason, "too large");
  EXPECT_EQ(result->upstream_name, "resnet18.tv_in1k");
  EXPECT_FALSE(session_.take("another"));
  const auto taken = session_.take(result->name);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->outcome.reason, "too large");
  EXPECT_FALSE(session_.take(result->name)) << "a repetition must not find it";
}

TEST_F(SessionOfOneCase, HasNoBatchBeforeThePythonModuleDecidesIt) {
  cases_.front().batch_size = 4;
  EXPECT_EQ(row_of(cases_.front(), session_).batch_size, 4);
  cases_.front().batch_source = BatchSource::module;
  EXPECT_EQ(row_of(cases_.front(), session_).batch_size, 0);
}

TEST_F(SessionOfOneCase, HasUpstreamsNameOfAModelOfAPackage) {
  ModelInfo info;
  info.name = "Qwen_Qwen3_0_6B_of_a_package";
  info.make = [](const ModelOptions&) -> std::shared_ptr<Model> { return nullptr; };
  info.upstream = UpstreamModel{"huggingface", "Qwen/Qwen3-0.6B"};
  register_model(info, __FILE__, __LINE__);
  cases_.front().model = info.name;
  EXPECT_EQ(row_of(cases_.front(), session_).upstream_name, "Qwen/Qwen3-0.6B");
}

TEST_F(SessionOfOneCase, HasUpstreamsNameOfAClassOfAPackage) {
  ModelInfo info;
  info.name = "Camembert_of_a_package";
  info.make = [](const ModelOptions&) -> std::shared_ptr<Model> { return nullptr; };
  info.upstream = UpstreamModel{"huggingface", "CamembertForMaskedLM"};
  register_model(info, __FILE__, __LINE__);
  suites_.front().upstream_policies["huggingface"].upstream_names = {{"CamembertForMaskedLM", "CamemBert"}};
  cases_.front().model = info.name;
  EXPECT_EQ(row_of(cases_.front(), session_).upstream_name, "CamemBert");
}

TEST(OrderOfTests, HasInferenceOfAllOwnModelsBeforeTheirTraining) {
  std::vector<suite::Suite> suites(2);
  suites[0].name = "zoo";
  suites[1].name = "own";
  suites[1].own_files = true;
  const auto case_of = [](const char* suite, const char* model, Mode mode, const char* check) {
    Case c;
    c.suite = suite;
    c.model = model;
    c.mode = mode;
    c.check = check;
    return c;
  };
  std::vector<Case> cases{case_of("own", "a", Mode::inference, "performance"),
                          case_of("own", "a", Mode::training, "accuracy"),
                          case_of("own", "b", Mode::inference, "accuracy")};
  EXPECT_EQ(order_of_tests(cases, suites), (std::vector<size_t>{2, 1, 0}));
  for (Case& c : cases) c.suite = "zoo";
  EXPECT_EQ(order_of_tests(cases, suites), (std::vector<size_t>{1, 2, 0})) << "as the suite lists them";
}

TEST_F(SessionOfOneCase, RecordsAndKeepsWhatIsFinished) {
  Result result = *session_.run(0);
  session_.origin.folder = "f";
  session_.finish(result);
  result.outcome.status = Status::pass;
  session_.finish(result);
  ASSERT_EQ(session_.results.size(), 2u) << "one for each repetition";
  EXPECT_EQ(session_.results[0].origin.sequence, 1);
  EXPECT_EQ(session_.results[1].origin.sequence, 2);
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "cases")) {
    const auto written = parse_case_json(read_text(entry.path()), entry.path().string());
    EXPECT_EQ(written.name, result.name);
    EXPECT_EQ(written.origin.sequence, 2);
    EXPECT_EQ(written.upstream_name, "resnet18.tv_in1k");
    ++files;
  }
  EXPECT_GE(files, 1u);
}

}  // namespace
}  // namespace torchstone
