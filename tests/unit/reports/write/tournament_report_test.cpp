#include <cmath>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "reports/console/summary_text.h"
#include "reports/write/formats.h"

namespace torchstone::write {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

judge::Entrant timed(const std::string& name, double seconds) {
  judge::Entrant e;
  e.name = name;
  e.ladder.outcome.status = Status::pass;
  for (const double noise : {1.0, 1.01, 0.99, 1.005}) e.seconds.push_back(seconds * noise * (name == "b" ? noise : 1));
  e.start_s = 0.5;
  e.error = 1e-7;
  return e;
}

judge::Tournament sample() {
  judge::Tournament tournament;
  tournament.title = "own/<net>_inference_float32_cpu";
  tournament.facts = {{"model", "<net>"}};
  judge::Entrant wrong = timed("wrong", 1);
  wrong.seconds.clear();
  wrong.out = "the answer <is> wrong";
  wrong.status = Status::fail_accuracy;  // wrong when it was timed, although it passed accuracy before
  wrong.ladder.outcome.detail = "worst element";
  judge::Entrant absent = wrong;
  absent.name = "absent";
  absent.status = Status::unsupported;
  judge::Entrant shipped = timed("b", 1e-3);
  shipped.command = "pack <net>";
  shipped.code = "load(\"net\");";
  shipped.python = "model = load(\"net\")";
  shipped.shipped =
      judge::Shipped{.bytes = 1 << 21, .load_s = 0.31, .first_call_s = 0.02, .seconds = 5e-3, .error = 1e-7};
  shipped.compile_s = 12;
  shipped.artifact_bytes = 1 << 20;
  judge_tournament({timed("eager", 2e-3), shipped, wrong, absent}, tournament);
  tournament.doubts = {"Process 1: disturbed"};
  return tournament;
}

TEST(TournamentPage, ShowsTheVerdictTheBarsTheFrontAndWhatWasNotTimed) {
  const std::string page = write_tournament_page({sample()}, RunInfo{});
  EXPECT_THAT(page, AllOf(HasSubstr("winner b"), HasSubstr("Speed-up against eager"), HasSubstr("Time and start-up"),
                          HasSubstr("Time and compile"), HasSubstr("<i class=bad>✗ fail_accuracy</i><th>wrong"),
                          HasSubstr("<i class=odd>– unsupported</i><th>absent")));
  EXPECT_THAT(page,
              AllOf(HasSubstr("pack &lt;net&gt;"), HasSubstr("the answer &lt;is&gt; wrong"), Not(HasSubstr("<net>"))));
  EXPECT_THAT(
      page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr(" style=")), Not(HasSubstr("nan")), Not(HasSubstr("inf "))));
}

TEST(Tournament, TellsHowAVariantIsAsItIsShippedOrWhyThatIsUnknown) {
  const std::string words =
      "as shipped: 2.0 MiB with all weights, load 0.31 s, first call 0.020 s, then 5 ms a call in a new Python "
      "process; differs from the exported program by 1e-07";
  EXPECT_THAT(console::tournament_text(sample(), 100, false),
              AllOf(HasSubstr("    Python: model = load(\"net\")\n"), HasSubstr("    " + words + "\n")));
  EXPECT_THAT(write_tournament_page({sample()}, RunInfo{}), HasSubstr(words));
  const auto json = nlohmann::json::parse(write_tournament_json({sample()}, RunInfo{})).at("models").at(0);
  EXPECT_EQ(json.at("variants").at(0).at("shipped").at("load_s"), 0.31);
  EXPECT_EQ(json.at("variants").at(0).at("shipped").at("error"), 1e-7);
  judge::Tournament unknown;
  auto best = timed("a", 1);
  best.command = "pack";
  best.why_not_measured = "its command is no Python";
  judge_tournament({timed("eager", 2), best}, unknown);
  EXPECT_THAT(console::tournament_text(unknown, 100, false),
              HasSubstr("    not measured as shipped: its command is no Python\n"));
}

judge::Entrant separately_timed() {
  judge::Entrant entrant;
  entrant.name = "torch_compile";
  entrant.ladder.outcome.status = Status::pass;
  entrant.ladder.outcome.metrics = {
      {"speedup", 1.32}, {"speedup_low", 1.3}, {"speedup_high", 1.35}, {"eager_ms", 8.1}, {"compiled_ms", 6.14}};
  entrant.ladder.outcome.notes = {{"timed_by", "Python's process"}};
  entrant.separate = judge::separate_timing_of(entrant.ladder);
  return entrant;
}

TEST(Tournament, ShowsAVariantOfAnotherProcessWithoutARank) {
  judge::Tournament tournament;
  judge_tournament({timed("eager", 2e-3), separately_timed(), timed("b", 1e-3)}, tournament);
  EXPECT_EQ(tournament.standings.size(), 2u);
  EXPECT_EQ(tournament.best, std::vector<std::string>{"b"})
      << "6 ms in Python must not be compared with times of this process";
  const std::string words = "1.32x [1.30 1.35] against eager in its own process, 8.1 ms → 6.14 ms; not ranked";
  EXPECT_THAT(console::tournament_text(tournament, 100, false), HasSubstr("  torch_compile " + words + "\n"));
  EXPECT_THAT(write_tournament_page({tournament}, RunInfo{}), HasSubstr(words));
  const auto json = nlohmann::json::parse(write_tournament_json({tournament}, RunInfo{})).at("models").at(0);
  EXPECT_EQ(json.at("separate").at(0).at("name"), "torch_compile");
  EXPECT_EQ(json.at("separate").at(0).at("speedup_interval").at("low"), 1.3);
  EXPECT_TRUE(json.at("separate").at(0).at("speedup").is_number());
  EXPECT_EQ(json.at("variants").size(), 2u);
}

TEST(Tournament, HasNoSeparateTimingOfARowThatDidNotPass) {
  Result row = separately_timed().ladder;
  EXPECT_TRUE(judge::separate_timing_of(row));
  EXPECT_EQ(judge::why_not_timed(row), "");
  row.outcome.metrics.erase("speedup_low");
  EXPECT_FALSE(judge::separate_timing_of(row));
  EXPECT_THAT(judge::why_not_timed(row), HasSubstr("no interval")) << "it must not be timed with the others";
  row = separately_timed().ladder;
  row.outcome.status = Status::fail_accuracy;
  EXPECT_FALSE(judge::separate_timing_of(row));
  EXPECT_EQ(judge::why_not_timed(row), "fail_accuracy");
}

/// Returns a ranking whose processes were disturbed by other programs.
judge::Tournament disturbed() {
  judge::Tournament tournament;
  tournament.timed_processes = 4;
  tournament.disturbed = 3;
  auto best = timed("b", 1e-3);
  best.command = "pack";
  judge_tournament({timed("eager", 2e-3), best}, tournament);
  return tournament;
}

TEST(Tournament, WithoutAdviceMarksNoVariantAndTellsToShipNone) {
  const std::string shipped = "The commands that would ship each variant that may be the fastest";
  EXPECT_THAT(console::tournament_text(disturbed(), 100, false),
              AllOf(HasSubstr("no advice: 3 of 4 processes were disturbed"), HasSubstr("  b "), Not(HasSubstr("★")),
                    HasSubstr(shipped + ":\n  b\n    $ pack\n"), Not(HasSubstr("To ship it"))));
  const std::string page = write_tournament_page({disturbed()}, RunInfo{});
  EXPECT_THAT(page, AllOf(HasSubstr(shipped), Not(HasSubstr("To ship it")), Not(HasSubstr(">fastest</i>")),
                          Not(HasSubstr("class=up")), Not(HasSubstr("green"))));
  const std::string advised = write_tournament_page({sample()}, RunInfo{});
  EXPECT_THAT(advised, AllOf(HasSubstr("To ship it"), HasSubstr("<i class=ok>fastest</i>"), HasSubstr("class=up"),
                             HasSubstr("green: the winner")));
  EXPECT_THAT(console::tournament_text(sample(), 100, false), HasSubstr("To ship it:\n  b\n"));
}

TEST(Tournament, ShowsTheTimeOfTheFastestOtherAsTheSameIntervalEverywhere) {
  const std::string text = console::tournament_text(sample(), 100, false), page = write_tournament_page({sample()}, {});
  for (const std::string& report : {text, page}) EXPECT_THAT(report, HasSubstr("of fastest other"));
  EXPECT_THAT(text, AllOf(testing::ContainsRegex("b .* \\[0\\.[45][0-9] 1\\.00\\] "),
                          testing::ContainsRegex("eager .* \\[1\\.00 2\\.[0-9]+\\] ")));
  EXPECT_THAT(page, AllOf(testing::ContainsRegex("\\[0\\.[45][0-9]+ 1\\.000\\]"),
                          testing::ContainsRegex("\\[1\\.000 2\\.[0-9]+\\]")));
}

TEST(TournamentPage, SaysHowTheRunEnded) {
  RunInfo run;
  EXPECT_THAT(write_tournament_page({sample()}, run), HasSubstr("still running"));
  run.exit_code = 0;
  EXPECT_THAT(write_tournament_page({sample()}, run), AllOf(HasSubstr("★"), HasSubstr("exit code 0")));
  run.exit_code = 4;
  EXPECT_THAT(write_tournament_page({sample()}, run), AllOf(HasSubstr("✗</span>"), HasSubstr("exit code 4")));
}

TEST(TournamentPage, SaysWhyNothingShipsWhatIsTheFastest) {
  judge::Tournament tournament;
  auto best = timed("a", 1);
  best.why_not_shipped = "no line of a is known";
  judge_tournament({timed("eager", 2), best}, tournament);
  EXPECT_THAT(write_tournament_page({tournament}, RunInfo{}), HasSubstr("no line of a is known"));
  EXPECT_THAT(console::tournament_text(tournament, 100, false), HasSubstr("a: no line of a is known"));
}

TEST(TournamentPage, OfOneProcessHasBarsWithoutEnds) {
  judge::Tournament tournament;
  judge::Entrant eager = timed("eager", 2), other = timed("a", 1);
  eager.seconds = {2};
  other.seconds = {1};
  judge_tournament({eager, other}, tournament);
  EXPECT_TRUE(std::isinf(tournament.standings.front().speedup_high));
  const std::string page = write_tournament_page({tournament}, RunInfo{});
  EXPECT_THAT(page, AllOf(HasSubstr("2 tie"), HasSubstr(">unknown")));
  EXPECT_THAT(page, testing::Not(HasSubstr("[0.00 inf]"))) << "a useless interval must not be shown";
  EXPECT_THAT(console::tournament_text(tournament, 100, false),
              AllOf(HasSubstr("unknown"), testing::Not(HasSubstr("inf]"))));
}

TEST(TournamentJson, HoldsEachVariantWithItsRowAndItsSamples) {
  const auto json = nlohmann::json::parse(write_tournament_json({sample()}, RunInfo{}));
  EXPECT_EQ(json.at("schema"), "torchstone/tournament/1");
  const auto& model = json.at("models").at(0);
  EXPECT_EQ(model.at("best"), nlohmann::json({"b"}));
  EXPECT_EQ(model.at("advice").at("compiled_before").at(0).at("from_calls"), 1);
  const auto& best = model.at("variants").at(0);
  EXPECT_EQ(best.at("name"), "b");
  EXPECT_EQ(best.at("process_seconds").size(), 4U);
  EXPECT_EQ(best.at("compile_s"), 12);
  const auto& out = model.at("variants").at(2);
  EXPECT_EQ(out.at("status"), "fail_accuracy");
  EXPECT_FALSE(out.contains("seconds"));
  EXPECT_EQ(out.at("ladder").at("outcome").at("detail"), "worst element");
}

TEST(TournamentText, IsALineForEachVariantAndWhatFollowsFromIt) {
  const std::string text = console::tournament_text(sample(), 100, false);
  EXPECT_THAT(text,
              AllOf(HasSubstr("★ b"), HasSubstr("✗ wrong    fail_accuracy: the answer"), HasSubstr("- absent"),
                    HasSubstr("winner b"), HasSubstr("Packages compiled before: for ≥ 1 call take "),
                    HasSubstr("$ pack <net>"), HasSubstr("C++: load(\"net\");"), HasSubstr("! Process 1: disturbed")));
}

}  // namespace
}  // namespace torchstone::write
