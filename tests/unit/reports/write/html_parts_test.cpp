#include <cmath>

#include <gtest/gtest.h>

#include "reports/write/html/markup.h"
#include "reports/write/html/page.h"
#include "reports/write/html/view.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::html {
namespace {

TEST(Markup, EscapesWhatIsMarkupInContentAndAttributes) {
  EXPECT_EQ(escaped("a<b>&\"c\"\n\x07"), "a&lt;b&gt;&amp;&quot;c&quot;&#10;\\x07");
}

TEST(Markup, CutsTheMiddleBetweenCharacters) {
  EXPECT_EQ(escaped_cut("short", 5), "short");
  const std::string cut = escaped_cut("ääääääääää", 7);
  EXPECT_EQ(cut.find("\\x"), std::string::npos) << cut;
  EXPECT_TRUE(cut.starts_with("ää") && cut.ends_with("ä")) << cut;
  EXPECT_NE(cut.find("bytes left out"), std::string::npos);
}

TEST(Markup, SaysDurationsAsPeopleDo) {
  EXPECT_EQ(duration_text(0.25), "0.2 s");
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(312.4), "5 min 12 s");
  EXPECT_EQ(duration_text(7380), "2 h 03 min");
  EXPECT_EQ(duration_text(nan_value), "unknown");
}

TEST(IntervalBar, OfANoisySpeedUpIsNeitherFasterNorSlower) {
  Result r = simple_result("a", Status::pass, "performance");
  r.outcome.metrics = {{"speedup", 2}, {"speedup_low", 1.9}, {"speedup_high", 2.1}};
  EXPECT_NE(interval_bar(r).find("class=up"), std::string::npos);
  r.outcome.metrics["speedup_high"] = 4;
  EXPECT_EQ(interval_bar(r).find("class=up"), std::string::npos);
  EXPECT_NE(interval_bar(r).find("class=ev"), std::string::npos);
}

TEST(Plot, MapsToPixelsAndClampsToTheEdges) {
  const Scale linear{0, 10, 100, 200}, upward{1, 100, 50, 0, true};
  EXPECT_EQ(linear(5), 150);
  EXPECT_EQ(linear(-1), 100);
  EXPECT_EQ(linear(11), 200);
  EXPECT_EQ(linear(nan_value), 100);
  EXPECT_EQ(linear(infinity), 200);
  EXPECT_EQ(upward(10), 25);
  EXPECT_EQ(upward(0), 50);
}

TEST(Plot, WritesShortPaths) {
  EXPECT_EQ(line_path({{1, 2}, {3, 1}, {2, 4}, {5, 5}}), "M1 2l2-1-1 3 3 1");
  EXPECT_EQ(dots_path({{1, 2}, {3, 1}}), "M1 2h0m2-1h0");
  EXPECT_EQ(line_path({}), "");
}

TEST(Plot, TakesQuantilesOfWhatIsFinite) {
  const std::vector<double> values{4, nan_value, 1, 3, infinity, 2};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(Plot, ThinsByMediansOfNeighbours) {
  EXPECT_EQ(thinned({1, 9, 2, 8, 7, 3, 5}, 3), (std::vector<double>{2, 7, 5}));
  EXPECT_EQ(thinned({1, 2}, 2), (std::vector<double>{1, 2}));
}

TEST(Plot, FindsTwoToFourRoundTicks) {
  EXPECT_EQ(round_ticks(0, 10), (std::vector<double>{0, 10}));
  EXPECT_EQ(round_ticks(0.9, 4.2), (std::vector<double>{2, 4}));
  EXPECT_TRUE(round_ticks(1, 1).empty());
  EXPECT_TRUE(round_ticks(nan_value, 1).empty());
  for (double high = 1e-9; high < 1e9; high *= 1.37) {
    const auto ticks = round_ticks(high / 3, high);
    EXPECT_GE(ticks.size(), 2u) << high;
    EXPECT_LE(ticks.size(), 5u) << high;
  }
}

TEST(Plot, NamesTimesInTheirUnit) {
  EXPECT_EQ(time_text(1.25e-5), "12.5 µs");
  EXPECT_EQ(time_text(0.0331), "33.1 ms");
  EXPECT_EQ(time_text(2), "2 s");
}

/// Test vectors of RFC 4648, section 10.
TEST(Base64, IsThatOfTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(MismatchTables, MakeCellsOfWhatStandsApart) {
  const std::string report =
      "output 0: too far\n"
      "  worst element       [0, 17]: reference 1.5, result <2.5>\n"
      "  would pass at       tolerance 1e-3\n"
      "           |reference|     elements   out of tol.\n"
      "               above 0          998             2\n";
  const std::string markup = mismatch_tables(report, 10'000);
  EXPECT_NE(markup.find("<p>output 0: too far</p>"), std::string::npos) << markup;
  EXPECT_NE(markup.find("<tr><th>worst element<td>[0, 17]: reference 1.5, result &lt;2.5&gt;"), std::string::npos);
  EXPECT_NE(markup.find("<tr><th>|reference|<th>elements<th>out of tol.<tr><th>above 0<td>998<td>2</table>"),
            std::string::npos);
}

}  // namespace
}  // namespace torchstone::html
