#include "reports/write/markdown_parts.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/judge/comparison/baseline_report.h"
#include "reports/record/detection.h"
#include "reports/record/run_verdict.h"
#include "reports/record/summary.h"
#include "reports/write/markdown.h"

namespace torchstone::write {
namespace {

constexpr size_t longest_words = 1000;  // of the names of weak passes

}  // namespace

void add_markdown_blocks(std::string& text, const std::vector<std::string>& blocks, size_t limit,
                         std::string_view what) {
  size_t added = 0;
  while (added < blocks.size() && text.size() + blocks[added].size() <= limit) text += blocks[added++];
  if (added == blocks.size()) return;
  text += fmt::format("\n_… {} of {} {} are cut off here; all are in results.json_\n", blocks.size() - added,
                      blocks.size(), what);
}

std::string markdown_banner(const Report& report, const std::optional<judge::BaselineComparison>& comparison) {
  const auto& [run, results] = report;
  const int code = run.exit_code.value_or(ExitCode::success);
  const auto bad = static_cast<size_t>(std::ranges::count_if(results, is_unexpected));
  const size_t worse = comparison ? judge::count_worse(*comparison) : 0;
  const size_t others = comparison ? judge::count_other_models(*comparison) : 0;
  const std::string refusal = comparison ? judge::refusal_words(*comparison) : "";
  const bool whole = run.exit_reason.empty() || run.exit_reason == "finished" || run.exit_reason.starts_with("merged");
  std::string text =
      fmt::format("<!-- torchstone -->\n### {} Torchstone: {} of {} cases as expected\n\n",
                  bad > 0 || !whole || code != ExitCode::success || worse + others > 0 || !refusal.empty() ? "❌" : "✅",
                  results.size() - bad, results.size());
  std::vector<std::string> counts;
  for (const auto& [status, count] : count_by_status(results))
    counts.push_back(fmt::format("{} {}", count, markdown_text(to_string(status))));
  if (worse > 0) counts.push_back(fmt::format("{} worse than the baseline", worse));
  if (others > 0) counts.push_back(fmt::format("{} not the baseline's model", others));
  text += fmt::format("{}", fmt::join(counts, " · "));
  if (!refusal.empty()) text += fmt::format("\n<br>**{}**", capitalised(refusal));
  if (code != ExitCode::success)
    text += fmt::format("\n<br>exit code {}: {}", code, markdown_text(exit_words_of(report)));
  for (const auto& line : baseline_lines(run)) text += "\n<br>" + markdown_text(shortened(line, longest_words));
  if (run.baseline && !run.baseline->again.empty())
    text += "\n<br>again: " + markdown_code(shortened(run.baseline->again, longest_words));
  const Geomean geomean = geomean_of(results);
  std::vector<std::string> left_out;
  for (const auto& [reason, count] : geomean.left_out) left_out.push_back(fmt::format("{} {}", count, reason));
  if (geomean.n > 0)
    text += fmt::format("\n<br>speed-up: geometric mean {:.3f}x over {}{}", geomean.value, geomean.n,
                        geomean.noisy == 0 ? "" : fmt::format(", {} of them noisy", geomean.noisy));
  if (geomean.n == 0 && !left_out.empty()) text += "\n<br>speed-up: not measured";
  if (!left_out.empty()) text += markdown_text(fmt::format("; left out: {}", fmt::join(left_out, ", ")));
  const Detection detection = detection_of(results);
  for (const auto& words : {detection_words(detection), weak_words(detection)})
    if (!words.empty()) text += "\n<br>" + markdown_text(shortened(words, longest_words));
  text += run.duration_s > 0 ? fmt::format("\n<br>{:.0f} s", run.duration_s) : "\n<br>duration unknown";
  if (!run.started.empty()) text += ", started " + markdown_text(run.started);
  if (!run.exit_reason.empty()) text += ", " + markdown_text(shortened(run.exit_reason, markdown_names_width));
  for (const auto& [facts, key] : {std::pair{&run.machine, "cpu"}, {&run.build, "gpu"}, {&run.build, "torch"}}) {
    if (const auto found = facts->find(key); found != facts->end())
      text += fmt::format(", {} {}", key, markdown_text(shortened(found->second, markdown_names_width)));
  }
  return text + "\n";
}

void add_markdown_table(std::string& text, const tables::SuiteTable& table, size_t limit) {
  const auto line = [](const std::vector<std::string>& texts) {
    std::string cells = "|";
    for (const auto& cell : texts)
      cells += fmt::format(" {} |", markdown_text(shortened_middle(cell, markdown_names_width)));
    return cells + "\n";
  };
  std::string rules = "|";
  for (size_t i = 0; i < table.header.size(); ++i) rules += i < table.texts ? " --- |" : " --: |";
  std::vector<std::string> rows;
  for (const auto& row : table.rows) rows.push_back(line(row));
  const std::string head = fmt::format("\n#### {}\n\n{}\n\n{}{}\n", markdown_text(table.title),
                                       markdown_text(table.explanation), line(table.header), rules);
  if (text.size() + head.size() > limit) return add_markdown_blocks(text, {head}, limit, "tables");
  text += head;
  add_markdown_blocks(text, rows, limit, "rows");
}

}  // namespace torchstone::write
