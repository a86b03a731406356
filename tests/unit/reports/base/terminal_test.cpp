#include "reports/base/terminal.h"

#include <map>
#include <sstream>
#include <string>

#include <gmock/gmock.h>

#include "reports/base/text.h"
#include "reports/console/progress.h"
#include "reports/record/verdict.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

using Variables = std::map<std::string, std::string>;

bool color_with(const Variables& variables, bool terminal, When flag = When::automatic) {
  return use_color(flag, terminal, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Color, TheFlagGoesBeforeEverything) {
  EXPECT_TRUE(color_with({{"NO_COLOR", "1"}, {"TERM", "dumb"}}, false, When::always));
  EXPECT_FALSE(color_with({{"CLICOLOR_FORCE", "1"}, {"TERM", "xterm"}}, true, When::never));
}

TEST(Color, NoColorGoesBeforeForceAndForceBeforeTheTerminal) {
  EXPECT_FALSE(color_with({{"NO_COLOR", "1"}, {"CLICOLOR_FORCE", "1"}, {"TERM", "xterm"}}, true));
  EXPECT_TRUE(color_with({{"CLICOLOR_FORCE", "1"}}, false));
  EXPECT_TRUE(color_with({{"FORCE_COLOR", "3"}, {"TERM", "dumb"}}, false));
  EXPECT_TRUE(color_with({{"NO_COLOR", ""}, {"TERM", "xterm"}}, true));
  EXPECT_FALSE(color_with({{"CLICOLOR_FORCE", "0"}}, false));
}

TEST(Color, OtherwiseTheTerminalDecides) {
  EXPECT_TRUE(color_with({{"TERM", "xterm"}}, true));
  EXPECT_FALSE(color_with({{"TERM", "xterm"}}, false));
  EXPECT_FALSE(color_with({{"TERM", "dumb"}}, true));
  EXPECT_FALSE(color_with({}, true));
}

TEST(Color, PlainTextHasNoCodes) {
  EXPECT_EQ(colored("a", Color::red, false), "a");
  EXPECT_EQ(colored("a", Color::red, true), "\033[31ma\033[0m");
}

/// Progress with a clock that only the test advances.
struct Staged {
  explicit Staged(bool live, size_t width = 80)
      : progress(out, {.live = live, .clock = [this] { return time; }, .width = [width] { return width; }}) {}
  std::string taken() {
    std::string text = out.str();
    out.str("");
    return text;
  }
  double time = 100;
  std::ostringstream out;
  console::Progress progress;
};

TEST(Progress, OnATerminalRedrawsOneLineTenTimesASecondAtMost) {
  Staged stage(true);
  stage.progress.begin();
  stage.time += 12;
  stage.progress.show("resnet18: compile");
  EXPECT_EQ(stage.taken(), "\r   12 s  resnet18: compile\033[K");
  stage.time += 0.05;
  stage.progress.show("resnet18: measure");
  EXPECT_EQ(stage.taken(), "");
  stage.time += 0.06;
  stage.progress.show("resnet18: measure\nsecond line");
  EXPECT_EQ(stage.taken(), "\r   12 s  resnet18: measure\033[K");
  stage.progress.clear();
  EXPECT_EQ(stage.taken(), "\r\033[K");
  stage.progress.clear();
  EXPECT_EQ(stage.taken(), "");
}

TEST(Progress, TicksWhileNothingNewIsSaid) {
  Staged stage(true);
  stage.progress.tick();
  EXPECT_EQ(stage.taken(), "") << "no step is in progress";
  stage.progress.begin();
  stage.progress.show("resnet18", "compile");
  stage.taken();
  stage.time += 5;
  stage.progress.tick();
  EXPECT_EQ(stage.taken(), "\r    5 s  resnet18: compile\033[K");
  stage.progress.clear();
  stage.taken();
  stage.time += 5;
  stage.progress.tick();
  EXPECT_EQ(stage.taken(), "") << "the step has ended";
}

TEST(Progress, FitsTheTerminalAndCannotControlIt) {
  Staged stage(true, 20);
  stage.progress.show("größe_\x1b[2J_that_is_too_long");
  EXPECT_EQ(stage.taken(), "\r    0 s  größe_\\x1…\033[K");
}

constexpr const char* long_name = "resnet18_inference_float32_inductor_cpu";

TEST(ProgressLine, TellsCaseAndPhaseAndEstimates) {
  const console::ProgressState state{long_name, "compile", 12, 15, 3, 12, 130};
  EXPECT_EQ(console::progress_line(state, 200),
            "   12 s  [3/12] " + std::string(long_name) + ": compile of ~15 s, ~2 min left");
  EXPECT_EQ(console::progress_line(state, 80),
            "   12 s  [3/12] resnet18_inferen…t32_inductor_cpu: compile of ~15 s, ~2 min left");
  EXPECT_EQ(console::progress_line({long_name, "compile", 12, {}, 0, 0, {}}, 80),
            "   12 s  " + std::string(long_name) + ": compile");
}

TEST(ProgressLine, FitsEveryWidth) {
  const console::ProgressState state{long_name, "compile", 12, 15, 3, 12, 130};
  for (size_t width = 1; width <= 100; ++width) EXPECT_LE(columns(console::progress_line(state, width)), width);
  EXPECT_EQ(console::progress_line(state, 60), "   12 s  [3/12] resnet18_in…ductor_cpu: compile, ~2 min left");
  EXPECT_EQ(console::progress_line(state, 45), "   12 s  [3/12] resnet18_i…uctor_cpu: compile");
  EXPECT_EQ(console::progress_line(state, 20), "   12 s  [3/12] res…");
}

TEST(Progress, EstimatesFromAnEarlierRunAndFromThisOne) {
  Staged stage(true, 200);
  stage.progress.expect({"a", "b", "c", "d"}, {{"a", 10}, {"b", 20}, {"other", 1000}});
  stage.progress.begin("a");
  stage.time += 4;
  stage.progress.show("a", "measure");  // left: 6 s of a, 20 s of b, 15 s each of c and d
  EXPECT_EQ(stage.taken(), "\r    4 s  [1/4] a: measure of ~10 s, ~56 s left\033[K");
  stage.time += 36;  // a takes longer than before, so it counts as 40 s, and others may take longer, too
  stage.progress.show("a", "measure");
  EXPECT_EQ(stage.taken(), "\r   40 s  [1/4] a: measure of ~10 s\033[K");
  stage.progress.begin("b");
  stage.time += 1;
  stage.progress.show("b", "load");
  EXPECT_EQ(stage.taken(), "\r    1 s  [2/4] b: load of ~20 s, ~79 s left\033[K");
}

TEST(Progress, WithoutAnEarlierRunEstimatesFromTheFirstCaseOn) {
  Staged stage(true, 200);
  stage.progress.expect({"a", "b", "c"}, {});
  stage.progress.show("compiling ahead");
  EXPECT_EQ(stage.taken(), "\r    0 s  compiling ahead\033[K");
  stage.progress.clear();
  stage.progress.begin("a");
  stage.taken();
  stage.progress.show("a", "load");
  EXPECT_EQ(stage.taken(), "\r    0 s  [1/3] a: load\033[K");
  stage.time += 10;
  stage.progress.begin("b");
  stage.progress.show("b", "load");
  EXPECT_EQ(stage.taken(), "\r    0 s  [2/3] b: load, ~20 s left\033[K");
}

TEST(Progress, WithoutATerminalIsALineAfterThirtySilentSeconds) {
  Staged stage(false);
  stage.progress.begin();
  stage.time += 29;
  stage.progress.show("resnet18: compile");
  EXPECT_EQ(stage.taken(), "");
  stage.time += 1;
  stage.progress.show("resnet18: compile");
  EXPECT_EQ(stage.taken(), "...    30 s  resnet18: compile\n");
  stage.time += 29;
  stage.progress.clear();  // another line was written
  stage.time += 29;
  stage.progress.show("resnet18: compile");
  EXPECT_EQ(stage.taken(), "");
  stage.time += 1;
  stage.progress.show("resnet18: compile");
  EXPECT_EQ(stage.taken(), "...    89 s  resnet18: compile\n");
}

TEST(Progress, KeepsTheHeartbeatThatIsAskedFor) {
  Staged stage(false);
  stage.progress.set_heartbeat(2);
  stage.progress.show("resnet18", "compile");
  stage.time += 2;
  stage.progress.tick();
  EXPECT_EQ(stage.taken(), "...     2 s  resnet18: compile\n");
  stage.progress.set_heartbeat(0);
  stage.time += 1000;
  stage.progress.tick();
  EXPECT_EQ(stage.taken(), "");
}

TEST(ConsoleRow, ShortensTheNameInTheMiddleToFitTheTerminal) {
  Result r = simple_result("suite/Performance.X/resnet18_inference_float32_inductor_freezing_cpu", Status::pass);
  r.outcome.metrics = {{"speedup", 1.43}, {"speedup_low", 1.4}, {"speedup_high", 1.46}, {"compile_s", 8.1}};
  EXPECT_EQ(console_row(r, false, 200), console_row(r, false));
  EXPECT_EQ(console_row(r, false, 80),
            "[  PASS  ]   */resnet18_inf*_freezing_cpu  mini 1.43x [1.40 1.46]  compile 8.1 s");
  r.outcome.status = Status::fail_speedup;
  EXPECT_LE(columns(first_line(console_row(r, false, 80))), 80u);
  r.name = "short";
  EXPECT_THAT(console_row(r, false, 80), testing::StartsWith("[  FAIL  ] ! short  ")) << "padding goes first";
}

}  // namespace
}  // namespace torchstone
