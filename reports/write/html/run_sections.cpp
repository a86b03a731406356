// Sections about the run as a whole: tables of suites, coverage, machine and environment, raw results.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/record/own_model.h"
#include "reports/record/report_json.h"
#include "reports/record/summary.h"
#include "reports/record/tables/suite_tables.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/page.h"
#include "reports/write/html/view.h"

namespace torchstone::html {
namespace {

std::string table_of(const tables::SuiteTable& table) {
  const auto number = [&](size_t column) { return column < table.texts ? "" : " class=n"; };
  std::string head, body;
  for (size_t i = 0; i < table.header.size(); ++i)
    head += fmt::format("<th scope=col{}>{}", number(i), escaped(table.header[i]));
  for (const auto& row : table.rows) {
    body += "\n<tr><th scope=row>" + escaped_cut(row.front(), 120);
    for (size_t i = 1; i < row.size(); ++i) body += fmt::format("<td{}>{}", number(i), escaped_cut(row[i], 120));
  }
  const std::string title = escaped_cut(table.title, 120);
  return fmt::format(
      "<h3>{}</h3><p class=mu>{}.</p><div class=scroll tabindex=0 role=region aria-label=\"{}\"><table><thead><tr>{}"
      "<tbody>{}\n</table></div>\n",
      title, escaped(table.explanation), title, head, body);
}

constexpr size_t most_cells = 100'000;

struct Tally {
  size_t fine = 0, bad = 0, open = 0, excluded = 0;
  size_t total() const { return fine + bad + open + excluded; }
};

/// Shades a cell by its share of unexpected cases, in fifths. Symbol and numbers show the same without colour.
std::string cell(const Tally* tally) {
  if (tally == nullptr) return "<td class=h>·";
  const size_t judged = tally->total() - tally->excluded;
  if (judged == 0)
    return fmt::format("<td class=\"h off\" title=\"{} left out\">– {}", tally->excluded, tally->excluded);
  const std::string title = fmt::format("{} as expected, {} not, {} undecided, {} left out", tally->fine, tally->bad,
                                        tally->open, tally->excluded);
  if (tally->bad > 0) {
    const size_t fifth = std::clamp<size_t>(5 * tally->bad / judged, 1, 5);
    return fmt::format("<td class=\"h bad b{}\" title=\"{}\">✗ {}/{}", fifth, title, judged - tally->bad, judged);
  }
  const auto [symbol, css_class] = tally->open > 0 ? Look{"~", "odd"} : Look{"✓", "ok"};
  return fmt::format("<td class=\"h {}\" title=\"{}\">{} {}/{}", css_class, title, symbol, tally->fine, judged);
}

constexpr size_t longest = 500;

std::string card(std::string_view title, const Facts& facts) {
  if (facts.empty()) return "";
  std::string rows;
  for (const auto& [key, value] : facts) {
    const auto bytes = key.ends_with("_bytes") ? parse_number(value) : std::nullopt;
    rows += fmt::format("<tr><th>{}<td>{}", escaped_cut(key, 80),
                        bytes ? format_metric("eager_peak_bytes", *bytes) : escaped_cut(value, longest));
  }
  return fmt::format("<div class=card><h3>{}</h3><table class=\"kv tx\">{}</table></div>", title, rows);
}

std::string section(const std::string& content) {
  return "<section id=data><h2>Raw data</h2>" + content + "</section>\n";
}

std::string link(const DataFile& file, std::string_view remark) {
  return section(
      fmt::format("<p><a class=button download=\"results.json{0}\" href=\"{1}\">Save results.json{0}</a> "
                  "<small>{2} KiB; {3}</small></p>",
                  file.suffix, file.address, file.address.size() * 3 / 4 / 1024 + 1, remark));
}

/// Rounds samples to five digits. That loses far less than their noise and halves their size.
std::vector<Result> with_short_samples(std::vector<Result> results) {
  for (auto& result : results) {
    for (auto& [key, series] : result.outcome.samples) {
      for (double& value : series) {
        if (std::isfinite(value)) value = parse_number(fmt::format("{:.5g}", value)).value_or(value);
      }
    }
  }
  return results;
}

}  // namespace

const char* suites_title(const std::vector<Result>& results) {
  return are_of_own_model(results) ? "Tables" : "Models, operators, LSTMs";
}

std::string suites_section(const View& view) {
  std::string tables;
  for (const auto& table : tables::suite_tables(view.report.results)) tables += table_of(table);
  if (tables.empty()) return "";
  return fmt::format("<section id=suites><h2>{}</h2>\n{}</section>\n", suites_title(view.report.results), tables);
}

std::string coverage_section(const View& view) {
  using Key = std::vector<std::string>;
  std::map<Key, std::map<Key, Tally>> rows;
  std::map<std::string, std::set<std::string>> columns;  // dtypes by backend
  for (const auto& c : view.cases) {
    const Result& r = *c.result;
    const std::string mode = r.dynamic == "off" ? r.mode : fmt::format("{}, dynamic {}", r.mode, r.dynamic);
    Tally& tally = rows[{r.suite, r.check, mode, r.device}][{r.backend, r.dtype}];
    ++(!is_fine(r)             ? tally.bad
       : c.verdict.mark == '~' ? tally.open
       : c.verdict.mark == 'x' ? tally.excluded
                               : tally.fine);
    columns[r.backend].insert(r.dtype);
  }
  if (rows.empty() || are_of_own_model(view.report.results)) return "";  // sentences replace it
  size_t width = 0;
  for (const auto& [backend, of_backend] : columns) width += of_backend.size();
  if (rows.size() > most_cells / width)
    return fmt::format(
        "<section id=coverage><h2>Coverage</h2><p class=mu>{} rows of {} columns are too many for a table; "
        "summary.csv has them.</p></section>\n",
        rows.size(), width);
  std::string groups = "<tr><td colspan=4>", dtypes = "<tr><th>Suite<th>Check<th>Mode<th>Device";
  for (const auto& [backend, of_backend] : columns) {
    groups += fmt::format("<th scope=colgroup colspan={}>{}", of_backend.size(), escaped_cut(backend, 60));
    for (const auto& dtype : of_backend) dtypes += "<th scope=col>" + escaped_cut(dtype, 40);
  }
  std::string body;
  for (const auto& [key, tallies] : rows) {
    body += "\n<tr>";
    for (const auto& part : key) body += "<th scope=row>" + escaped_cut(part, 60);
    for (const auto& [backend, of_backend] : columns) {
      for (const auto& dtype : of_backend) {
        const auto found = tallies.find({backend, dtype});
        body += cell(found == tallies.end() ? nullptr : &found->second);
      }
    }
  }
  return fmt::format(
      "<section id=coverage><h2>Coverage</h2><p class=mu>Cases as expected of those judged; ✓ all, ✗ some not, ~ some "
      "undecided, – all left out, · none registered.</p><div class=scroll tabindex=0 role=region aria-label=Coverage>"
      "<table class=heat><thead>{}{}<tbody>{}\n</table></div></section>\n",
      groups, dtypes, body);
}

std::string run_section(const View& view) {
  const auto& run = view.report.run;
  Facts about;
  if (!run.id.empty()) about["run"] = run.id;
  if (!run.directory.empty()) about["directory"] = run.directory;
  if (!run.argv.empty()) about["command"] = fmt::format("{}", fmt::join(run.argv, " "));
  const std::string cards = card("Machine", run.machine) + card("Versions", run.build) + card("Policy", run.policy) +
                            card("Environment", run.environment) + card("Common to all cases", view.common_notes) +
                            card("Run", about);
  if (cards.empty()) return "";
  std::string doubts;
  for (const auto& doubt : machine_doubts(view.report.results, run.machine))
    doubts += "<li>" + escaped_cut(doubt, longest);
  if (!doubts.empty())
    doubts = fmt::format("<details class=case><summary>{}: what to do</summary><ul>{}</ul></details>",
                         escaped_cut(machine_doubts_line(view.report.results, run.machine), longest), doubts);
  return "<section id=run><h2>Machine and run</h2>" + doubts + "<div class=cards>" + cards + "</div></section>\n";
}

std::string data_section(const Report& report, size_t room) {
  const auto& [run, results] = report;
  const DataFile whole = data_file(write_json(results, run));
  if (whole.address.size() <= room) return link(whole, "everything on this page is made from it");
  constexpr std::string_view origin = "the results.json that this page was made from has them";
  const DataFile rounded = data_file(write_json(with_short_samples(results), run));
  if (rounded.address.size() <= room) {
    return link(rounded,
                fmt::format("raw samples with five digits, to keep the page small; for all digits, {}", origin));
  }
  auto without_samples = results;
  for (auto& result : without_samples) result.outcome.samples.clear();
  const DataFile shorter = data_file(write_json(without_samples, run));
  if (shorter.address.size() <= room)
    return link(shorter, fmt::format("without the raw samples, which are too many for one page; {}", origin));
  return section("<p>Too large for this page: see the results.json that it was made from.</p>");
}

}  // namespace torchstone::html
