#include "reports/write/markdown.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/tables/suite_tables.h"
#include "reports/record/verdict.h"
#include "reports/write/markdown_parts.h"

namespace torchstone::write {
namespace {

size_t longest_run_of_backticks(std::string_view text) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : printable_line(text)) {
    // A mention or a link to an issue is made from the finished page: only a character between prevents it.
    if (c == '@' || c == '#')
      out += std::string(1, c) + "&#8203;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == ':')
      out += "&#58;";  // neither an address nor an emoji
    else if (c == '.' && out.ends_with("www"))
      out += "&#46;";
    else if (std::string_view("\\`*_[]|~$").find(c) != std::string_view::npos)
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string markdown_html(std::string_view text) {
  std::string out;
  for (const char c : printable_line(text)) {
    out += std::string_view("\\`*_[]|~$:.!<>&\"'@#").find(c) == std::string_view::npos
               ? std::string(1, c)
               : fmt::format("&#{};", static_cast<int>(c));
    if (c == '@' || c == '#') out += "&#8203;";
  }
  return out;
}

std::string markdown_code(std::string_view text, bool in_table) {
  std::string inner;
  for (const char c : printable_line(text)) inner += in_table && c == '|' ? "\\|" : std::string(1, c);
  const std::string fence(longest_run_of_backticks(inner) + 1, '`');
  const bool touches = inner.empty() || inner.starts_with('`') || inner.ends_with('`');
  return touches ? fence + " " + inner + " " + fence : fence + inner + fence;
}

std::string markdown_block(std::string_view text) {
  const std::string inner = printable(text);
  const std::string fence(std::max<size_t>(3, longest_run_of_backticks(inner) + 1), '`');
  return fence + "\n" + inner + (inner.ends_with('\n') ? "" : "\n") + fence + "\n";
}

namespace {

/// Parts of the limit up to which failures, diagnoses, changes, undecided cases and tables of suites may fill it, and
/// the room that closing tags and the lines that count what was cut may take.
constexpr double failures_part = 0.5, why_part = 0.6, changes_part = 0.8, undecided_part = 0.85, tables_part = 0.9;
constexpr size_t reserve = 1000;

bool is_open(const Result& r) { return verdict_of(r).mark == '~'; }

/// "1 undecided, 2 noisy"
std::string open_words(const std::vector<Result>& results) {
  const auto open = std::ranges::count_if(results, is_open);
  const auto noisy = std::ranges::count_if(results, [](const Result& r) { return verdict_of(r).word == "NOISY"; });
  if (noisy == 0) return fmt::format("{} undecided", open);
  return open == noisy ? fmt::format("{} noisy", noisy) : fmt::format("{} undecided, {} noisy", open - noisy, noisy);
}

template <typename Predicate, typename Write>
std::vector<std::string> blocks_of(const std::vector<Result>& results, Predicate wanted, Write write) {
  std::vector<std::string> blocks;
  for (const auto& result : results)
    if (wanted(result)) blocks.push_back(write(result));
  return blocks;
}

/// In the order they come.
std::vector<std::pair<std::string, std::vector<const Result*>>> by_suite(const std::vector<Result>& results) {
  std::vector<std::pair<std::string, std::vector<const Result*>>> suites;
  std::map<std::string, size_t> places;
  for (const auto& result : results) {
    const auto [place, is_new] = places.emplace(result.suite, suites.size());
    if (is_new) suites.push_back({result.suite, {}});
    suites[place->second].second.push_back(&result);
  }
  return suites;
}

}  // namespace

std::string write_markdown(const Report& report, const MarkdownOptions& options) {
  const auto room = static_cast<double>(options.limit > reserve ? options.limit - reserve : 0);
  const auto up_to = [&](double part) { return static_cast<size_t>(room * part); };
  std::string text = markdown_banner(report, options.comparison);
  if (const auto blocks = blocks_of(report.results, is_unexpected, markdown_failure); !blocks.empty()) {
    text += fmt::format("\n#### {} not as expected\n", blocks.size());
    add_markdown_blocks(text, blocks, up_to(failures_part), "failures");
  }
  add_markdown_why(text, report.results, up_to(why_part));
  if (options.comparison) add_markdown_changes(text, *options.comparison, up_to(changes_part));
  if (const auto rows = blocks_of(report.results, is_open, markdown_case_row); !rows.empty()) {
    text += fmt::format("\n#### {}\n\n{}", open_words(report.results), markdown_case_header);
    add_markdown_blocks(text, rows, up_to(undecided_part), "undecided and noisy cases");
  }
  for (const auto& table : tables::suite_tables(report.results)) {
    if (text.size() + reserve > up_to(tables_part)) {
      text += "\n_… further tables are cut off here; all are in results.json_\n";
      break;
    }
    add_markdown_table(text, table, up_to(tables_part));
  }
  for (const auto& [suite, results] : by_suite(report.results)) {
    std::vector<std::string> rows;
    for (const Result* result : results) rows.push_back(markdown_case_row(*result));
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
