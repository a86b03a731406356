// The table of all cases. Empty columns are left out; columns with one value throughout become a line.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/view.h"

namespace torchstone::html {

namespace {

/// The points of a history by case and device, in the order of the history. Keeps pointers into it.
using HistoryByCase = std::map<std::pair<std::string, std::string>, std::vector<const judge::HistoryPoint*>>;

HistoryByCase history_by_case(const std::vector<judge::HistoryPoint>& history) {
  HistoryByCase cases;
  for (const auto& point : history) cases[{point.name, point.device}].push_back(&point);
  return cases;
}

/// Returns the speed-up of a case over the runs of a history on one machine class, with its change point, as a
/// sparkline and text. Empty with fewer than two runs.
std::string trend_of(const HistoryByCase& history, const Result& result) {
  const auto of_case = history.find({result.name, result.device});
  if (of_case == history.end()) return "";
  const auto speedup_of = [](const judge::HistoryPoint& point) {
    const auto speedup = point.metrics.find("speedup");
    return speedup == point.metrics.end() || point.noisy ? NAN : speedup->second;
  };
  std::vector<double> series;
  std::vector<std::string> runs;
  const std::string* machine = nullptr;  // of the newest run; levels on other machines differ
  for (const judge::HistoryPoint* point : of_case->second)
    if (std::isfinite(speedup_of(*point))) machine = &point->machine;
  for (const judge::HistoryPoint* point : of_case->second) {
    if (!std::isfinite(speedup_of(*point)) || point->machine != *machine) continue;
    series.push_back(speedup_of(*point));
    runs.push_back(point->started);
  }
  if (series.size() < 2) return "";
  const auto step = judge::newest_change_point(series);
  if (!step) return sparkline(series, step);
  const double percent = (step->after / step->before - 1) * 100;
  return fmt::format("{} <small title=\"{:.3f}× before, {:.3f}× since the run of {}\">{} {:+.0f} %</small>",
                     sparkline(series, step), step->before, step->after, escaped_cut(runs[step->index], 60),
                     percent < 0 ? "▼" : "▲", percent);
}

struct Cell {
  std::string markup;
  std::optional<double> number = std::nullopt;  ///< sorts the column; cells without one are sorted by their text
};

struct Column {
  std::string_view key, title, css_class;
  std::function<Cell(const CaseView&)> cell;
  bool droppable = false;  ///< a fact of the case, which is shown once if all cases share it
};

Cell metric_cell(const CaseView& c, const char* key) {
  const auto value = metric_of(*c.result, key);
  if (is_unknown(*c.result, key)) return {"unknown"};
  return value ? Cell{format_metric(key, *value), value} : Cell{};
}

Cell error_cell(const CaseView& c) {
  const auto error = metric_of(*c.result, "error_of_limit");
  if (!error) return {};
  const std::string text = *error > 0 && *error < 1e-3 ? "&lt;0.001" : fmt::format("{:.2g}", *error);
  return {fmt::format("{}×{}", text, error_bar(*error)), error};
}

Cell rounding_cell(const CaseView& c) {
  const auto times = metric_of(*c.result, "rounding_times");
  return times ? Cell{fmt::format("{:.2g}×", *times), times} : Cell{};
}

Cell limit_cell(const CaseView& c) {
  const auto limit = pass_limit(*c.result);
  if (!limit) return {};
  return {limit_text(limit->value) + (is_weak(*c.result) ? " <b>weak</b>" : ""), limit->value};
}

Cell speedup_cell(const CaseView& c) {
  const auto speedup = metric_of(*c.result, "speedup");
  if (!speedup) return {};
  // The speed-up of wrong answers is struck out.
  const Status status = c.result->outcome.status;
  const bool counts = info_of(status).passing || is_beyond_a_limit(status);
  const bool is_known = !is_unknown(*c.result, "speedup");
  const std::string text = is_known ? format_metric("speedup", *speedup) : speedup_text(*c.result, 3);
  return {counts ? text : "<s>" + text + "</s>", is_known ? speedup : std::nullopt};
}

Cell interval_cell(const CaseView& c) {
  const auto low = metric_of(*c.result, "speedup_low"), high = metric_of(*c.result, "speedup_high");
  if (!low || !high) return {};
  const std::string noisy = noisy_reason(*c.result);
  const std::string mark = noisy.empty() ? "" : fmt::format(" <b title=\"{}\">noisy</b>", escaped_cut(noisy, 300));
  if (is_unknown(*c.result, "speedup")) return {mark};
  return {fmt::format("{}<small>{:.3f}–{:.3f}</small>{}", interval_bar(*c.result), *low, *high, mark), low};
}

Cell change_cell(const CaseView& c) {
  if (c.change == nullptr) return {};
  const auto speedup = std::ranges::find(c.change->metrics, "speedup", &judge::MetricChange::metric);
  const auto number = speedup == c.change->metrics.end() ? std::nullopt : std::optional((speedup->ratio - 1) * 100);
  const std::string text = change_text(*c.change);
  if (!text.empty()) return {text, number};
  return {number ? fmt::format("= {:+.1f} %", *number) : "=", number};
}

Cell text_cell(const std::string& text) { return {text.empty() ? "" : escaped_cut(text, 120)}; }

std::vector<Column> columns(const View& view) {
  const auto fact = [](std::string_view key, std::string_view title, std::string Result::*member) {
    return Column{key, title, "", [member](const CaseView& c) { return text_cell(c.result->*member); }, true};
  };
  const auto number = [](const char* key, std::string_view title) {
    return Column{key, title, "n", [key](const CaseView& c) { return metric_cell(c, key); }};
  };
  return {
      fact("suite", "Suite", &Result::suite),
      fact("check", "Check", &Result::check),
      fact("mode", "Mode", &Result::mode),
      fact("dtype", "Dtype", &Result::dtype),
      fact("backend", "Backend", &Result::backend),
      fact("device", "Device", &Result::device),
      fact("preset", "Preset", &Result::preset),
      {"dynamic", "Dynamic", "",
       [](const CaseView& c) { return text_cell(c.result->dynamic == "off" ? "" : c.result->dynamic); }, true},
      {"error", "Error / limit", "n", error_cell},
      {"rounding", "Error / rounding", "n", rounding_cell},
      {"limit", "Detection limit", "n", limit_cell},
      number("tolerance_max", "Rel. diff."),
      {"speedup", "Speed-up", "n", speedup_cell},
      {"interval", "Interval", "iv", interval_cell},
      number("eager_ms", "Eager"),
      number("compiled_ms", "Compiled"),
      {"compile_s", "Compile", "n",
       [](const CaseView& c) {
         return Cell{compile_text(*c.result), metric_of(*c.result, "compile_s")};
       }},
      number("peak_ratio", "Peak memory <small>eager ÷ compiled, without weights</small>"),
      {"change", "Change", "", change_cell},
      {"trend", "Trend", "",
       [history = history_by_case(view.options.history)](const CaseView& c) {
         return Cell{trend_of(history, *c.result)};
       }},
  };
}

std::string markup_of(const Column& column, const Cell& cell) {
  if (cell.markup.empty()) return "<td>";
  std::string out = column.css_class.empty() ? "<td" : fmt::format("<td class={}", column.css_class);
  if (cell.number) out += fmt::format(" data-v={:.6g}", *cell.number);
  return out + ">" + cell.markup;
}

std::string head(std::string_view key, std::string_view title, std::string_view css_class) {
  return fmt::format("<th scope=col data-k={}{}>{}", key, css_class.empty() ? "" : fmt::format(" class={}", css_class),
                     title);
}

/// The controls of the script, which shows them.
constexpr std::string_view tools =
    "<div class=tools hidden><label>Filter <input id=filter type=search spellcheck=false autocomplete=off "
    "placeholder=\"resnet   or   *resnet*:*bert*-*bfloat16*\"></label>"
    "<button type=button id=copy-filter>Copy as --gtest_filter</button><button type=button id=reset>Reset</button>"
    "<output id=shown></output></div>\n";

/// Returns indices of the cases in the order of the table's rows. Cases that rounding judged come first, sorted by how
/// far their error exceeds what rounding explains.
std::vector<size_t> rows_by_rounding(const std::vector<CaseView>& cases) {
  std::vector<size_t> places(cases.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::stable_sort(places, std::ranges::greater(), [&](size_t place) {
    const double times = metric_of(*cases[place].result, "rounding_times").value_or(-1);
    return std::isnan(times) ? INFINITY : times;
  });
  return places;
}

}  // namespace

std::string cases_section(const View& view) {
  if (view.cases.empty()) return "";
  std::vector<Column> kept;
  std::vector<std::vector<Cell>> cells;  // column by column
  std::vector<std::string> common;
  for (auto& column : columns(view)) {
    std::vector<Cell> of_column;
    for (const auto& c : view.cases) of_column.push_back(column.cell(c));
    const bool empty = std::ranges::all_of(of_column, [](const Cell& cell) { return cell.markup.empty(); });
    const bool same =
        column.droppable && view.cases.size() > 1 &&
        std::ranges::all_of(of_column, [&](const Cell& cell) { return cell.markup == of_column[0].markup; });
    if (same && !empty) common.push_back(fmt::format("{} <b>{}</b>", column.key, of_column[0].markup));
    if (empty || same) continue;
    kept.push_back(std::move(column));
    cells.push_back(std::move(of_column));
  }
  std::string out = fmt::format("<section id=cases><h2>Cases <small>{}</small></h2>\n", view.cases.size());
  if (!common.empty()) out += fmt::format("<p class=mu>All of them: {}</p>\n", fmt::join(common, ", "));
  if (std::ranges::find(kept, "rounding", &Column::key) != kept.end())
    out += "<p class=mu>In the order of error / rounding, the largest first</p>\n";
  out += std::string(tools) +
         "<div class=scroll tabindex=0 role=region aria-label=\"All cases\"><table id=table><thead><tr>";
  out += head("model", "Model", "") + head("status", "Status", "");
  for (const auto& column : kept) out += head(column.key, column.title, column.css_class);
  out += "<tbody>";
  for (const size_t i : rows_by_rounding(view.cases)) {
    const auto& c = view.cases[i];
    const std::string model = c.result->model.empty() ? short_name(c.result->name) : c.result->model;
    out += fmt::format("\n<tr><th scope=row title=\"{}\"><a href=#{}>{}</a><td>{}", escaped_cut(c.result->name, 500),
                       c.id, escaped_cut(model, 120), chip(c));
    for (size_t j = 0; j < kept.size(); ++j) out += markup_of(kept[j], cells[j][i]);
  }
  return out + "\n</table></div></section>\n";
}

}  // namespace torchstone::html
