// What changed since the baseline: a slope for every speed-up, and a row for every change.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/metric.h"
#include "reports/write/html/figures.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/view.h"

namespace torchstone::html {
namespace {

constexpr int figure_width = 860, old_x = 110, new_x = 420, label_step = 13, most_labels = 24;
constexpr size_t label_name = 44;  // what fits right of the numbers

struct Slope {
  const judge::CaseChange* change;
  const judge::MetricChange* speedup;
};

bool notable(const Slope& slope) { return slope.change->change != judge::Change::same || slope.change->status_worse; }

std::vector<Slope> slopes_of(const judge::BaselineComparison& comparison) {
  std::vector<Slope> slopes;
  for (const auto& change : comparison.cases) {
    const auto found = std::ranges::find(change.metrics, "speedup", &judge::MetricChange::metric);
    if (found == change.metrics.end() || !(found->old_value > 0) || !(found->new_value > 0)) continue;
    if (std::isfinite(found->old_value) && std::isfinite(found->new_value)) slopes.push_back({&change, &*found});
  }
  return slopes;
}

/// Labels at the right, from top to bottom, pushed apart to be legible.
std::string labels_of(const std::vector<Slope>& slopes, const Scale& y) {
  std::vector<const Slope*> labelled;
  for (const auto& slope : slopes) {
    if (notable(slope) && labelled.size() < most_labels) labelled.push_back(&slope);
  }
  std::ranges::stable_sort(labelled, {}, [&](const Slope* s) { return y(s->speedup->new_value); });
  std::string out;
  int last = -label_step;
  for (const Slope* slope : labelled) {
    const int at = y(slope->speedup->new_value), place = last = std::max(at, last + label_step);
    out += svg_strokes(svg_line(new_x + 5, at, new_x + 50, place, "gr"));
    out += svg_text(
        new_x + 54, place + 3,
        fmt::format("{} {:.2f}× → {:.2f}× {}", look_of(slope->change->change).symbol, slope->speedup->old_value,
                    slope->speedup->new_value, shortened_middle(short_name(slope->change->name), label_name)),
        "t");
  }
  return out;
}

std::string slope_chart(const std::vector<Slope>& slopes) {
  if (slopes.empty()) return "";
  double low = 1, high = 1;
  for (const auto& [change, speedup] : slopes) {
    low = std::min({low, speedup->old_value, speedup->new_value});
    high = std::max({high, speedup->old_value, speedup->new_value});
  }
  const int labels = std::min<int>(most_labels, static_cast<int>(std::ranges::count_if(slopes, notable)));
  const int height = std::max(260, 60 + label_step * labels);
  const Scale y{low / 1.05, high * 1.05, height - 20, 24, /*logarithmic=*/true};
  std::string strokes, texts = svg_text(old_x, 12, "baseline (old)", "r") + svg_text(new_x, 12, "this run (new)");
  strokes += svg_line(old_x, y(1), new_x, y(1), "rq");
  texts += svg_text(old_x - 70, y(1) + 3, "1× = eager", "rt");
  for (const bool loud : {false, true}) {  // what changed lies on top
    for (const auto& slope : slopes) {
      if (notable(slope) != loud) continue;
      const auto [change, speedup] = slope;
      strokes += fmt::format("<path class={} d=\"M{} {}L{} {}\"><title>{} {:.3f}× → {:.3f}×</title></path>",
                             loud ? look_of(change->change).css_class : "mt", old_x, y(speedup->old_value), new_x,
                             y(speedup->new_value), escaped_cut(short_name(change->name), 120), speedup->old_value,
                             speedup->new_value);
    }
  }
  for (const double value : {low, high}) {
    if (std::abs(y(value) - y(1)) > 12) texts += svg_text(old_x - 8, y(value) + 3, fmt::format("{:.2f}×", value), "r");
  }
  return "<div class=scroll tabindex=0 role=region aria-label=Slopes>" + svg_open(figure_width, height, "\"f slope\"") +
         svg_strokes(strokes) + texts + labels_of(slopes, y) + "</svg></div>";
}

std::string metric_words(const judge::MetricChange& m) {
  const auto* info = find_metric(m.metric);
  std::string text = fmt::format("{} {} → {}", escaped(info == nullptr ? m.metric : info->title),
                                 format_metric(m.metric, m.old_value), format_metric(m.metric, m.new_value));
  if (m.ratio_low != m.ratio_high) text += fmt::format(", ×{:.3f} [{:.3f} {:.3f}]", m.ratio, m.ratio_low, m.ratio_high);
  return text;
}

std::string changes_table(const View& view, const judge::BaselineComparison& comparison) {
  std::map<std::string_view, const CaseView*> present;
  for (const auto& c : view.cases) present.emplace(c.result->name, &c);
  std::string rows;
  for (const auto& change : comparison.cases) {
    const std::string words = change_text(change);
    if (words.empty()) continue;
    const auto found = present.find(change.name);
    const std::string name = escaped_cut(short_name(change.name), 200);
    rows += "\n<tr><th scope=row>" +
            (found == present.end() ? name : fmt::format("<a href=#{}>{}</a>", found->second->id, name)) + "<td>" +
            words + "<td>";
    for (const auto& metric : change.metrics) {
      if (metric.change != judge::Change::same) rows += metric_words(metric) + "<br>";
    }
  }
  if (rows.empty()) return "<p>Nothing changed.</p>";
  return "<div class=scroll tabindex=0 role=region aria-label=Changes><table><thead><tr><th scope=col>Case<th "
         "scope=col>Change<th scope=col>Old → new<tbody>" +
         rows + "\n</table></div>";
}

}  // namespace

std::string baseline_section(const View& view) {
  if (!view.options.comparison) return "";
  const auto& comparison = *view.options.comparison;
  std::map<judge::Change, size_t> counts;
  for (const auto& change : comparison.cases) ++counts[change.change];
  std::string words;
  for (const auto& [change, count] : counts) {
    const Look look = look_of(change);
    words += fmt::format("<li class=\"c {}\"><b>{}</b> <strong>{}</strong> {}", look.css_class, look.symbol, count,
                         to_string(change));
  }
  std::string notes;
  for (const auto& note : comparison.notes) notes += "<p>" + escaped_cut(note, 500);
  const std::string label = view.options.baseline_label;
  return fmt::format("<section id=baseline><h2>Since the baseline{}</h2><ul class=ct>{}</ul>{}{}{}</section>\n",
                     label.empty() ? "" : " <small>" + escaped_cut(label, 200) + "</small>", words, notes,
                     slope_chart(slopes_of(comparison)), changes_table(view, comparison));
}

}  // namespace torchstone::html
