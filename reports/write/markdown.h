#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "reports/judge/baseline.h"
#include "reports/record/report_json.h"

namespace torchstone::write {

/// Text that GitHub shows literally, on one line, also in a table: markup and HTML are escaped, and no name becomes a
/// mention, no number a link to an issue.
std::string markdown_text(std::string_view text);
/// The same within an HTML element, where Markdown's own marks mean nothing.
std::string markdown_html(std::string_view text);
/// The text as a code span on one line; pipes are escaped `in_table`, where they would end the cell.
std::string markdown_code(std::string_view text, bool in_table = false);
/// The text as a code block.
std::string markdown_block(std::string_view text);

struct MarkdownOptions {
  size_t limit = 200'000;  ///< bytes; GitHub drops a job summary above 1 MiB and a comment above 64 KiB
  std::optional<judge::BaselineComparison> comparison{};
};

/// A job summary or a comment for GitHub: counts and geometric mean; the cases that are not as expected, with cause and
/// reproduction; why they are wrong; the changes since the baseline; the undecided cases; the tables of
/// reports/record/tables/suite_tables.h; and a table of cases for each suite. What does not fit is counted. The first
/// line is the comment `<!-- torchstone -->`, by which a workflow finds its own comment again.
std::string write_markdown(const Report& report, const MarkdownOptions& options = {});

}  // namespace torchstone::write
