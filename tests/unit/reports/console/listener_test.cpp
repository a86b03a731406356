// The listener needs a GoogleTest run of its own. This program runs itself with TORCHSTONE_LISTENER_DEMO set, which
// registers the tests below and installs the listener. Without the variable, they do not exist.
#include "reports/console/listener.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>

#include <gmock/gmock.h>

#include "reports/base/text.h"
#include "reports/record/verdict.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::console {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Results of the tests by name, as a session stores them.
std::map<std::string, Result>& produced() {
  static std::map<std::string, Result> results;
  return results;
}

void produce(const Result& result) { produced()[result.name] = result; }

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
  produce(r);
}
void fails() {
  Result r = simple_result("Demo.fails", Status::fail_accuracy);
  r.outcome.reason = "output 0 differs";
  produce(r);
  FAIL() << "said by the row already";
}
void asserts() {
  produce(simple_result("Demo.asserts", Status::pass));
  EXPECT_EQ(1, 2) << "own words";
}
void throws() { throw std::runtime_error("before anything was recorded"); }
void produces_for_another() {
  produce(simple_result("Demo.somebody_else", Status::pass));
  FAIL() << "without a result of its own";
}
void has_everything() {
  Result r = simple_result("Demo.has_everything", Status::undecided);
  r.origin.folder = "f";
  r.outcome.reason = "weißt\xff";
  r.outcome.samples = {{"eager_s", {0.25, 0.5}}};
  r.outcome.threads_across_caches = true;
  produce(r);
}
/// Row that the listener prints before its test. The test then produces the same row or another one.
Result early_result() { return simple_result("Demo.is_printed_early", Status::pass); }
ResultListener* demo_listener = nullptr;
void prints_early() {
  demo_listener->print_early(early_result());
  std::cout << "BEFORE\n";
  produce(simple_result("Demo.prints_early", Status::pass));
}
void is_printed_early() { produce(early_result()); }
void is_diagnosed() {
  Result r = simple_result("Demo.is_diagnosed", Status::fail_accuracy);
  r.outcome.reason = "output 0 differs";
  demo_listener->print_early(r);
  std::cout << "BEFORE\n";
  r.outcome.undiagnosed = "not among the first ten";
  produce(r);
  FAIL() << "said by the row already";
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
  add("produces_for_another", produces_for_another);
  add("has_everything", has_everything);
  add("prints_early", prints_early);
  add("is_printed_early", is_printed_early);
  add("is_diagnosed", is_diagnosed);
  add("is_plain", is_plain);
  add("skips", skips);
  ListenerOptions options;
  options.take_result = [](const std::string& name) -> std::optional<Result> {
    auto found = produced().extract(name);
    return found.empty() ? std::nullopt : std::optional(std::move(found.mapped()));
  };
  options.on_result = [](const Result& r) {
    if (r.outcome.threads_across_caches)
      std::cout << "WHOLE " << r.origin.folder << ' ' << r.outcome.samples.at("eager_s").size() << ' '
                << r.outcome.reason.ends_with('\xff') << "\n";
    std::cout << "RESULT " << r.name << ' ' << to_string(r.outcome.status) << ' ' << (r.duration_s >= 0) << ' '
              << !r.recorded.empty() << " [" << first_line(r.outcome.reason) << "]\n";
  };
  options.findings = [] {
    const char* red = std::getenv("TORCHSTONE_LISTENER_RED");
    return red == nullptr ? ClosingFindings() : ClosingFindings{{red}, "1 case is worse"};
  };
  options.at_end = [] { std::cout << "SUMMARY\n"; };
  demo_listener = &install_listener(std::move(options));
  return true;
}();

/// Returns the output of the demo with these flags. `variables` sets its environment, as "NAME=VALUE ".
std::string demo(const std::string& flags, const std::string& variables = "") {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  return run_line(variables + "TORCHSTONE_LISTENER_DEMO=1 NO_COLOR=1 '" + program + "' " + flags).output;
}

TEST(Listener, ListsWhatAFindingMakesRedInGoogleTestsOwnLines) {
  const std::string tests = "--gtest_filter=Demo.passes:Demo.is_plain:Demo.skips", red = "TORCHSTONE_LISTENER_RED=";
  const std::string output = demo(tests, red + "Demo.passes ");
  EXPECT_THAT(output,
              AllOf(HasSubstr("[==========] 3 tests from 1 test suite ran. ("),
                    HasSubstr("[  PASSED  ] 1 test.\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] Demo.skips\n"
                              "[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Demo.passes\n"
                              "[  FAILED  ] against the baseline: 1 case is worse\n"),
                    HasSubstr("\n 1 FAILED TEST\nSUMMARY\n")));
  EXPECT_THAT(demo(tests, red + "Demo.skips "),
              AllOf(HasSubstr("[  PASSED  ] 2 tests.\n"), HasSubstr("[  FAILED  ] Demo.skips\n"),
                    Not(HasSubstr("[  SKIPPED ] 1 test"))));
  EXPECT_THAT(demo(tests), AllOf(HasSubstr("[  PASSED  ] 2 tests."), Not(HasSubstr("FAILED"))));
}

TEST(Listener, PrintsARowAndHandsOverTheResult) {
  EXPECT_THAT(demo("--gtest_filter=Demo.passes"),
              AllOf(HasSubstr("[  PASS  ]   Demo.passes"), HasSubstr("err 0.12×  1.43x [1.40 1.46]  compile 8.1 s"),
                    HasSubstr("RESULT Demo.passes pass 1 1 []"), Not(HasSubstr("[ RUN"))));
}

TEST(Listener, PrintsARedRowAtOnceAndItsDiagnosisWhenItIsDone) {
  const std::string output = demo("--gtest_filter=Demo.is_diagnosed");
  EXPECT_THAT(output, testing::ContainsRegex(
                          "FAIL  \\] ! Demo.is_diagnosed[^\n]*\n *output 0 differs\n *again: [^\n]*\nBEFORE\n"
                          " *diagnosis: not among the first ten\nRESULT"))
      << output;
}

TEST(Listener, PrintsARowBeforeItsTestAndThenNotAgain) {
  const std::string output = demo("--gtest_filter=Demo.*early");
  const size_t row = output.find("[  PASS  ]   Demo.is_printed_early");
  ASSERT_NE(row, std::string::npos) << output;
  EXPECT_LT(row, output.find("BEFORE"));
  EXPECT_EQ(output.find("Demo.is_printed_early", output.find("BEFORE")),
            output.find("RESULT Demo.is_printed_early") + 7)
      << output;
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

TEST(Listener, TakesTheResultOfTheTestThatEndedAndOfNoOther) {
  EXPECT_THAT(demo("--gtest_filter=Demo.produces_for_another"),
              AllOf(HasSubstr("RESULT Demo.produces_for_another fail_to_run"), HasSubstr("without a result of its own"),
                    Not(HasSubstr("Demo.somebody_else"))));
}

TEST(Listener, HandsOnTheResultWhole) {
  EXPECT_THAT(demo("--gtest_filter=Demo.has_everything"),
              AllOf(HasSubstr("[ UNSURE ] ~ Demo.has_everything"), HasSubstr("WHOLE f 2 1")));
}

TEST(Listener, PlainAndSkippedTestsHaveRowsButNoResults) {
  EXPECT_THAT(demo("--gtest_filter=Demo.is_plain:Demo.skips"),
              AllOf(HasSubstr("[  PASS  ]   Demo.is_plain"), HasSubstr("[  SKIP  ] x Demo.skips"),
                    HasSubstr("no such device"), Not(HasSubstr("RESULT"))));
}

TEST(Listener, LeavesTheLastWordAfterGoogleTestsClosingLines) {
  const std::string output = demo("--gtest_filter=Demo.*");
  const auto summary = output.find("SUMMARY"), closing = output.find("[==========] 11 tests"),
             failed = output.find("[  FAILED  ] 5 tests");
  ASSERT_NE(closing, std::string::npos) << output;
  ASSERT_NE(failed, std::string::npos) << output;
  EXPECT_LT(output.find("[==========] Running 11 tests"), output.find("Demo.passes"));
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
