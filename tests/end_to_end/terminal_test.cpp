// Output on a terminal, and the different output to a log.
#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const char* const healthy = "*healthy_*_torchscript_*";
const char* const two = "*healthy_*_torchscript_*:*hangs_*_torchscript_*";

/// Splits the output at carriage returns and ends of line.
std::vector<std::string> frames_of(const std::string& raw) {
  std::vector<std::string> frames(1);
  for (const char c : raw) {
    if (c == '\r' || c == '\n')
      frames.emplace_back();
    else
      frames.back() += c;
  }
  return frames;
}

size_t characters(const std::string& text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

/// Returns the last `count` lines that are not empty.
std::vector<std::string> last_lines(const TerminalRun& run, size_t count) {
  std::vector<std::string> lines;
  for (auto line = run.screen.rbegin(); line != run.screen.rend() && lines.size() < count; ++line)
    if (!line->empty()) lines.insert(lines.begin(), *line);
  lines.resize(count);
  return lines;
}

TEST(InATerminal, OneLineTellsWhatIsGoingOnAndGoesAway) {
  const Torchstone torchstone;
  const TerminalRun run = run_in_terminal(torchstone.faults_command(two));
  EXPECT_EQ(run.exit_code, 4) << run.raw;
  EXPECT_TRUE(run.restored);
  const auto frames = frames_of(run.raw);
  for (const char* second : {"    1 s  [2/2] hangs_", "    2 s  [2/2] hangs_"})
    EXPECT_THAT(frames, Contains(AllOf(StartsWith(second), HasSubstr("_cpu: load")))) << run.raw;
  for (const auto& frame : frames)
    if (frame.find(" s  [") == 5) {
      EXPECT_LT(characters(frame), 80 + std::string("\033[K").size()) << frame;
    }
  EXPECT_THAT(run.screen, Not(Contains(HasSubstr("[2/2]")))) << run.raw;
  EXPECT_THAT(run.screen, Contains(testing::ContainsRegex("^\\[  PASS  \\]   (faults/Accuracy\\.\\*|\\*)/healthy_")));
  EXPECT_THAT(run.screen, Contains(testing::ContainsRegex("^\\[ ERROR  \\] ! (faults/Accuracy\\.\\*|\\*)/hangs_")));
}

TEST(InATerminal, ASecondRunSaysHowLongItTakes) {
  const Torchstone torchstone;
  run_in_terminal(torchstone.faults_command(two));
  const TerminalRun again = run_in_terminal(torchstone.faults_command(two), {}, 200);
  EXPECT_THAT(again.raw,
              testing::ContainsRegex("hangs_inference_float32_torchscript_cpu: load of ~[0-9]+ s, ~[0-9]+ s left"));
}

TEST(InATerminal, TheSummaryComesLastAndFits) {
  for (const unsigned short width : {80, 200}) {
    const Torchstone torchstone;
    const TerminalRun run =
        run_in_terminal(torchstone.faults_command("*_torchscript_*:-*allocates*:*hangs*"), {}, width);
    const auto last = last_lines(run, 3);
    EXPECT_EQ(last[0], "Report: " + torchstone.out() + "/report.html");
    EXPECT_THAT(last[1], StartsWith("Also written: results.json, junit.xml, "));
    EXPECT_THAT(last[2], AllOf(StartsWith("Again: "), HasSubstr("/zero_output_inference_float32_torchscript_cpu")));
    const auto first =
        std::ranges::find_if(run.screen, [](const auto& line) { return line.starts_with("Torchstone: "); });
    EXPECT_LE(run.screen.end() - first, 26) << run.raw;  // includes the empty line for the prompt
    for (auto line = first; line != run.screen.end(); ++line)
      EXPECT_TRUE(characters(*line) <= width || line->starts_with("Again: ") || line->starts_with("Report: ")) << *line;
    const char* const row =
        width == 80
            ? "  ! inf   */not_repeat*hscript_cpu  eager_two_runs_differ  "
            : "  ! inf   faults/Accuracy.*/not_repeatable_inference_float32_torchscript_cpu  eager_two_runs_differ  ";
    EXPECT_THAT(run.screen, Contains(StartsWith(row))) << run.raw;
  }
}

TEST(InATerminal, CtrlCEndsTheRunAndSaysWhatWasKept) {
  const Torchstone torchstone;
  const TerminalRun run = run_in_terminal(
      torchstone.faults_command("*healthy_*_torchscript_*:*hangs_*_torchscript_*:*waits*"), {}, 80, {"] hangs_"});
  EXPECT_EQ(run.exit_code, 130) << run.raw;
  EXPECT_TRUE(run.restored);
  EXPECT_THAT(run.screen, Not(Contains(HasSubstr("^C")))) << "the line with the typed ^C is erased";
  EXPECT_THAT(run.screen, Contains(StartsWith("Interrupted: 1 of ")));
  EXPECT_THAT(run.screen, Contains(AllOf(StartsWith("Torchstone: 1 of "), HasSubstr(", interrupted"))));
  const auto last = last_lines(run, 3);
  EXPECT_EQ(last[0], "Report: " + torchstone.out() + "/report.html");
  EXPECT_THAT(last[2], StartsWith("Again: "));
  EXPECT_THAT(read_file(torchstone.out() + "/report.html"), HasSubstr("interrupted"));
}

TEST(InATerminal, ASecondCtrlCLeavesACleanLine) {
  const Torchstone torchstone;
  const TerminalRun run = run_in_terminal(
      torchstone.faults_command("*hangs_*_torchscript_*", {"--torchstone_isolate=off"}), {}, 80, {" s  hangs_", "^C"});
  EXPECT_EQ(run.exit_code, 130) << run.raw;
  EXPECT_TRUE(run.restored);
  EXPECT_EQ(run.screen.back(), "");
}

TEST(InATerminal, CtrlCEndsARunThatRepeatsForEver) {
  const Torchstone torchstone;
  const TerminalRun run = run_in_terminal(torchstone.faults_command(healthy, {"--gtest_repeat=-1"}), {}, 80,
                                          {"Repeating all tests (iteration 2)"});
  EXPECT_EQ(run.exit_code, 130) << run.raw;
  EXPECT_THAT(run.screen, Contains(StartsWith("Interrupted: ")));
}

std::string output_of(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment,
                      bool on_terminal) {
  const Torchstone torchstone;
  const auto command = torchstone.faults_command(healthy, arguments);
  if (on_terminal) return run_in_terminal(command, environment).raw;
  return run_program(command, environment).out;
}

TEST(Colors, AreForTerminalsAndForThoseWhoAsk) {
  const auto green_row = HasSubstr("\033[32m[  PASS  ]"), green_closing = HasSubstr("\033[0;32m[  PASSED  ]");
  EXPECT_THAT(output_of({}, {}, true), AllOf(green_row, green_closing));
  EXPECT_THAT(output_of({"--torchstone_color=always"}, {{"NO_COLOR", "1"}}, false), AllOf(green_row, green_closing));
  EXPECT_THAT(output_of({"--gtest_color=yes"}, {}, false), AllOf(green_row, green_closing));
  const auto colors = testing::ContainsRegex("\033\\[[0-9;]*m");
  EXPECT_THAT(output_of({}, {{"NO_COLOR", "1"}}, true), Not(colors));
  EXPECT_THAT(output_of({"--torchstone_color=never"}, {}, true), Not(colors));
  EXPECT_THAT(output_of({"--gtest_color=no"}, {}, true), Not(colors));
  EXPECT_THAT(output_of({}, {}, false), Not(colors));
}

TEST(InALog, EveryLineIsWholeAndSilenceIsBroken) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults(two, {"--torchstone_heartbeat=1"});
  EXPECT_EQ(run.out.find('\r'), std::string::npos);
  EXPECT_EQ(run.out.find('\033'), std::string::npos);
  const auto heartbeat = testing::ContainsRegex(
      "\n\\.\\.\\. +[12] s  \\[2/2\\] hangs_inference_float32_torchscript_cpu: load[^\n]*\n\\.\\.\\. +[23] s  "
      "\\[2/2\\] "
      "hangs_");
  EXPECT_THAT(run.out, heartbeat);
  EXPECT_THAT(torchstone.run_faults(two, {"--torchstone_heartbeat=0"}).out, Not(HasSubstr("\n... ")));
}

}  // namespace
}  // namespace torchstone
