// Hostile texts in every field of a report, through every registered writer. A new writer is covered if there is a
// check for the suffix of its file here.
#include "tests/unit/reports/hostile.h"

#include <functional>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <torchstone/report_writer.h>

#include "reports/base/csv_format.h"
#include "reports/base/text.h"
#include "reports/judge/baseline.h"
#include "reports/judge/baseline_report.h"
#include "reports/judge/history.h"
#include "reports/write/formats.h"
#include "reports/write/html/page.h"
#include "tests/unit/reports/format_checks.h"

namespace torchstone::write {
namespace {

using Write = std::function<NamedTexts(const Report&)>;

judge::BaselineComparison changed(const Report& report) {
  Report before = report;
  for (auto& r : before.results) r.outcome.metrics["speedup"] = 3;
  for (auto& r : before.results) r.outcome.status = Status::pass;
  before.results.pop_back();
  before.run.build["torch"] += " before";
  return judge::compare_with_baseline(before, report, {.other_machine = true});
}

std::vector<judge::HistoryPoint> three_runs(const Report& report) {
  std::vector<judge::HistoryPoint> points;
  for (const char* run : {"1", "2", "3"})
    for (auto point : judge::history_points(report)) {
      point.run += run;
      points.push_back(point);
    }
  return points;
}

/// Returns all registered writers, and the further formats of torchstone-report.
std::vector<std::pair<std::string, Write>> all_writers() {
  std::vector<std::pair<std::string, Write>> writers;
  for (const ReportWriter* writer : report_writers()) {
    if (writer->help == "a test's") continue;  // registered by another test of this program
    writers.emplace_back(writer->name, [writer](const Report& report) {
      if (writer->files) return writer->files(report, {});
      return NamedTexts{{writer->file, writer->text(report, {})}};
    });
  }
  writers.emplace_back("markdown", [](const Report& report) {
    return NamedTexts{{"summary.md", write_markdown(report, {.comparison = changed(report)})}};
  });
  writers.emplace_back("page with baseline and history", [](const Report& report) {
    return NamedTexts{{"page.html", write_html(report, {.comparison = changed(report),
                                                        .history = three_runs(report),
                                                        .baseline_label = report.run.id})}};
  });
  writers.emplace_back("comparison", [](const Report& report) {
    return NamedTexts{{"comparison.csv", write_comparison_csv(changed(report))},
                      {"comparison.json", write_comparison_json(changed(report))}};
  });
  writers.emplace_back("history", [](const Report& report) {
    return NamedTexts{{"history.jsonl", write_history(three_runs(report))}};
  });
  return writers;
}

std::string fault_of_json(const std::string& text) {
  if (auto fault = fault_of_bytes(text); !fault.empty()) return fault;
  return nlohmann::json::accept(text) ? "" : "no JSON";
}

/// Checks each line as a JSON value of its own.
std::string fault_of_json_lines(const std::string& text) {
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    if (auto fault = fault_of_json(text.substr(at, text.find('\n', at) - at)); !fault.empty()) return fault;
  return "";
}

std::string fault_of_annotations(const std::string& text) {
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    if (!text.substr(at).starts_with("::error ")) return "a line of its own: " + text.substr(at, 80);
  return fault_of_bytes(text);
}

std::string fault_of_openmetrics(const std::string& text) {
  if (!text.ends_with("\n# EOF\n")) return "no end";
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    if (!text.substr(at).starts_with("# ") && !text.substr(at).starts_with("torchstone_"))
      return "a line of its own: " + text.substr(at, 80);
  return fault_of_bytes(text);
}

std::string fault_of_page(const std::string& page, const std::string& harmless) {
  const auto known = elements_of_page(harmless);
  for (const auto& element : elements_of_page(page))
    if (!known.contains(element)) return "an element <" + printable(element).substr(0, 200) + ">";
  return fault_of_bytes(page);
}

std::string fault_of(const std::string& name, const std::string& text, const std::string& harmless) {
  static const std::set<std::string> junit = {"testsuites", "testsuite", "properties", "property",  "testcase",
                                              "failure",    "error",     "skipped",    "system-out"};
  if (name == "annotations.txt") return fault_of_annotations(text);
  if (name == "metrics.txt") return fault_of_openmetrics(text);
  if (name.ends_with(".csv") || name == "batch_sizes.txt") return fault_of_csv(text);
  if (name.ends_with(".txt")) return fault_of_log(text);
  if (name.ends_with(".json")) return fault_of_json(text);
  if (name.ends_with(".jsonl")) return fault_of_json_lines(text);
  if (name.ends_with(".xml")) return fault_of_xml(text, junit);
  if (name.ends_with(".md")) return fault_of_markdown(text);
  if (name.ends_with(".html")) return fault_of_page(text, harmless);
  return "no check for such a file";
}

TEST(HostileTexts, AreEscapedByEveryWriter) {
  const Report harmless = report_of("first words\n\nsecond words\n\nthird words\n\nlast words");
  for (const auto& [writer, write] : all_writers()) {
    const NamedTexts ordinary = write(harmless);
    EXPECT_FALSE(ordinary.empty()) << writer << " has nothing to say of these results";
    for (const auto& hostile : texts_to_escape()) {
      const NamedTexts texts = write(report_of(hostile));
      ASSERT_EQ(texts.size(), ordinary.size()) << writer;
      for (size_t i = 0; i < texts.size(); ++i) {
        EXPECT_FALSE(texts[i].second.empty()) << writer << ": " << printable(texts[i].first);
        EXPECT_EQ(fault_of(texts[i].first, texts[i].second, ordinary[i].second), "")
            << writer << ": " << printable(texts[i].first);
      }
    }
  }
}

/// Each check must find faults in raw texts. Otherwise it would prove nothing.
TEST(HostileTexts, RawAreFoundByEveryCheck) {
  for (const char* name :
       {"annotations.txt", "metrics.txt", "x.txt", "x.csv", "x.json", "x.jsonl", "x.xml", "x.md", "x.html"})
    for (const auto& text : texts_to_escape()) EXPECT_NE(fault_of(name, text, ""), "") << name;
  EXPECT_NE(fault_of("x.npy", "words", ""), "");
  for (const char* text : {"a,=1\n", "\"+a\nb\"\n", "-a\n", "@a\n", "a,b\nc\n"})
    EXPECT_NE(fault_of_csv(text), "") << text;
  EXPECT_EQ(fault_of_csv("a,b,-1.5,+3,-inf,1e-3,'=a\n"), "");
  for (const char* text : {"![a](b)", "[a](b)", "www.a", "http://a", "@you", "#12", "<b>", "| a |\n| b | c |\n"})
    EXPECT_NE(fault_of_markdown(text), "") << text;
  EXPECT_EQ(fault_of_markdown("`<b>` \\[a\\](b) @&#8203;you\n\n```\n<b>\n```\n<br>| a |\n"), "");
  for (const char* text : {"  ::error::a", "a ##[b]", "a\x1b[0m"}) EXPECT_NE(fault_of_log(text), "") << text;
}

TEST(HostileTexts, AreReadBackFromTables) {
  for (const auto& text : texts_to_escape()) {
    const Report report = report_of(text);
    const CsvTable table = parse_csv(write_wide_csv(report.results), "results.csv");
    ASSERT_EQ(table.rows.size(), report.results.size());
    for (const char* column : {"suite", "mode", "reason"})
      EXPECT_EQ(table.rows[0].cells[table.require_column(column)], printable(text)) << column;
  }
}

}  // namespace
}  // namespace torchstone::write
