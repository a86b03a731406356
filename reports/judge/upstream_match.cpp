#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torchstone/result.h>

#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/judge/baseline_input.h"
#include "reports/judge/upstream_tables.h"
#include "reports/record/result_json.h"
#include "reports/record/tables/upstream_csv.h"

namespace torchstone::judge {

using Matches = std::vector<const Result*>;

/// The cases that the name of a table's file allows, each once (the last record counts), by the names that a row may
/// have. Refers to the results.
class Candidates {
 public:
  Candidates(const UpstreamTable& table, const std::vector<Result>& results);

  /// Those of a row: by our name of the model, or else by upstream's, and on the row's device. Throws ReportError
  /// "file:line: …" when there are several of one model; several models may be variants of one of upstream's.
  Matches of(const CsvRow& row) const;
  /// What the file's name says → cases that it leaves out.
  const std::map<std::string, size_t>& refused() const { return refused_; }

 private:
  Matches named(const std::string& name, const std::string& device) const;

  const UpstreamTable& table_;
  std::map<std::string, Matches> by_own_name_, by_upstream_name_;
  std::map<std::string, size_t> refused_;
};

namespace {

std::string device_type(const std::string& device) { return device.substr(0, device.find(':')); }

bool agrees_in_backend(const Result& r, const std::string& said) {
  const std::string backend = tables::word_of(r.backend);
  return said == backend || said == backend + "_" + tables::word_of(r.suite);  // a suite that upstream does not have
}

/// What the file's name says and this case is not; empty when it agrees.
std::string disagreement(const UpstreamTable& t, const Result& r) {
  if (r.check != t.check) return "check " + t.check;
  for (const auto& field : text_fields()) {
    const auto said = t.facts.find(std::string(field.key));
    if (said == t.facts.end() || field.key == "check") continue;
    const bool agrees = field.key == "backend"  ? agrees_in_backend(r, said->second)
                        : field.key == "device" ? device_type(r.device) == said->second
                                                : r.*field.member == said->second;
    if (!agrees) return fmt::format("{} {}", field.key, said->second);
  }
  return "";
}

/// The fields in which cases differ.
std::string different_fields(const Matches& cases) {
  std::vector<std::string> fields;
  for (const auto& field : text_fields()) {
    const bool tells = field.key == "suite" || field.key == "mode" || field.key == "dtype" || field.key == "device" ||
                       field.key == "backend" || field.key == "preset" || field.key == "dynamic";
    if (tells &&
        std::ranges::any_of(cases, [&](const Result* r) { return r->*field.member != cases[0]->*field.member; }))
      fields.emplace_back(field.key);
  }
  return fmt::format("{}", fmt::join(fields, ", "));
}

void require_one_of_each_model(const UpstreamTable& t, const CsvRow& row, const Matches& cases) {
  std::map<std::string, Matches> of_model;
  for (const Result* result : cases) of_model[result->model].push_back(result);
  for (const auto& [model, same] : of_model) {
    if (same.size() == 1) continue;
    throw ReportError(fmt::format(
        "{}:{}: {} may be any of {} cases, which differ in {} ({}, {}{}): expected a file name that says it, as "
        "inductor_torchbench_float32_inference_cpu_accuracy.csv does, or a run that has only one of them",
        t.table.file, row.line, shortened(printable(t.cell(row, "name")), 60), same.size(), different_fields(same),
        same[0]->name, same[1]->name, same.size() > 2 ? ", …" : ""));
  }
}

}  // namespace

Candidates::Candidates(const UpstreamTable& table, const std::vector<Result>& results) : table_(table) {
  std::map<std::pair<std::string, std::string>, const Result*> last;
  for (const auto& result : results) last[{result.name, result.device}] = &result;
  for (const auto& [key, result] : last) {
    const std::string why = disagreement(table, *result);
    if (!why.empty()) {
      ++refused_[why];
      continue;
    }
    by_own_name_[result->model].push_back(result);
    if (!result->upstream_name.empty()) by_upstream_name_[result->upstream_name].push_back(result);
  }
}

Matches Candidates::of(const CsvRow& row) const {
  Matches cases = named(table_.cell(row, "name"), table_.cell(row, "dev"));
  require_one_of_each_model(table_, row, cases);
  return cases;
}

Matches Candidates::named(const std::string& name, const std::string& device) const {
  for (const auto* names : {&by_own_name_, &by_upstream_name_}) {
    const auto found = names->find(name);
    if (found == names->end()) continue;
    Matches cases = found->second;
    std::erase_if(cases, [&](const Result* r) { return !device.empty() && device_type(r->device) != device; });
    if (!cases.empty()) return cases;
  }
  return {};
}

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
