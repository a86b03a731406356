#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/judge/baseline.h"
#include "reports/record/report_json.h"
#include "reports/record/tables/suite_tables.h"

/// The parts that write_markdown() joins. A part that takes `limit` adds to `text` what fits below that many bytes, and
/// a line that counts what does not.

namespace torchstone::write {

constexpr size_t markdown_names_width = 200;  ///< the longest name of a case or suite that is shown

/// Counts, geometric mean, duration and machine.
std::string markdown_banner(const Report& report, const std::optional<judge::BaselineComparison>& comparison);

/// A case that is not as expected: status, numbers, reason, the command that reproduces it, and its detail.
std::string markdown_failure(const Result& result);
/// The head of a table of cases, and one row of it.
extern const std::string_view markdown_case_header;
std::string markdown_case_row(const Result& result);

/// Why compiled programs are wrong, one row a diagnosis.
void add_markdown_why(std::string& text, const std::vector<Result>& results, size_t limit);
/// What changed since the baseline.
void add_markdown_changes(std::string& text, const judge::BaselineComparison& comparison, size_t limit);
void add_markdown_table(std::string& text, const tables::SuiteTable& table, size_t limit);
void add_markdown_blocks(std::string& text, const std::vector<std::string>& blocks, size_t limit,
                         std::string_view what);

bool is_unexpected(const Result& result);

}  // namespace torchstone::write
