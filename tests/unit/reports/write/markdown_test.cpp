#include <gmock/gmock.h>

#include "reports/write/formats.h"
#include "reports/write/html/page.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::write {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(MarkdownText, HasNoMarkupOfItsOwn) {
  EXPECT_EQ(markdown_text("a|b `c` *d* [e](f)"), "a\\|b \\`c\\` \\*d\\* \\[e\\](f)");
  EXPECT_EQ(markdown_text("<script>&amp;"), "&lt;script&gt;&amp;amp;");
  EXPECT_EQ(markdown_text("@someone, #12"), "@&#8203;someone, #&#8203;12");
  EXPECT_EQ(markdown_text("https://x y"), "https&#58;//x y");
  EXPECT_EQ(markdown_text("two\nlines\r\nand\ttab \xff"), "two lines\\\\x0d and tab \\\\xff");
}

TEST(MarkdownCode, TakesBackticksAndPipes) {
  EXPECT_EQ(markdown_code("a_b"), "`a_b`");
  EXPECT_EQ(markdown_code("a`b``c"), "```a`b``c```");
  EXPECT_EQ(markdown_code("`a`"), "`` `a` ``");
  EXPECT_EQ(markdown_code("a|b"), "`a|b`");
  EXPECT_EQ(markdown_code("a|b", true), "`a\\|b`");
  EXPECT_EQ(markdown_code(""), "`  `");
}

TEST(MarkdownBlock, HasAFenceLongerThanAnyInIt) {
  EXPECT_EQ(markdown_block("x"), "```\nx\n```\n");
  EXPECT_EQ(markdown_block("```\n````\n"), "`````\n```\n````\n`````\n");
}

TEST(Markdown, SaysWhatFailedWhyAndHowToReproduceIt) {
  Result bad = simple_result("suite/Accuracy.CompiledMatchesEager/resnet18", Status::fail_accuracy);
  bad.outcome.reason = "output 0 | differs";
  bad.outcome.metrics = {{"error_of_limit", 3.4}};
  bad.outcome.detail = "worst element [0, 17]";
  const Report report{sample_run(), {simple_result("suite/Accuracy.CompiledMatchesEager/fine", Status::pass), bad}};
  const std::string text = write_markdown(report);
  EXPECT_THAT(text, testing::StartsWith("<!-- torchstone -->\n### ❌ Torchstone: 1 of 2 cases as expected\n"));
  EXPECT_THAT(text, HasSubstr("#### 1 not as expected"));
  EXPECT_THAT(text, HasSubstr("output 0 \\| differs"));
  EXPECT_THAT(text, HasSubstr("```\n" + bad.reproduce + "\n```"));
  EXPECT_THAT(text, HasSubstr("worst element [0, 17]"));
  EXPECT_LT(text.find("resnet18"), text.find("`fine`"));
  EXPECT_THAT(text, Not(HasSubstr("cut off")));
}

TEST(Markdown, IsGreenOnlyWhenAllIsAsExpectedAndTheRunWasWhole) {
  Report report{sample_run(), {simple_result("a", Status::pass)}};
  report.run.exit_reason = "finished";
  EXPECT_THAT(write_markdown(report), HasSubstr("### ✅ Torchstone: 1 of 1"));
  report.run.exit_reason = "interrupted";
  EXPECT_THAT(write_markdown(report), AllOf(HasSubstr("### ❌"), HasSubstr("interrupted")));
}

TEST(Markdown, IsGreenForMergedResultsAndForReleasesOfTorch) {
  Report report{sample_run(), {simple_result("a", Status::pass)}};
  for (const char* reason : {"merged from 2 inputs", "releases of torch: 2.13.0, 2.14.1"}) {
    report.run.exit_reason = reason;
    EXPECT_THAT(write_markdown(report), HasSubstr("### ✅ Torchstone: 1 of 1")) << reason;
  }
}

TEST(Markdown, AndThePageMarkChangesOfNoisyCases) {
  Report report{sample_run(), {simple_result("a", Status::pass)}};
  judge::CaseChange change{"a", judge::Change::ambiguous, "pass", "pass"};
  change.new_noisy = true;
  MarkdownOptions options;
  options.comparison = judge::BaselineComparison{{change}, {}, 0};
  EXPECT_THAT(write_markdown(report, options), HasSubstr("| AMBIGUOUS, noisy now |"));
  EXPECT_THAT(write_html(report, {.comparison = options.comparison}), HasSubstr("<b>noisy now</b>"));
}

TEST(Markdown, CountsWhatItCutsAndStaysBelowTheLimit) {
  Report report{sample_run(), {}};
  for (int i = 0; i < 3000; ++i) {
    report.results.push_back(
        simple_result("suite/A.B/case_" + std::to_string(i), i % 2 == 0 ? Status::pass : Status::crash));
    report.results.back().outcome.reason = std::string(10000, '|');
    report.results.back().suite = i < 10 ? "small" : "large";
  }
  for (const size_t limit : {2000u, 60000u, 200000u}) {
    const std::string text = write_markdown(report, {.limit = limit, .comparison = {}});
    EXPECT_LE(text.size(), limit);
    EXPECT_THAT(text, HasSubstr("of 1500 failures are cut off here"));
    EXPECT_EQ(count_of(text, "<details>"), count_of(text, "</details>"));
  }
  EXPECT_THAT(write_markdown(report), HasSubstr("of 2990 cases are cut off here"));
  EXPECT_THAT(write_markdown(report, {.limit = 2000, .comparison = {}}),
              HasSubstr("tables of further suites are cut off"));
}

TEST(Markdown, HostileNamesAndMessagesDoNoHarm) {
  const std::string text = write_markdown({sample_run(), sample_results()});
  EXPECT_EQ(text.find('\0'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  // <script> must not occur outside of spans and blocks of code.
  EXPECT_THAT(text, HasSubstr("\\]\\]&gt; &amp; &lt;b&gt;"));
  EXPECT_EQ(count_of(text, "<script>"), count_of(text, "`<script>") + count_of(text, ".<script>"));
}

TEST(Markdown, SaysWhatChangedSinceTheBaseline) {
  Report baseline{sample_run(), {simple_result("a", Status::pass), simple_result("b", Status::pass)}};
  Report now = baseline;
  now.results[0].outcome.status = Status::fail_accuracy;
  MarkdownOptions options;
  options.comparison = judge::compare_with_baseline(baseline, now);
  const std::string text = write_markdown(now, options);
  EXPECT_THAT(text, HasSubstr("#### Since the baseline: 1 BROKEN, 1 SAME"));
  EXPECT_THAT(text, HasSubstr("| BROKEN | `a` | pass → fail\\_accuracy |"));
  EXPECT_THAT(text, Not(HasSubstr("| SAME")));
  options.comparison->machine_differences = {"another CPU: <b>"};
  options.comparison->timings_excluded = 3;
  EXPECT_THAT(write_markdown(now, options),
              AllOf(HasSubstr("another CPU&#58; &lt;b&gt;"), HasSubstr("3 timings are not compared")));
}

}  // namespace
}  // namespace torchstone::write
