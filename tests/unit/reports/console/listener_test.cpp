// The listener needs a GoogleTest run of its own: this program runs itself with TORCHSTONE_LISTENER_DEMO set, which
// registers the tests below and puts the listener in. Without the variable they do not exist.
#include "reports/console/listener.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include <gmock/gmock.h>

#include "reports/base/text.h"
#include "reports/record/properties.h"
#include "reports/record/verdict.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::console {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

void record(const Result& result) {
  for (const auto& [key, value] : properties_of(result)) testing::Test::RecordProperty(key, value);
}

class Demo : public testing::Test {
 public:
  explicit Demo(void (*body)()) : body_(body) {}
  void TestBody() override { body_(); }

 private:
  void (*body_)();
};

void passes() {
  Result r = simple_result("Demo.passes", Status::pass);
  r.outcome.metrics = {
      {"error_of_limit", 0.12}, {"speedup", 1.43}, {"speedup_low", 1.4}, {"speedup_high", 1.46}, {"compile_s", 8.1}};
  record(r);
}
void fails() {
  Result r = simple_result("Demo.fails", Status::fail_accuracy);
  r.outcome.reason = "output 0 differs";
  record(r);
  FAIL() << "said by the row already";
}
void asserts() {
  record(simple_result("Demo.asserts", Status::pass));
  EXPECT_EQ(1, 2) << "own words";
}
void throws() { throw std::runtime_error("before anything was recorded"); }
void garbles() {
  testing::Test::RecordProperty("accuracy", "pass");
  testing::Test::RecordProperty("speedup", "quick");
}
void is_plain() {}
void skips() { GTEST_SKIP() << "no such device"; }

[[maybe_unused]] const bool demo_is_registered = [] {
  if (std::getenv("TORCHSTONE_LISTENER_DEMO") == nullptr) return false;
  const auto add = [](const char* name, void (*body)()) {
    testing::RegisterTest("Demo", name, nullptr, nullptr, __FILE__, __LINE__,
                          [body]() -> Demo* { return new Demo(body); });
  };
  add("passes", passes);
  add("fails", fails);
  add("asserts", asserts);
  add("throws", throws);
  add("garbles", garbles);
  add("is_plain", is_plain);
  add("skips", skips);
  ListenerOptions options;
  options.on_result = [](const Result& r) {
    std::cout << "RESULT " << r.name << ' ' << to_string(r.outcome.status) << ' ' << (r.duration_s >= 0) << ' '
              << !r.recorded.empty() << " [" << first_line(r.outcome.reason) << "]\n";
  };
  options.at_end = [] { std::cout << "SUMMARY\n"; };
  install_listener(std::move(options));
  return true;
}();

std::string demo(const std::string& flags) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  return run_line("TORCHSTONE_LISTENER_DEMO=1 NO_COLOR=1 '" + program + "' " + flags).output;
}

TEST(Listener, PrintsARowAndHandsOverTheResult) {
  EXPECT_THAT(demo("--gtest_filter=Demo.passes"),
              AllOf(HasSubstr("[  PASS  ]   Demo.passes"), HasSubstr("err 0.12×  1.43x [1.40 1.46]  compile 8.1 s"),
                    HasSubstr("RESULT Demo.passes pass 1 1 []"), Not(HasSubstr("[ RUN"))));
}

TEST(Listener, ShowsAFailedCheckByItsReason) {
  EXPECT_THAT(
      demo("--gtest_filter=Demo.fails"),
      AllOf(HasSubstr("[  FAIL  ] ! Demo.fails"), HasSubstr("output 0 differs"), HasSubstr("again: ./torchstone"),
            Not(HasSubstr("said by the row already")), HasSubstr("RESULT Demo.fails fail_accuracy")));
}

TEST(Listener, AFailedAssertionTurnsAPassRedAndIsShown) {
  EXPECT_THAT(demo("--gtest_filter=Demo.asserts"), AllOf(HasSubstr("own words"), HasSubstr("listener_test.cpp:"),
                                                         HasSubstr("RESULT Demo.asserts fail_to_run")));
}

TEST(Listener, ATestThatFailsBeforeItRecordsIsAResultToo) {
  EXPECT_THAT(demo("--gtest_filter=Demo.throws"),
              AllOf(HasSubstr("[  FAIL  ] ! Demo.throws"), HasSubstr("before anything was recorded"),
                    HasSubstr("RESULT Demo.throws fail_to_run")));
}

TEST(Listener, AnUnreadableRecordIsRed) {
  EXPECT_THAT(demo("--gtest_filter=Demo.garbles"),
              AllOf(HasSubstr("RESULT Demo.garbles fail_to_run"), HasSubstr("property speedup: expected a number")));
}

TEST(Listener, PlainAndSkippedTestsHaveRowsButNoResults) {
  EXPECT_THAT(demo("--gtest_filter=Demo.is_plain:Demo.skips"),
              AllOf(HasSubstr("[  PASS  ]   Demo.is_plain"), HasSubstr("[  SKIP  ] x Demo.skips"),
                    HasSubstr("no such device"), Not(HasSubstr("RESULT"))));
}

TEST(Listener, LeavesTheLastWordAfterGoogleTestsClosingLines) {
  const std::string output = demo("--gtest_filter=Demo.*");
  const auto summary = output.find("SUMMARY"), closing = output.find("[==========] 7 tests"),
             failed = output.find("[  FAILED  ] 3 tests");
  ASSERT_NE(closing, std::string::npos) << output;
  ASSERT_NE(failed, std::string::npos) << output;
  EXPECT_LT(output.find("[==========] Running 7 tests"), output.find("Demo.passes"));
  EXPECT_LT(output.rfind("RESULT"), summary);
  EXPECT_LT(closing, failed);
  EXPECT_LT(failed, summary);
  EXPECT_THAT(output.substr(closing), HasSubstr("Demo.throws"));
}

TEST(Listener, HandsOverEachRepetition) {
  const std::string output = demo("--gtest_filter=Demo.passes --gtest_repeat=2");
  EXPECT_NE(output.find("RESULT"), output.rfind("RESULT"));
}

TEST(Row, ShortNameIsWhatStandsBehindTheLastSlash) {
  EXPECT_EQ(short_name("torchbench/Accuracy.A/resnet18_float32"), "resnet18_float32");
  EXPECT_EQ(short_name("Plain.Test"), "Plain.Test");
}

TEST(Row, NamesSuiteAndCheckAsAFilterTakesThem) {
  const std::string name = "torchbench/Accuracy.CompiledMatchesEager/resnet18_inference_float32_inductor_cpu";
  EXPECT_EQ(filter_of(name), "torchbench/Accuracy.*/resnet18_inference_float32_inductor_cpu");
  EXPECT_EQ(filter_of("Plain.Test"), "Plain.Test");
  EXPECT_EQ(filter_of("a/b"), "a/b");
  EXPECT_EQ(fitting_filter(name, 100), filter_of(name));
  EXPECT_EQ(fitting_filter(name, 50), "*/resnet18_inference_float32_inductor_cpu");
  EXPECT_EQ(fitting_filter(name, 30), "*/resnet18_infe*2_inductor_cpu");
}

TEST(Row, SaysThatAModelIsMini) {
  Result result;
  result.name = "torchbench/Performance.CompiledAgainstEager/resnet18_inference_float32_inductor_cpu";
  result.finished = true;
  result.outcome.status = Status::pass;
  result.preset = "mini";
  result.outcome.metrics["speedup"] = 1.12;
  EXPECT_THAT(console_row(result, false), testing::EndsWith("_inductor_cpu    mini 1.12x"));
  result.preset = "full";
  EXPECT_THAT(console_row(result, false), testing::Not(HasSubstr("mini")));
}

}  // namespace
}  // namespace torchstone::console
