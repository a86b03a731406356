// Machine, versions, flags and environment of the run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/text.h"
#include "reports/record/machine_doubts.h"
#include "reports/record/metric.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/sections.h"

namespace torchstone::html {
namespace {

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

}  // namespace

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
  if (!doubts.empty()) doubts = "<p>Known to disturb all timings of this run:<ul>" + doubts + "</ul>";
  return "<section id=run><h2>Machine and run</h2>" + doubts + "<div class=cards>" + cards + "</div></section>\n";
}

}  // namespace torchstone::html
