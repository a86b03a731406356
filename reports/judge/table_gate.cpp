#include "reports/judge/table_gate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torchstone/status.h>

#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/statistics/statistics.h"

namespace torchstone::judge {
namespace {

/// A table with an index of its rows by the model's name.
struct Models {
  const CsvTable& table;
  std::map<std::string_view, const CsvRow*> rows{};  ///< null if a model has several rows

  explicit Models(const CsvTable& of) : table(of) {
    const size_t name = table.require_column("name");
    for (const auto& row : table.rows) {
      const auto [place, is_new] = rows.try_emplace(row.cells[name], &row);
      if (!is_new) place->second = nullptr;
    }
  }
};

/// Returns the cell of a model. Returns nothing for an empty cell, an absent column, and no or several rows.
std::optional<std::string> field(const Models& models, const std::string& model, const std::string& column) {
  const auto index = models.table.column(column);
  const auto row = models.rows.find(model);
  if (!index || row == models.rows.end() || row->second == nullptr) return std::nullopt;
  const std::string& cell = row->second->cells[*index];
  return cell.empty() ? std::nullopt : std::optional(cell);
}

std::optional<double> number(const Models& models, const std::string& model, const std::string& column) {
  const auto text = field(models, model, column);
  const auto value = text ? parse_number(*text) : std::nullopt;
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::vector<std::string> names_in(const CsvTable& table) {
  const size_t name = table.require_column("name");
  std::vector<std::string> names;
  for (const auto& row : table.rows) names.push_back(row.cells[name]);
  return names;
}

std::string text_or_nothing(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "nothing";
}

GateRow absent(const std::string& name, const CsvTable& expected, const GateOptions& options) {
  return {name, "ABSENT", fmt::format("expected by {}, missing here", expected.file), !options.allow_absent};
}

/// Makes a difference of a flaky model not red. A missing number stays red.
void pardon(GateRow& row, const GateOptions& options) {
  if ((row.verdict != "FAIL" && row.verdict != "IMPROVED") || !options.flaky.contains(row.name)) return;
  row.red = false;
  row.verdict += "_BUT_FLAKY";
}

/// Calls `judge` for each model of the actual table, then adds the models that only the expected table has.
template <typename Judge>
std::vector<GateRow> against(const CsvTable& actual_table, const CsvTable& expected_table, const std::string& column,
                             const GateOptions& options, Judge judge) {
  actual_table.require_column(column);
  expected_table.require_column(column);
  const Models actual(actual_table), expected(expected_table);
  std::vector<GateRow> rows;
  const auto names = names_in(actual_table);
  for (const auto& name : names) {
    GateRow row = judge(actual, expected, name);
    row.name = name;
    pardon(row, options);
    rows.push_back(std::move(row));
  }
  for (const auto& name : names_in(expected_table))
    if (!actual.rows.contains(name)) rows.push_back(absent(name, expected_table, options));
  return rows;
}

/// Whether the case of the row did not run.
bool is_skipped(const Models& models, const std::string& model) {
  const auto status = parse_status(field(models, model, "accuracy").value_or(""));
  return status && info_of(*status).kind == StatusKind::skipped;
}

struct Tracked {
  const char* column;
  bool lower_is_better;
};
constexpr Tracked tracked[] = {
    {"graph_breaks", true}, {"calls_captured", false}, {"unique_graphs", false}, {"fallbacks_to_eager", true}};

/// The allowed values: no worse than `limit`, and no better than `better` if improvements are red.
struct Limits {
  bool higher_is_better = true, fail_on_improvement = false;
  double limit = 0, better = 0;

  bool worse(double value) const { return higher_is_better ? value < limit : value > limit; }
  bool improved(double value) const {
    return fail_on_improvement && (higher_is_better ? value > better : value < better);
  }
};

Limits target_limits(const SpeedTarget& target) {
  const double multiplied = target.threshold * target.scale, divided = target.threshold / target.scale;
  const double low = std::min(multiplied, divided), high = std::max(multiplied, divided);
  if (target.metric != "speedup") return {false, target.fail_on_improvement, high, low};
  return {true, target.fail_on_improvement, target.fail_on_improvement ? low : multiplied, high};
}

/// Judges a noisy speed-up by its interval, as a run judges its required speed-up. `why`: the reason of the noise.
std::string noisy_verdict(const Limits& limits, const std::string& why, const CsvTable& table, const CsvRow& row) {
  const auto low = parse_number(table.cell(row, tables::SpeedColumns::low)),
             high = parse_number(table.cell(row, tables::SpeedColumns::high));
  if (!limits.higher_is_better || !low || !high || !statistics::is_bounded(*low, *high)) return "NOISY";
  if (limits.worse(*high * (why.starts_with(cache_domain_note_begin) ? max_lost_across_caches : 1))) return "FAIL";
  return limits.worse(*low) || limits.improved(*high) ? "NOISY" : "PASS_BUT_NOISY";
}

}  // namespace

std::vector<GateRow> gate_accuracy(const CsvTable& actual, const CsvTable& expected, const GateOptions& options) {
  return against(actual, expected, "accuracy", options,
                 [&](const Models& is_there, const Models& wanted, const std::string& name) -> GateRow {
                   const auto is = field(is_there, name, "accuracy"), should = field(wanted, name, "accuracy");
                   const std::string detail =
                       fmt::format("accuracy={}, expected={}", is.value_or("nothing"), should.value_or("nothing"));
                   if (!is) return {"", "MISSING_ACCURACY", detail, true};
                   if (!should) return {"", "MISSING_EXPECTED", detail, true};
                   if (*is == *should && *is == "pass") return {"", "PASS", "", false};
                   if (*is == *should) return {"", "XFAIL", detail, false};
                   return {"", *is == "pass" ? "IMPROVED" : "FAIL", detail, true};
                 });
}

std::vector<GateRow> gate_graph_breaks(const CsvTable& actual, const CsvTable& expected, const GateOptions& options) {
  return against(
      actual, expected, "graph_breaks", options,
      [&](const Models& is_there, const Models& wanted, const std::string& name) -> GateRow {
        if (!field(wanted, name, "graph_breaks")) return {"", "MISSING", "graph_breaks: nothing expected", true};
        if (number(is_there, name, "unique_graphs").value_or(0) == 0) {
          if (is_skipped(is_there, name) && number(wanted, name, "unique_graphs").value_or(0) > 0)
            return {"", "ABSENT",
                    fmt::format("{}, where {} has compiled graphs", *field(is_there, name, "accuracy"), expected.file),
                    !options.allow_absent};
          return {"", "EAGER_FAILED", "not compiled", false};
        }
        std::vector<std::string> details;
        bool worse = false;
        for (const auto& [column, lower_is_better] : tracked) {
          const auto is = number(is_there, name, column), should = number(wanted, name, column);
          if (!is || !should || *is == *should) continue;
          worse = worse || (*is > *should) == lower_is_better;
          details.push_back(fmt::format("{}={}, expected={}", column, text_or_nothing(is), text_or_nothing(should)));
        }
        if (details.empty()) return {"", "PASS", "", false};
        return {"", worse ? "FAIL" : "IMPROVED", fmt::format("{}", fmt::join(details, "; ")), true};
      });
}

std::vector<GateRow> absent_models(const CsvTable& expected, const GateOptions& options) {
  std::vector<GateRow> rows;
  for (const auto& name : names_in(expected)) rows.push_back(absent(name, expected, options));
  return rows;
}

std::vector<GateRow> gate_memory(const CsvTable& actual, const CsvTable& expected, const GateOptions& options) {
  return against(actual, expected, "compression_ratio", options,
                 [&](const Models& is_there, const Models& wanted, const std::string& name) -> GateRow {
                   const auto is = number(is_there, name, "compression_ratio"),
                              should = number(wanted, name, "compression_ratio");
                   const bool unmeasured = is && *is <= 0;  // the row of a run that crashed has zeros
                   if (!should || (*should <= 0 && !unmeasured)) return {"", "MISSING_EXPECTED", "not judged", false};
                   const std::string detail =
                       fmt::format("compression_ratio={}, expected={}", text_or_nothing(is), text_or_nothing(should));
                   if (!is) return {"", "MISSING_ACTUAL", detail, true};
                   if (unmeasured) return {"", "NOT_MEASURED", detail, true};
                   const double least = options.part * *should;
                   return {"", *is >= least ? "PASS" : "FAIL", detail, *is < least};
                 });
}

int gate_exit_code(const std::vector<GateRow>& rows) {
  if (std::ranges::any_of(rows, &GateRow::red)) return ExitCode::gate_failed;
  const auto judged = [](const GateRow& row) {
    return row.verdict != "EAGER_FAILED" && row.verdict != "MISSING_EXPECTED" && row.verdict != "ABSENT" &&
           row.verdict != "NOISY";
  };
  return std::ranges::any_of(rows, judged) ? ExitCode::success : ExitCode::nothing_judged;
}

std::string gate_text(const std::vector<GateRow>& rows) {
  size_t widest = 0;
  std::map<std::string, size_t> counts;
  for (const auto& row : rows) {
    widest = std::max(widest, columns(terminal_line(row.name)));
    ++counts[row.verdict];
  }
  std::string text;
  for (const auto& row : rows) {
    const std::string name = terminal_line(row.name);
    std::string line = fmt::format("{} {}{}  {}",
                                   row.red                          ? '!'
                                   : row.verdict.ends_with("NOISY") ? '~'
                                                                    : ' ',
                                   name, std::string(widest - columns(name), ' '), row.verdict);
    if (!row.detail.empty()) line += ": " + terminal_line(row.detail);
    text += line + "\n";
  }
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : counts) parts.push_back(fmt::format("{} {}", count, verdict));
  const int code = gate_exit_code(rows);
  return text + fmt::format("{}: {}\n",
                            code == ExitCode::success       ? "green"
                            : code == ExitCode::gate_failed ? "red"
                                                            : "nothing judged",
                            parts.empty() ? "no rows" : fmt::format("{}", fmt::join(parts, ", ")));
}

std::vector<GateRow> gate_speed(const CsvTable& actual, const SpeedTarget& target, const GateOptions& options) {
  const size_t column = actual.require_column(target.metric), name = actual.require_column("name");
  const Limits limits = target_limits(target);
  std::vector<GateRow> rows;
  for (const auto& cells : actual.rows) {
    GateRow row{cells.cells[name], "PASS", "", false};
    const auto value = parse_number(cells.cells[column]);
    if (!value || !std::isfinite(*value) || *value <= 0) {
      row.verdict = "NOT_MEASURED";
      row.detail = fmt::format("{}={}", target.metric, cells.cells[column].empty() ? "nothing" : cells.cells[column]);
    } else {
      const bool worse = limits.worse(*value), improved = limits.improved(*value);
      if (worse || improved) row.verdict = worse ? "FAIL" : "IMPROVED";
      row.detail = fmt::format("{}={}, limit={:.6g}", target.metric, cells.cells[column],
                               improved ? limits.better : limits.limit);
      if (const std::string why = actual.cell(cells, tables::SpeedColumns::noisy); !why.empty()) {
        row.verdict = noisy_verdict(limits, why, actual, cells);
        row.detail += "; noisy: " + why;
      }
    }
    row.red = row.verdict != "PASS" && !row.verdict.ends_with("NOISY");
    pardon(row, options);
    if (const auto ratio = parse_number(actual.cell(cells, "compression_ratio"));
        limits.higher_is_better && ratio && *ratio > 0)
      row.detail += fmt::format(", memory={:.2f}x of eager's", 1 / *ratio);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace torchstone::judge
