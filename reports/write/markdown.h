#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "reports/judge/baseline.h"
#include "reports/record/report_json.h"

namespace torchstone::write {

/// Returns text that GitHub shows literally, on one line, also in a table. Markup and HTML are escaped; no name becomes
/// a mention, and no number a link to an issue.
std::string markdown_text(std::string_view text);
/// Returns the text as a code span on one line. `in_table` escapes pipes, which would end the cell.
std::string markdown_code(std::string_view text, bool in_table = false);
/// Returns the text as a code block.
std::string markdown_block(std::string_view text);

struct MarkdownOptions {
  size_t limit = 200'000;  ///< bytes; GitHub drops a job summary above 1 MiB and a comment above 64 KiB
  std::optional<judge::BaselineComparison> comparison{};
};

/// Returns a job summary or a comment for GitHub: counts and geometric mean; unexpected cases with cause and
/// reproduction; diagnoses; changes since the baseline; undecided cases; the tables of
/// reports/record/tables/suite_tables.h; and a table of cases for each suite. A line counts what does not fit. A
/// workflow finds its own comment by the first line, `<!-- torchstone -->`.
std::string write_markdown(const Report& report, const MarkdownOptions& options = {});

}  // namespace torchstone::write
