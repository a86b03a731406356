#include "reports/terminal.h"

#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "reports/progress.h"

namespace torchstone {
namespace {

using Variables = std::map<std::string, std::string>;

bool color_with(const Variables& variables, bool terminal, ColorChoice flag = ColorChoice::automatic) {
  return use_color(flag, terminal, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Color, TheFlagGoesBeforeEverything) {
  EXPECT_TRUE(color_with({{"NO_COLOR", "1"}, {"TERM", "dumb"}}, false, ColorChoice::always));
  EXPECT_FALSE(color_with({{"CLICOLOR_FORCE", "1"}, {"TERM", "xterm"}}, true, ColorChoice::never));
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

TEST(Color, TheFlagHasThreeWords) {
  EXPECT_EQ(parse_color("auto"), ColorChoice::automatic);
  EXPECT_EQ(parse_color("always"), ColorChoice::always);
  EXPECT_EQ(parse_color("never"), ColorChoice::never);
  EXPECT_EQ(parse_color("yes"), std::nullopt);
}

TEST(Color, PlainTextHasNoCodes) {
  EXPECT_EQ(colored("a", Color::red, false), "a");
  EXPECT_EQ(colored("a", Color::red, true), "\033[31ma\033[0m");
}

/// A Progress whose time stands until it is moved.
struct Staged {
  explicit Staged(bool live, size_t width = 80)
      : progress(out, {.live = live, .clock = [this] { return time; }, .width = [width] { return width; }}) {}
  std::string taken() {
    const std::string text = out.str();
    out.str("");
    return text;
  }
  double time = 100;
  std::ostringstream out;
  Progress progress;
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

TEST(Progress, FitsTheTerminalAndCannotControlIt) {
  Staged stage(true, 20);
  stage.progress.show("größe_\x1b[2J_that_is_too_long");
  EXPECT_EQ(stage.taken(), "\r    0 s  größe_\\x1…\033[K");
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
  stage.progress.clear();  // something else was written
  stage.time += 29;
  stage.progress.show("resnet18: compile");
  EXPECT_EQ(stage.taken(), "");
  stage.time += 1;
  stage.progress.show("resnet18: compile");
  EXPECT_EQ(stage.taken(), "...    89 s  resnet18: compile\n");
}

}  // namespace
}  // namespace torchstone
