#include "reports/write/html/page.h"

#include <fmt/format.h>
#include <torchstone/report_writer.h>

#include "reports/record/summary.h"
#include "reports/write/html/document.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/view.h"

namespace torchstone::write {
namespace {

constexpr size_t largest_page = 1'450'000;
/// Tried in turn until the page is small enough.
constexpr html::Fineness fineness_levels[] = {{200}, {100}, {50}, {50, false}, {25, false}, {25, false, false}};

/// Banner and sections up to the raw data.
struct Content {
  std::string title, head, body;
};

std::string title_of(const html::View& view) {
  size_t fine = 0;
  for (const auto& result : view.report.results) fine += is_fine(result);
  const int code = view.report.run.exit_code.value_or(0);
  return fmt::format("Torchstone: {} of {} as expected{}", fine, html::counted(view.cases.size(), "case"),
                     code == 0 ? "" : fmt::format(", exit code {}", code));
}

std::string navigation(const std::string& body) {
  std::string links;
  for (const auto& [id, title] : {std::pair{"attention", "Needs attention"},
                                  {"why", "Why"},
                                  {"cases", "Cases"},
                                  {"suites", "Models, operators, LSTMs"},
                                  {"details", "Details"},
                                  {"baseline", "Since the baseline"},
                                  {"coverage", "Coverage"},
                                  {"run", "Machine and run"},
                                  {"data", "Raw data"}}) {
    if (body.find(fmt::format("<section id={}>", id)) != std::string::npos)
      links += fmt::format("<a href=#{}>{}</a>\n", id, title);
  }
  return "<nav aria-label=Sections>" + links + "</nav>\n";
}

Content content_of(const html::View& view) {
  return {title_of(view), html::banner(view),
          html::attention_section(view) + html::why_section(view) + html::cases_section(view) +
              html::suites_section(view) + html::details_section(view) + html::baseline_section(view) +
              html::coverage_section(view) + html::run_section(view)};
}

}  // namespace

std::string write_html(const Report& report, const PageOptions& options) {
  const size_t fixed = page_style().size() + page_script().size() + 4096;
  // The raw data first: what they leave decides how finely series are drawn.
  std::string data = html::data_section(report, largest_page / 4);
  Content content;
  for (const html::Fineness& fineness : fineness_levels) {
    content = content_of(html::view_of(report, options, fineness));
    if (fixed + data.size() + content.head.size() + content.body.size() <= largest_page) break;
  }
  const size_t used = fixed + content.head.size() + content.body.size();
  if (used + data.size() > largest_page)
    data = html::data_section(report, used < largest_page ? largest_page - used : 0);
  const std::string body = content.body + data;
  return html::document(content.title, content.head + navigation(body) + "<main>\n" + body + "</main>\n",
                        /*with_script=*/true);
}

TORCHSTONE_REPORT_WRITER(
    html, .help = "One self-contained page to read and to send", .order = 200, .file = "report.html",
    .text = [](const Report& report, const auto&) { return write_html(report); });

}  // namespace torchstone::write
