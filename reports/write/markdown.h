#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "reports/judge/baseline.h"
#include "reports/record/json.h"

namespace torchstone::write {

/// Text that GitHub renders as it is, in a table too, on one line: markup and HTML are escaped, nobody is mentioned and
/// no issue is linked.
std::string markdown_text(std::string_view text);
/// The text as a code span on one line; pipes are escaped `in_table`, where they would end the cell.
std::string markdown_code(std::string_view text, bool in_table = false);
/// The text as a code block.
std::string markdown_block(std::string_view text);

struct MarkdownOptions {
  size_t limit = 200'000;  ///< bytes; GitHub drops a job summary above 1 MiB and a comment above 64 KiB
  std::optional<judge::BaselineComparison> comparison{};
};

/// For a job summary or a comment on GitHub: counts and geometric mean, what is not as expected with cause and
/// reproduction, what changed since the baseline, what is undecided, what models, operators and LSTMs
/// come to (reports/tables/suite_tables.h), then a table for each suite. What does not fit is counted. The first line
/// is a comment, by which a workflow finds its own comment again: `<!-- torchstone -->`.
std::string write_markdown(const Report& report, const MarkdownOptions& options = {});

}  // namespace torchstone::write
