#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/diagnosis_text.h"
#include "reports/record/row.h"
#include "reports/write/markdown.h"
#include "reports/write/markdown_parts.h"

namespace torchstone::write {
namespace {

constexpr size_t longest_sentence = 400, longest_cell = 200;

std::string cell(const std::string& text, size_t limit = longest_cell) { return markdown_text(shortened(text, limit)); }

std::string why_row(const Result& r, const Diagnosis& diagnosis) {
  return fmt::format("| {} | {} | {} | {} | {} |\n",
                     markdown_code(shortened_middle(short_name(r.name), markdown_names_width), true),
                     cell(diagnosis.outcome, 40), cell(diagnosis.sentence, longest_sentence),
                     diagnosis.guilty ? cell(diagnosis.guilty->name) : "",
                     diagnosis.reproducer ? cell(text_of(*diagnosis.reproducer)) : "");
}

}  // namespace

void add_markdown_why(std::string& text, const std::vector<Result>& results, size_t limit) {
  std::vector<std::string> rows;
  size_t undiagnosed = 0;
  std::string example;
  for (const auto& result : results) {
    if (const std::string why = why_undiagnosed(result); !why.empty() && undiagnosed++ == 0) example = why;
    if (const auto found = found_for(result); found && found->outcome != "healthy")
      rows.push_back(why_row(result, *found));
  }
  if (rows.empty() && undiagnosed == 0) return;
  text += fmt::format("\n#### Why: {} diagnosed\n", rows.size());
  if (undiagnosed > 0) text += fmt::format("\n{} left out, for example: {}\n", undiagnosed, cell(example, 400));
  if (rows.empty()) return;
  text += "\n| case | outcome | why | guilty | reproducer |\n|---|---|---|---|---|\n";
  add_markdown_blocks(text, rows, limit, "diagnoses");
}

}  // namespace torchstone::write
