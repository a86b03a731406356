// What needs somebody: broken or slower since the baseline, not as expected, undecided.
#include <fmt/format.h>

#include "reports/write/html/markup.h"
#include "reports/write/html/sections.h"

namespace torchstone::html {
namespace {

constexpr size_t opened = 12;  ///< the rest is a line each until it is asked for

std::string article(const View& view, const CaseView& c, bool open) {
  const Result& r = *c.result;
  const std::string numbers = numbers_line(r), change = c.change == nullptr ? "" : change_text(*c.change);
  return fmt::format(
      "<details class=case{}><summary>{} <b class=nm>{}</b> <small>{}{}</small>{}</summary>{}</details>\n",
      open ? " open" : "", chip(c), escaped_cut(short_name(r.name), 300), escaped_cut(r.check, 40),
      numbers.empty() ? "" : " · " + escaped(numbers), change.empty() ? "" : " " + change, case_detail(view, c));
}

}  // namespace

std::string attention_section(const View& view) {
  if (view.attention.empty()) return "";
  std::string out = fmt::format("<section id=attention><h2>Needs attention <small>{}</small></h2>\n",
                                counted(view.attention.size(), "case"));
  for (size_t i = 0; i < view.attention.size(); ++i) out += article(view, view.attention[i], i < opened);
  return out + "</section>\n";
}

std::string details_section(const View& view) {
  std::string articles;
  size_t count = 0;
  for (const auto& c : view.cases) {
    if (c.urgent) continue;  // is above
    ++count;
    articles += article(view, c, false);
  }
  if (count == 0) return "";
  std::string left_out = view.fineness.all_metrics ? "" : "; for further metrics see the raw data";
  if (!view.fineness.run_order) left_out += ", for each side in run order too";
  return fmt::format("<section id=details><h2>Details <small>{}{}</small></h2>\n{}</section>\n",
                     counted(count, view.attention.empty() ? "case" : "other case"), left_out, articles);
}

}  // namespace torchstone::html
