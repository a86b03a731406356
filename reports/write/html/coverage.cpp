// What was covered: suites, modes, devices and checks against backends and dtypes.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "reports/record/summary.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/sections.h"

namespace torchstone::html {
namespace {

constexpr size_t most_cells = 100'000;

struct Tally {
  size_t fine = 0, bad = 0, open = 0, left_out = 0;
  size_t total() const { return fine + bad + open + left_out; }
};

void count(Tally& tally, const CaseView& c) {
  if (!is_fine(*c.result))
    ++tally.bad;
  else if (c.verdict.mark == '~')
    ++tally.open;
  else if (c.verdict.mark == 'x')
    ++tally.left_out;
  else
    ++tally.fine;
}

/// The shade tells how much is fine, in fifths; symbol and numbers tell the same without colour.
std::string cell(const Tally* tally) {
  if (tally == nullptr) return "<td class=h>·";
  const size_t judged = tally->total() - tally->left_out;
  if (judged == 0)
    return fmt::format("<td class=\"h off\" title=\"{} left out\">– {}", tally->left_out, tally->left_out);
  const std::string title = fmt::format("{} as expected, {} not, {} undecided, {} left out", tally->fine, tally->bad,
                                        tally->open, tally->left_out);
  if (tally->bad > 0) {
    const size_t fifth = std::clamp<size_t>(5 * tally->bad / judged, 1, 5);
    return fmt::format("<td class=\"h bad b{}\" title=\"{}\">✗ {}/{}", fifth, title, judged - tally->bad, judged);
  }
  const auto [symbol, css_class] = tally->open > 0 ? Look{"~", "odd"} : Look{"✓", "ok"};
  return fmt::format("<td class=\"h {}\" title=\"{}\">{} {}/{}", css_class, title, symbol, tally->fine, judged);
}

}  // namespace

std::string coverage_section(const View& view) {
  using Key = std::vector<std::string>;
  std::map<Key, std::map<Key, Tally>> rows;
  std::map<std::string, std::map<std::string, bool>> columns;  // dtypes by backend
  for (const auto& c : view.cases) {
    const Result& r = *c.result;
    const std::string mode = r.dynamic == "off" ? r.mode : fmt::format("{}, dynamic {}", r.mode, r.dynamic);
    count(rows[{r.suite, r.check, mode, r.device}][{r.backend, r.dtype}], c);
    columns[r.backend][r.dtype] = true;
  }
  if (rows.empty()) return "";
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
    for (const auto& [dtype, present] : of_backend) dtypes += "<th scope=col>" + escaped_cut(dtype, 40);
  }
  std::string body;
  for (const auto& [key, tallies] : rows) {
    body += "\n<tr>";
    for (const auto& part : key) body += "<th scope=row>" + escaped_cut(part, 60);
    for (const auto& [backend, of_backend] : columns) {
      for (const auto& [dtype, present] : of_backend) {
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

}  // namespace torchstone::html
