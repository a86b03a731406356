#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/judge/comparison/baseline_input.h"
#include "reports/judge/upstream/upstream_candidates.h"

namespace torchstone::judge {
namespace {

std::optional<double> positive(const UpstreamTable& t, const CsvRow& row, const char* column) {
  const auto value = parse_number(t.cell(row, column));
  return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

/// The case as the row has it; its metrics are still to come.
Result row_as_result(const Result& now, Status status) {
  Result before = now;
  before.finished = true;
  before.outcome = Outcome{};
  before.outcome.status = status;
  return before;
}

class Matching {
 public:
  Matching(const UpstreamTable& t, const Report& report) : t_(t), candidates_(t, report.results) {}

  MatchedTable run() {
    size_t rows = 0;
    for (const auto& row : t_.table.rows) {
      const Matches cases = candidates_.of(row);
      rows += cases.empty() ? 0 : 1;
      for (const Result* now : cases) add(row, *now);
    }
    say_what_is_compared(rows);
    return std::move(matched_);
  }

 private:
  void add(const CsvRow& row, const Result& now) {
    if (t_.table.column("accuracy")) {
      Result before = row_as_result(now, *parse_status(t_.cell(row, "accuracy")));
      if (const auto breaks = parse_number(t_.cell(row, "graph_breaks")); breaks && std::isfinite(*breaks))
        before.outcome.metrics["graph_breaks"] = *breaks;
      matched_.results.push_back(std::move(before));
      return;
    }
    const auto speedup = positive(t_, row, "speedup"), batch = positive(t_, row, "batch_size");
    if (!speedup)
      return leave_out(row, now, fmt::format("its speed-up there is {}: not measured", t_.cell(row, "speedup")));
    if (batch && *batch != static_cast<double>(now.batch_size))
      return leave_out(row, now, fmt::format("batch size {} there, {} here", *batch, now.batch_size));
    Result before = row_as_result(now, Status::pass);
    before.outcome.metrics["speedup"] = *speedup;
    if (const auto latency = positive(t_, row, "abs_latency")) before.outcome.metrics["compiled_ms"] = *latency;
    if (const auto compile = positive(t_, row, "compilation_latency")) before.outcome.metrics["compile_s"] = *compile;
    matched_.results.push_back(std::move(before));
    minis_ += now.preset == "mini" ? 1 : 0;
  }

  void leave_out(const CsvRow& row, const Result& now, const std::string& why) {
    left_out_.push_back(fmt::format("Not compared: {}: {} ({}:{})", now.name, why, t_.table.file, row.line));
  }

  void say_what_is_compared(size_t rows) {
    auto& notes = matched_.notes;
    notes.push_back(
        fmt::format("The baseline {} is a table of benchmarks/dynamo ({}); {} of its {} rows are of models "
                    "here",
                    t_.table.file, t_.check, rows, t_.table.rows.size()));
    if (t_.check == "performance")
      notes.emplace_back(
          "It has one speed-up for each model, without an interval and without a machine. Each is taken as a number "
          "and "
          "compared with the interval of this run alone, so how sure a change is depends on noise that nobody "
          "measured");
    if (minis_ > 0)
      notes.push_back(
          fmt::format("{} of the cases are of the preset mini, which is smaller than upstream's models", minis_));
    for (const auto& [said, count] : candidates_.refused())
      notes.push_back(fmt::format("{} cases are left out: the baseline is of {}", count, said));
    notes.insert(notes.end(), left_out_.begin(), left_out_.end());
  }

  const UpstreamTable& t_;
  Candidates candidates_;
  MatchedTable matched_{};
  std::vector<std::string> left_out_{};
  size_t minis_ = 0;
};

}  // namespace

MatchedTable match(const UpstreamTable& table, const Report& report) { return Matching(table, report).run(); }

}  // namespace torchstone::judge
