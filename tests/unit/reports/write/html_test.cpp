#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "reports/record/result_json.h"
#include "reports/write/html/page.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::write {
namespace {

using testing::HasSubstr;
using testing::Not;

Result timing(const std::string& model, double speedup, size_t rounds) {
  Result r =
      simple_result("torchbench/Performance.CompiledAgainstEager/" + model + "_float32", Status::pass, "performance");
  r.model = model;
  r.outcome.metrics = {{"speedup", speedup},
                       {"speedup_low", speedup * 0.98},
                       {"speedup_high", speedup * 1.02},
                       {"eager_ms", 3.141592},
                       {"compiled_ms", 2.7182},
                       {"compile_s", 8.25},
                       {"capture_s", 0.5},
                       {"first_call_s", 0.25},
                       {"eager_peak_bytes", 2.5e9},
                       {"artifact_bytes", 1e7},
                       {"compiled_peak_bytes", 2e9},
                       {"peak_ratio", 1.25},
                       {"rounds", static_cast<double>(rounds)},
                       {"peak_rss_bytes", 1e9}};
  for (size_t i = 0; i < rounds; ++i) {
    const double noise = std::fmod(static_cast<double>(i + 1) * 7919.6180339887498949 * speedup, 1);
    r.outcome.samples["eager_s"].push_back(3.141592e-3 * (1 + noise / 50));
    r.outcome.samples["compiled_s"].push_back(3.141592e-3 / speedup * (1 + noise / 70));
  }
  return r;
}

std::vector<Result> many_timings(size_t count, size_t rounds) {
  std::vector<Result> results;
  for (size_t i = 0; i < count; ++i) {
    results.push_back(timing(fmt::format("model_{}", i), 1 + 0.001 * static_cast<double>(i), rounds));
  }
  return results;
}

bool is_packed(const std::string& page) { return page.find("download=\"results.json.gz\"") != std::string::npos; }

/// Returns the results that the page offers for download, unpacked.
std::string embedded_json(const std::string& page) {
  const TemporaryFolder folder;
  const auto begin = page.find(";base64,") + 8;
  const std::string file = (folder.path() / "data").string();
  write_atomically(file, page.substr(begin, page.find('"', begin) - begin));
  return run_line("base64 -d " + file + (is_packed(page) ? " | gzip -d" : "")).output;
}

TEST(HtmlPage, HasARowAndADetailForEveryCase) {
  const auto results = sample_results();
  const std::string page = write::write_html({sample_run(), results});
  EXPECT_EQ(count_of(page, "\n<tr><th scope=row title="), results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(count_of(page, fmt::format("<div id=c{} class=body>", i)), 1u) << results[i].name;
    EXPECT_EQ(count_of(page, fmt::format("<a href=#c{}>", i)), 1u) << results[i].name;
  }
}

TEST(HtmlPage, KeepsTheOrderOfItsSections) {
  Report report{sample_run(), sample_results()};
  PageOptions options;
  options.comparison = judge::compare_with_baseline(report, report);
  const std::string page = write::write_html(report, options);
  size_t last = page.find("<header");
  for (const char* id : {"attention", "cases", "details", "baseline", "coverage", "run", "data"}) {
    const size_t at = page.find(fmt::format("<section id={}>", id));
    ASSERT_NE(at, std::string::npos) << id;
    EXPECT_GT(at, last) << id;
    last = at;
  }
}

TEST(HtmlPage, SaysHowTheRunEndedAndWhatTheMeanLeftOut) {
  const std::string page = write::write_html({sample_run(), sample_results()});
  EXPECT_THAT(page, HasSubstr("interrupted"));
  EXPECT_THAT(page, HasSubstr("5 min 12 s"));
  EXPECT_THAT(page, HasSubstr("1 with a wrong answer"));
  EXPECT_THAT(page, HasSubstr("over 4 cases"));
  EXPECT_THAT(page, HasSubstr("28 of 38 cases are not as expected"));
}

TEST(HtmlPage, GivesTheWorstFirst) {
  Result fine = simple_result("fine", Status::pass), open = simple_result("open", Status::undecided),
         near = simple_result("near", Status::fail_accuracy), far = simple_result("far", Status::fail_accuracy),
         dead = simple_result("dead", Status::crash);
  near.outcome.metrics["error_of_limit"] = 1.1;
  far.outcome.metrics["error_of_limit"] = 7;
  const std::string page = write::write_html({sample_run(), {fine, open, near, far, dead}});
  size_t last = 0;
  for (const char* name : {"dead", "far", "near", "open", "fine"}) {
    const size_t at = page.find(fmt::format("<b class=nm>{}</b>", name));
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_GT(at, last) << name;
    last = at;
  }
}

TEST(HtmlPage, PutsWhatGotSlowerBeforeWhatHasAlwaysFailed) {
  Report old{sample_run(), {simple_result("broken_for_years", Status::crash)}};
  for (const auto& result : many_timings(4, 60)) old.results.push_back(result);
  Report now = old;
  Result& slow = now.results.at(3);
  for (double& seconds : slow.outcome.samples["compiled_s"]) seconds *= 1.5;
  for (const char* key : {"speedup", "speedup_low", "speedup_high"}) slow.outcome.metrics[key] /= 1.5;
  PageOptions options;
  options.comparison = judge::compare_with_baseline(old, now);
  const std::string page = write::write_html(now, options);
  const auto attention = page.find("<section id=attention>");
  ASSERT_NE(attention, std::string::npos);
  EXPECT_LT(page.find("<b class=nm>model_2_float32", attention), page.find("<b class=nm>broken_for_years", attention));
  EXPECT_THAT(page, HasSubstr("<i class=bad>▼ SLOWER</i>"));
  EXPECT_THAT(page, HasSubstr("class=\"f slope\""));
}

TEST(HtmlPage, WarnsOfABaselineOfAnotherMachine) {
  Report report{sample_run(), sample_results()};
  PageOptions options;
  EXPECT_THAT(write::write_html(report, options), Not(HasSubstr("<aside class=ribbon")));
  options.comparison = judge::BaselineComparison{{}, {"the <CPU> is another"}, 0};
  EXPECT_THAT(write::write_html(report, options), HasSubstr("<li>the &lt;CPU&gt; is another"));
}

TEST(HtmlPage, LetsNothingOfAResultBecomeMarkup) {
  const std::string bad = "</pre></script>\"'><script>alert(1)</script><img src=x onerror=alert(2)>\x01\xff";
  Result r = timing("x", 1.5, 12);
  for (const auto& field : text_fields()) r.*field.member = bad;
  r.outcome.status = Status::fail_accuracy;
  r.outcome.reason = r.outcome.phase = bad;
  r.outcome.detail = "  " + bad + "      " + bad + "\n" + bad;
  r.outcome.metrics[bad] = 1;
  r.outcome.notes[bad] = bad;
  r.outcome.samples[bad] = {1};
  RunInfo run;
  run.id = run.started = run.directory = run.exit_reason = bad;
  run.argv = {bad};
  run.machine = run.build = run.policy = run.environment = {{bad, bad}};
  PageOptions options;
  options.baseline_label = bad;
  judge::CaseChange change{bad, judge::Change::slower, bad, bad, true};
  change.metrics = {{bad, 1, 2, 2, 2, 2, judge::Change::slower},
                    {"speedup", 2, 1, 0.5, 0.4, 0.6, judge::Change::slower}};
  options.comparison = judge::BaselineComparison{{change}, {bad}, 0};
  for (int i = 0; i < 12; ++i)
    options.history.push_back({bad, bad, bad, bad, bad, bad, {{"speedup", i < 6 ? 2.0 : 1.0}}});
  const std::string page = write::write_html({run, {r}}, options);
  EXPECT_EQ(count_of(page, "<script"), 1u);
  EXPECT_EQ(count_of(page, "<img"), 0u);
  EXPECT_EQ(count_of(page, "</pre></script>"), 0u);
  EXPECT_EQ(page.find('\x01'), std::string::npos);
  EXPECT_THAT(page, HasSubstr("&lt;img src=x onerror=alert(2)&gt;\\x01\\xff"));
}

TEST(HtmlPage, AsksTheNetworkForNothing) {
  PageOptions options;
  const Report report{sample_run(), sample_results()};
  options.comparison = judge::compare_with_baseline(report, report);
  const std::string page = write::write_html(report, options);
  for (const char* part : {"http:", "https:", "//www", " src=", "url(", "@import", " style=", " onclick=", "<iframe"}) {
    EXPECT_EQ(count_of(page, part), 0u) << part;
  }
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; style-src 'sha256-"));
}

TEST(HtmlPage, StaysSmallWithFourHundredTimings) {
  const auto results = many_timings(400, 200);
  const std::string page = write::write_html({sample_run(), results});
  EXPECT_LT(page.size(), 1'500'000u);
  EXPECT_EQ(count_of(page, "\n<tr><th scope=row title="), 400u);
  EXPECT_EQ(count_of(page, "<figcaption>Time per call"), 400u);
  EXPECT_THAT(page, HasSubstr("200 rounds, medians of "));
  EXPECT_THAT(page, testing::Not(HasSubstr("median of a process")));
}

TEST(HtmlPage, CutsLongTextsAndSaysSo) {
  std::vector<Result> results(200, simple_result("loud", Status::crash));
  for (auto& result : results) {
    result.outcome.reason = "begin " + std::string(10'000, 'r') + " end";
    result.outcome.detail = "first line\n" + std::string(10'000, 'd') + "\nlast line";
  }
  const std::string page = write::write_html({sample_run(), results});
  EXPECT_LT(page.size(), 1'500'000u);
  EXPECT_EQ(count_of(page, "&#10;last line</pre>"), 200u);
  EXPECT_EQ(count_of(page, " bytes left out"), 400u);
}

TEST(HtmlPage, HoldsItsResults) {
  const Report report{sample_run(), sample_results()};
  EXPECT_EQ(embedded_json(write::write_html(report)), write_json(report.results, report.run));
}

TEST(HtmlPage, ShortensSamplesRatherThanLosingThem) {
  const Report report{sample_run(), many_timings(150, 200)};
  const std::string page = write::write_html(report);
  if (!is_packed(page)) GTEST_SKIP() << "built without zlib: the page has no room for samples of 150 timings";
  EXPECT_THAT(page, HasSubstr("raw samples with five digits"));
  const Report back = parse_json(embedded_json(page), "page");
  ASSERT_EQ(back.results.size(), report.results.size());
  const auto& exact = report.results[7].outcome.samples.at("eager_s");
  const auto& shorter = back.results[7].outcome.samples.at("eager_s");
  ASSERT_EQ(shorter.size(), exact.size());
  for (size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(shorter[i], exact[i], exact[i] * 1e-4);
}

TEST(HtmlPage, IsThereForEveryAwkwardRun) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(write::write_html({}), HasSubstr("No results"));
  EXPECT_THAT(write::write_html({sample_run(), {simple_result("a", Status::unsupported)}}),
              HasSubstr("Nothing was judged"));
  for (const double value : {nan, infinity, -infinity, 0.0, -1.0, 1e300, 5e-324}) {
    Result r = simple_result("a", Status::pass, "performance");
    for (const auto& info : metric_table()) r.outcome.metrics[std::string(info.key)] = value;
    for (const size_t rounds : {0, 1, 2, 50}) {
      const std::vector<double> same(rounds, value);
      r.outcome.samples = {
          {"eager_s", same}, {"compiled_s", {value, 1, nan}}, {"eager_loss", same}, {"compiled_loss", {value, 1, nan}}};
      EXPECT_THAT(write::write_html({sample_run(), {r}}), HasSubstr("</html>")) << value << " " << rounds;
    }
  }
}

TEST(HtmlPage, DrawsTheLossOfEachStepFromThreeStepsOn) {
  Result r = simple_result("trained", Status::pass);
  r.outcome.samples = {{"eager_loss", {3, 2, 1}}, {"compiled_loss", {3, 2, 1.5}}};
  const std::string page = write::write_html({sample_run(), {r}});
  EXPECT_THAT(page, HasSubstr("<figcaption>Loss, step by step"));
  EXPECT_THAT(page, HasSubstr("3 steps →"));
  EXPECT_THAT(page, HasSubstr("d=\"M42 12l136 44 136 44\"")) << "eager's line falls evenly";
  EXPECT_THAT(page, HasSubstr("d=\"M42 12l136 44 136 22\"")) << "compiled's does not";
  for (const std::vector<double>& losses : {std::vector<double>{3, 2}, {nan(""), nan(""), nan("")}, {}}) {
    r.outcome.samples["eager_loss"] = r.outcome.samples["compiled_loss"] = losses;
    EXPECT_THAT(write::write_html({sample_run(), {r}}), Not(HasSubstr("Loss, step by step")));
  }
}

TEST(HtmlPage, ShowsTheTimeOfTheTableInTheFigureToo) {
  Result r = timing("x", 1.5, 40);
  r.outcome.metrics["eager_ms"] = 8.43;  // each process counts once, although faster ones have most rounds
  const std::string page = write::write_html({sample_run(), {r}});
  EXPECT_THAT(page, HasSubstr(">eager 8.43 ms"));
  EXPECT_THAT(page, HasSubstr(">8.43 ms"));
  EXPECT_THAT(page, Not(HasSubstr(">eager 3.1")));
  r.outcome.metrics.erase("eager_ms");
  EXPECT_THAT(write::write_html({sample_run(), {r}}), HasSubstr(">eager 3.1"));
}

TEST(HtmlPage, ShowsOneMemoryRatioWithItsMeaning) {
  Result r = timing("x", 1.5, 40);
  r.outcome.metrics["compression_ratio"] = 1.0625;
  const std::string page = write::write_html({sample_run(), {r}});
  EXPECT_THAT(page, HasSubstr("Peak memory <small>eager ÷ compiled, without weights</small>"));
  EXPECT_THAT(page, HasSubstr("Peak memory of a call, above what was live before; eager ÷ compiled 1.250x"));
  EXPECT_THAT(page, Not(HasSubstr("memory with weights")));
  EXPECT_THAT(page, Not(HasSubstr("1.062x")));
}

TEST(HtmlPage, SaysInItsCountsWhyAPassIsRed) {
  Result worse = simple_result("S/Performance.A/worse", Status::pass, "performance"), fine = worse, known = worse;
  worse.baseline = {BaselineChange::worse, "slower"};
  fine.name = "S/Performance.A/fine";
  known.name = "S/Performance.A/known";
  known.expected = "fail_accuracy";
  const std::string page = write::write_html({sample_run(), {worse, fine, known}});
  EXPECT_THAT(page, HasSubstr("<b>✗</b> <strong>1</strong> pass, worse than the baseline"));
  EXPECT_THAT(page, HasSubstr("<b>★</b> <strong>1</strong> pass, expected fail_accuracy"));
  EXPECT_THAT(page, HasSubstr("<b>✓</b> <strong>1</strong> pass<"));
}

TEST(HtmlPage, DrawsTheRequirementAndTheTrend) {
  Result r = timing("x", 1.5, 40);
  r.outcome.metrics["required_speedup"] = 1.2;
  PageOptions options;
  for (int i = 0; i < 30; ++i) {
    options.history.push_back({"run",
                               fmt::format("2026-01-{:02}", i + 1),
                               r.name,
                               r.device,
                               "m",
                               "pass",
                               {{"speedup", (i < 15 ? 2.0 : 1.5) + 0.001 * (i % 3)}}});
  }
  const std::string page = write::write_html({sample_run(), {r}}, options);
  EXPECT_THAT(page, HasSubstr("required 1.2×"));
  EXPECT_THAT(page, HasSubstr("since the run of 2026-01-16"));
  EXPECT_THAT(page, HasSubstr("▼ -25 %"));
}

TEST(Html, ShowsTheProcessesOfATiming) {
  Result result = timing("model", 1.2, 6);
  result.outcome.samples["process_rounds"] = {2, 4};
  const std::string page = write::write_html({sample_run(), {result}});
  EXPECT_THAT(page, HasSubstr("each round <i class=e>median of a process</i>"));
  EXPECT_THAT(page, HasSubstr("6 rounds of 2 processes →"));
  EXPECT_THAT(page, HasSubstr("<path class=gr d=\"M151 8V104\"/>")) << "the border at the third of six rounds";
  for (const std::vector<double>& useless : {std::vector<double>{6}, {2, 3}, {-1, 7}, {2.5, 3.5}, {}}) {
    result.outcome.samples["process_rounds"] = useless;
    EXPECT_THAT(write::write_html({sample_run(), {result}}), testing::Not(HasSubstr("median of a process")));
  }
}

}  // namespace
}  // namespace torchstone::write
