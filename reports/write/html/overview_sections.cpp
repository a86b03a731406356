// The head of the page, and the changes since the baseline: a slope for every speed-up, a row for every change.

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/judge/baseline_report.h"
#include "reports/record/doubts.h"
#include "reports/record/own_model.h"
#include "reports/record/summary.h"
#include "reports/record/verdict.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/view.h"

namespace torchstone::html {
namespace {

constexpr int figure_width = 860, old_x = 110, new_x = 420, label_step = 13, most_labels = 24;
constexpr size_t label_name = 44;  // fits right of the numbers

struct Headline {
  Look look;
  std::string text;
};

/// Returns the headline for the user's own models without expectations: "… did not pass" instead of "not as expected".
/// `others`: number of failed cases; `open`: number of noisy or undecided cases.
std::string own_words(const View& view, size_t others, size_t open) {
  const std::string model = escaped_cut(model_names(view.report.results), 200) + ": ",
                    total = counted(view.cases.size(), "case");
  if (others > 0) return fmt::format("{}{} of {} did not pass", model, others, total);
  if (open > 0) return fmt::format("{}{} of {} {}", model, open, total, open_words(view));
  const auto skipped = static_cast<size_t>(std::ranges::count_if(view.report.results, is_skipped));
  if (skipped > 0)
    return fmt::format("{}{} of {} passed, {} left out", model, view.cases.size() - skipped, total, skipped);
  return model + (view.cases.size() == 1 ? "the case passed" : fmt::format("all {} passed", total));
}

Headline headline_of(const View& view) {
  const auto bad = [](std::string text) { return Headline{{"✗", "bad"}, std::move(text)}; };
  const auto total = view.cases.size();
  const auto fine = static_cast<size_t>(std::ranges::count_if(view.report.results, is_fine));
  const auto open = std::ranges::count_if(view.cases, [](const auto& c) { return c.verdict.mark == '~'; });
  const int code = exit_code_of(view.report);
  if (total == 0) return bad("No results");
  const bool own = is_own_without_expectations(view.report.results);
  if (const auto others = total - fine; others > 0)
    return bad(
        own ? own_words(view, others, 0)
            : fmt::format("{} of {} {} not as expected", others, counted(total, "case"), others == 1 ? "is" : "are"));
  const auto& comparison = view.options.comparison;
  const std::string refusal = comparison ? capitalised(judge::refusal_words(*comparison)) : "";
  if (comparison && judge::exit_code_of(*comparison, {}) == ExitCode::nothing_judged) return bad(refusal);
  if (const size_t worse = comparison ? judge::count_worse(*comparison) : 0; worse > 0)
    return bad(fmt::format("{} worse than the baseline", counted(worse, "case")));
  if (const size_t others = comparison ? judge::count_other_models(*comparison) : 0; others > 0)
    return bad(fmt::format("{} not the baseline's model", counted(others, "case")));
  if (std::ranges::all_of(view.report.results, is_skipped))
    return {{"–", "off"}, fmt::format("Nothing was judged: all {} were left out", counted(total, "case"))};
  if (code == ExitCode::interrupted) return bad("Interrupted");
  if (code != ExitCode::success)
    return bad(fmt::format("Exit code {}: {}", code, escaped_cut(first_line(exit_words_of(view.report)), 300)));
  if (!refusal.empty()) return bad(refusal);
  if (open > 0)
    return {{"~", "odd"},
            own ? own_words(view, 0, static_cast<size_t>(open))
                : fmt::format("As expected, but {} of {} {}", open, counted(total, "case"), open_words(view))};
  if (own) return {{"✓", "ok"}, own_words(view, 0, 0)};
  return {{"✓", "ok"},
          total == 1 ? "The case is as expected" : fmt::format("All {} as expected", counted(total, "case"))};
}

/// Returns counts as a bar and as text, by which the script filters the table.
std::string counts(const View& view) {
  struct Group {
    std::string status;
    Look look;
    std::string qualifier;  ///< of the first case; if cases differ, "not as expected" for a red group, else empty
    size_t count = 0;
  };
  std::vector<Group> groups;
  for (const auto& c : view.cases) {
    const std::string status = c.result->finished ? std::string(to_string(c.result->outcome.status)) : "crash";
    const Look look = look_of(c.verdict);
    const auto found = std::ranges::find_if(
        groups, [&](const Group& g) { return g.status == status && g.look.css_class == look.css_class; });
    const std::string qualifier = qualifier_of(c);
    if (found == groups.end()) {
      groups.push_back({status, look, qualifier, 1});
      continue;
    }
    ++found->count;
    if (found->qualifier != qualifier) found->qualifier = look.css_class == "bad" ? ", not as expected" : "";
  }
  const auto rank = [](const Group& g) { return std::string_view("bad odd ok off").find(g.look.css_class); };
  std::ranges::stable_sort(groups, [&](const Group& a, const Group& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.count > b.count;
  });
  std::string bar =
      "<svg class=cb viewBox=\"0 0 1000 8\" width=1000 height=8 preserveAspectRatio=none aria-hidden=true>";
  std::string words;
  double done = 0;
  const auto total = static_cast<double>(view.cases.size());
  for (const auto& group : groups) {
    const double width = 1000 * static_cast<double>(group.count) / total;
    bar += fmt::format("<rect class={} x={:.0f} width={:.0f} height=8 />", group.look.css_class, done,
                       std::max(1.0, width - 2));
    done += width;
    words += fmt::format("<li class=\"c {0}\" data-s={1}><b>{2}</b> <strong>{3}</strong> {1}{4}", group.look.css_class,
                         group.status, group.look.symbol, group.count, group.qualifier);
  }
  return fmt::format("{}</svg><ul class=ct>{}</ul>", bar, words);
}

/// Returns a sentence for each backend and mode of a model of one's own.
std::string sentences(const View& view) {
  std::string items;
  for (const auto& [text, mark] : own_model_sentences(view.report.results)) {
    const Look look = look_of(Verdict{"", mark});
    items += fmt::format("\n<li class={}><b aria-hidden=true>{}</b> {}", look.css_class, look.symbol,
                         escaped_cut(text, 2000));
  }
  return "<ul class=own>" + items + "</ul>";
}

std::string fact(std::string_view title, const std::string& value, const std::string& remark) {
  return fmt::format("<div><dt>{}<dd><strong>{}</strong>{}</div>", title, value,
                     remark.empty() ? "" : fmt::format(" <small>{}</small>", remark));
}

std::string speed_on(const View& view, const std::string& machine) {
  const Geomean geomean = geomean_of(view.report.results, machine);
  const std::string on = escaped_cut(on_machine(machine), 300);
  const std::string reasons = escaped(excluded_text(geomean));
  const std::string excluded = reasons.empty() ? "nothing left out" : "left out: " + reasons;
  if (geomean.n == 0) return reasons.empty() ? "" : fact("Speed-up" + on, "not measured", excluded);
  const std::string interval = fmt::format("[{:.3f} {:.3f}]", geomean.low, geomean.high);
  const std::string noisy = geomean.noisy == 0 ? "" : fmt::format(", {} of them noisy", geomean.noisy);
  return fact("Speed-up, geometric mean" + on, fmt::format("{:.3f}×", geomean.value),
              fmt::format("{} over {}{}; {}", interval, counted(geomean.n, "case"), noisy, excluded));
}

std::string speed(const View& view) {
  std::string facts;
  for (const auto& machine : machines_of_timings(view.report.results)) facts += speed_on(view, machine);
  return facts;
}

/// Returns the detection limit of the passes, and the weak passes.
std::string detection(const View& view) {
  const Detection found = detection_of(view.report.results);
  if (found.n == 0) return "";
  const std::string weak = weak_words(found);
  return fact("Detection limit, median", limit_text(found.median),
              escaped_cut(detection_words(found) + (weak.empty() ? "" : "; " + weak), 1000));
}

/// Returns the run's own comparison, which is shown if the page has no comparison of its own.
std::string against_baseline(const View& view) {
  const auto& baseline = view.report.run.baseline;
  if (!baseline) return "";
  std::string remarks = escaped_cut(baseline->path, 300);
  for (const auto& remark : baseline->remarks) remarks += "; " + escaped_cut(remark, 500);
  if (!baseline->again.empty()) remarks += fmt::format("; again: <code>{}</code>", escaped_cut(baseline->again, 1000));
  return fact("Against the baseline", escaped_cut(baseline->summary, 300), remarks);
}

std::string since_baseline(const View& view) {
  if (!view.options.comparison) return against_baseline(view);
  size_t broken = 0, slower = 0, faster = 0, gone = 0;
  for (const auto& change : view.options.comparison->cases) {
    broken += change.change == judge::Change::broken;
    slower += change.change == judge::Change::slower;
    faster += change.change == judge::Change::faster;
    gone += change.lost;
  }
  const size_t others = judge::count_other_models(*view.options.comparison);
  const size_t excluded = view.options.comparison->timings_excluded;
  return fact("Since the baseline",
              fmt::format("{} broken, {} slower{}{}", broken, slower, gone == 0 ? "" : fmt::format(", {} gone", gone),
                          others == 0 ? "" : fmt::format(", {} of another model", others)),
              fmt::format("{} faster{}", faster,
                          excluded == 0 ? "" : fmt::format("; {} not compared", counted(excluded, "timing"))));
}

std::string ended(const View& view) {
  const int code = exit_code_of(view.report);
  const auto& reason = view.report.run.exit_reason;
  return fact("Ended", reason.empty() ? "killed, or still running" : escaped_cut(reason, 200),
              fmt::format("exit code {}: {}", code, escaped_cut(exit_words_of(view.report), 500)));
}

std::string ribbon(const View& view) {
  if (!view.options.comparison) return "";
  const judge::BaselineComparison& comparison = *view.options.comparison;
  std::string text;
  if (const std::string torch = judge::torch_words(comparison); !torch.empty())
    text += fmt::format("<aside class=ribbon role=note><b>⚠ {}.</b></aside>", escaped_cut(torch, 500));
  if (comparison.machine_differences.empty()) return text;
  std::string items;
  for (const auto& difference : comparison.machine_differences) items += "<li>" + escaped_cut(difference, 500);
  return text +
         "<aside class=ribbon role=note><b>⚠ The baseline is of another machine: timings are not comparable.</b><ul>" +
         items + "</ul></aside>";
}

struct Slope {
  const judge::CaseChange* change;
  const judge::MetricChange* speedup;
};

bool notable(const Slope& slope) { return slope.change->change != judge::Change::same; }

std::vector<Slope> slopes_of(const judge::BaselineComparison& comparison) {
  std::vector<Slope> slopes;
  for (const auto& change : comparison.cases) {
    const auto found = std::ranges::find(change.metrics, "speedup", &judge::MetricChange::metric);
    if (found == change.metrics.end() || !(found->old_value > 0) || !(found->new_value > 0)) continue;
    if (std::isfinite(found->old_value) && std::isfinite(found->new_value)) slopes.push_back({&change, &*found});
  }
  return slopes;
}

/// Draws labels at the right, from top to bottom, with enough distance to be legible.
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
  for (const bool loud : {false, true}) {  // changes are drawn on top
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

std::string metric_text(const judge::MetricChange& m) {
  std::string text = escaped(judge::values_words(m));
  if (m.ratio_low != m.ratio_high) text += fmt::format(", ×{:.3f} [{:.3f} {:.3f}]", m.ratio, m.ratio_low, m.ratio_high);
  if (m.at_least) text += fmt::format(" <b>{}</b>", judge::change_words(m));
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
      if (metric.change != judge::Change::same) rows += metric_text(metric) + "<br>";
    }
  }
  if (rows.empty()) return "<p>Nothing changed.</p>";
  return "<div class=scroll tabindex=0 role=region aria-label=Changes><table><thead><tr><th scope=col>Case<th "
         "scope=col>Change<th scope=col>Old → new<tbody>" +
         rows + "\n</table></div>";
}

}  // namespace

std::string_view open_words(const View& view) {
  const auto any = [&](const char* word) {
    return std::ranges::any_of(view.cases, [&](const auto& c) { return c.verdict.word == word; });
  };
  return !any("NOISY") ? "undecided" : any("UNSURE") ? "undecided or noisy" : "noisy";
}

std::string banner(const View& view) {
  const auto& run = view.report.run;
  const auto [look, text] = headline_of(view);
  std::string out =
      fmt::format("<header class={}><p class=brand>Torchstone</p><h1><span aria-hidden=true>{}</span> {}</h1>",
                  look.css_class, look.symbol, text);
  if (!view.cases.empty()) out += counts(view);
  const bool own = are_of_own_model(view.report.results);
  if (own) out += sentences(view);
  out += "<dl class=facts>" + since_baseline(view);
  if (!own) out += speed(view) + detection(view);
  out += fact("Duration", run.duration_s > 0 ? duration_text(run.duration_s) : "unknown",
              run.started.empty() ? "" : "started " + escaped_cut(run.started, 60));
  return out + ended(view) + "</dl></header>" + ribbon(view);
}

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
