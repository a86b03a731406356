#include "reports/write/markdown.h"

#include <algorithm>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/row.h"
#include "reports/tables/suite_tables.h"
#include "reports/write/markdown_parts.h"

namespace torchstone::write {
namespace {

/// Parts of the limit up to which failures, changes, undecided cases and tables of suites may fill it, and the room
/// that closing tags and the lines that count what was cut may take.
constexpr double failures_part = 0.6, changes_part = 0.8, undecided_part = 0.85, tables_part = 0.9;
constexpr size_t reserve = 1000;

bool is_undecided(const Result& r) { return verdict_of(r).mark == '~'; }

template <typename Predicate, typename Write>
std::vector<std::string> blocks_of(const std::vector<Result>& results, Predicate wanted, Write write) {
  std::vector<std::string> blocks;
  for (const auto& result : results)
    if (wanted(result)) blocks.push_back(write(result));
  return blocks;
}

}  // namespace

std::string write_markdown(const Report& report, const MarkdownOptions& options) {
  const auto room = static_cast<double>(options.limit > reserve ? options.limit - reserve : 0);
  const auto up_to = [&](double part) { return static_cast<size_t>(room * part); };
  std::string text = markdown_banner(report);
  if (const auto blocks = blocks_of(report.results, is_unexpected, markdown_failure); !blocks.empty()) {
    text += fmt::format("\n#### {} not as expected\n", blocks.size());
    add_markdown_blocks(text, blocks, up_to(failures_part), "failures");
  }
  if (options.comparison) add_markdown_changes(text, *options.comparison, up_to(changes_part));
  if (const auto rows = blocks_of(report.results, is_undecided, markdown_case_row); !rows.empty()) {
    text += fmt::format("\n#### {} undecided\n\n{}", rows.size(), markdown_case_header);
    add_markdown_blocks(text, rows, up_to(undecided_part), "undecided cases");
  }
  for (const auto& table : tables::suite_tables(report.results)) add_markdown_table(text, table, up_to(tables_part));
  std::vector<std::string> suites;
  for (const auto& result : report.results)
    if (std::ranges::find(suites, result.suite) == suites.end()) suites.push_back(result.suite);
  for (const auto& suite : suites) {
    const auto rows = blocks_of(
        report.results, [&](const Result& r) { return r.suite == suite; }, markdown_case_row);
    const std::string head =
        fmt::format("\n<details><summary>{}: {} cases</summary>\n\n{}",
                    markdown_html(suite.empty() ? "no suite" : shortened(suite, markdown_names_width)), rows.size(),
                    markdown_case_header);
    if (text.size() + head.size() > up_to(1)) {
      text += "\n_… the tables of further suites are cut off here; all are in results.json_\n";
      break;
    }
    text += head;
    add_markdown_blocks(text, rows, up_to(1), "cases");
    text += "\n</details>\n";
  }
  return text;
}

}  // namespace torchstone::write
