// What suites come to beyond their cases: speed-ups by model, operators by quantiles, the runners of fastrnns.
#include "reports/tables/suite_tables.h"

#include <fmt/format.h>

#include "reports/write/html/markup.h"
#include "reports/write/html/sections.h"

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

}  // namespace

std::string suites_section(const View& view) {
  std::string tables;
  for (const auto& table : tables::suite_tables(view.report.results)) tables += table_of(table);
  return tables.empty() ? "" : "<section id=suites><h2>Models, operators, LSTMs</h2>\n" + tables + "</section>\n";
}

}  // namespace torchstone::html
