// What needs somebody: broken or slower since the baseline, not as expected, undecided.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/judge/baseline_report.h"
#include "reports/record/doubts.h"
#include "reports/record/summary.h"
#include "reports/record/verdict.h"
#include "reports/statistics/statistics.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/view.h"

namespace torchstone::html {
namespace {

struct Headline {
  Look look;
  std::string text;
};

std::string_view open_words(const View& view) {
  const auto any = [&](const char* word) {
    return std::ranges::any_of(view.cases, [&](const auto& c) { return c.verdict.word == word; });
  };
  return !any("NOISY") ? "undecided" : any("UNSURE") ? "undecided or noisy" : "noisy";
}

Headline headline_of(const View& view) {
  const auto total = view.cases.size();
  const auto fine = static_cast<size_t>(std::ranges::count_if(view.report.results, is_fine));
  const auto open =
      static_cast<size_t>(std::ranges::count_if(view.cases, [](const auto& c) { return c.verdict.mark == '~'; }));
  const int code = exit_code_of(view.report);
  if (total == 0) return {{"✗", "bad"}, "No results"};
  if (fine < total) {
    const auto others = total - fine;
    return {{"✗", "bad"},
            fmt::format("{} of {} {} not as expected", others, counted(total, "case"), others == 1 ? "is" : "are")};
  }
  const auto& comparison = view.options.comparison;
  const std::string refusal = comparison ? judge::refusal_words(*comparison) : "";
  const Headline refused = {{"✗", "bad"}, capitalised(refusal)};
  if (comparison && judge::exit_code_of(*comparison, {}) == ExitCode::nothing_judged) return refused;
  if (const size_t worse = comparison ? judge::count_worse(*comparison) : 0; worse > 0)
    return {{"✗", "bad"}, fmt::format("{} worse than the baseline", counted(worse, "case"))};
  if (const size_t others = comparison ? judge::count_other_models(*comparison) : 0; others > 0)
    return {{"✗", "bad"}, fmt::format("{} not the baseline's model", counted(others, "case"))};
  if (std::ranges::all_of(view.report.results, is_left_out))
    return {{"–", "off"}, fmt::format("Nothing was judged: all {} were left out", counted(total, "case"))};
  if (code == ExitCode::interrupted) return {{"✗", "bad"}, "Interrupted"};
  if (code != ExitCode::success)
    return {{"✗", "bad"},
            fmt::format("Exit code {}: {}", code, escaped_cut(first_line(exit_words_of(view.report)), 300))};
  if (!refusal.empty()) return refused;
  if (open > 0)
    return {{"~", "odd"}, fmt::format("As expected, but {} of {} {}", open, counted(total, "case"), open_words(view))};
  return {{"✓", "ok"},
          total == 1 ? "The case is as expected" : fmt::format("All {} as expected", counted(total, "case"))};
}

/// Counts as a bar and as words; the words filter the table when scripts run.
std::string counts(const View& view) {
  struct Group {
    std::string status;
    Look look;
    size_t count = 0;
  };
  std::vector<Group> groups;
  for (const auto& c : view.cases) {
    const std::string status = c.result->finished ? std::string(to_string(c.result->outcome.status)) : "crash";
    const Look look = look_of(c.verdict);
    const auto found = std::ranges::find_if(
        groups, [&](const Group& g) { return g.status == status && g.look.css_class == look.css_class; });
    if (found == groups.end())
      groups.push_back({status, look, 1});
    else
      ++found->count;
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
    words += fmt::format("<li class=\"c {0}\" data-s={1}><b>{2}</b> <strong>{3}</strong> {1}", group.look.css_class,
                         group.status, group.look.symbol, group.count);
  }
  return fmt::format("{}</svg><ul class=ct>{}</ul>", bar, words);
}

std::string fact(std::string_view title, const std::string& value, const std::string& remark) {
  return fmt::format("<div><dt>{}<dd><strong>{}</strong>{}</div>", title, value,
                     remark.empty() ? "" : fmt::format(" <small>{}</small>", remark));
}

std::string speed(const View& view) {
  const Geomean geomean = geomean_of(view.report.results);
  std::vector<std::string> left_out;
  for (const auto& [reason, count] : geomean.left_out) left_out.push_back(fmt::format("{} {}", count, escaped(reason)));
  const std::string excluded =
      left_out.empty() ? "nothing left out" : fmt::format("left out: {}", fmt::join(left_out, ", "));
  if (geomean.n == 0) return left_out.empty() ? "" : fact("Speed-up", "not measured", excluded);
  const std::string interval = statistics::is_bounded(geomean.low, geomean.high)
                                   ? fmt::format("[{:.3f} {:.3f}]", geomean.low, geomean.high)
                                   : "no interval: a case had too few rounds";
  const std::string noisy = geomean.noisy == 0 ? "" : fmt::format(", {} of them noisy", geomean.noisy);
  return fact("Speed-up, geometric mean", fmt::format("{:.3f}×", geomean.value),
              fmt::format("{} over {}{}; {}", interval, counted(geomean.n, "case"), noisy, excluded));
}

/// What the passes prove, and those that prove little.
std::string detection(const View& view) {
  const Detection found = detection_of(view.report.results);
  if (found.n == 0) return "";
  const std::string weak = weak_words(found);
  return fact("Detection limit, median", limit_text(found.median),
              escaped_cut(detection_words(found) + (weak.empty() ? "" : "; " + weak), 1000));
}

/// What the run itself compared with; a comparison that the page was asked for goes before.
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
    broken += change.status_worse;
    slower += !change.status_worse && change.change == judge::Change::slower;
    faster += change.change == judge::Change::faster;
    gone += change.lost;
  }
  const size_t others = judge::count_other_models(*view.options.comparison);
  const size_t left_out = view.options.comparison->timings_left_out;
  return fact("Since the baseline",
              fmt::format("{} broken, {} slower{}{}", broken, slower, gone == 0 ? "" : fmt::format(", {} gone", gone),
                          others == 0 ? "" : fmt::format(", {} of another model", others)),
              fmt::format("{} faster{}", faster,
                          left_out == 0 ? "" : fmt::format("; {} not compared", counted(left_out, "timing"))));
}

std::string ended(const View& view) {
  const int code = exit_code_of(view.report);
  const auto& reason = view.report.run.exit_reason;
  return fact("Ended", reason.empty() ? "killed, or still running" : escaped_cut(reason, 200),
              fmt::format("exit code {}: {}", code, escaped_cut(exit_words_of(view.report), 500)));
}

std::string ribbon(const View& view) {
  if (!view.options.comparison || view.options.comparison->machine_differences.empty()) return "";
  std::string items;
  for (const auto& difference : view.options.comparison->machine_differences) {
    items += "<li>" + escaped_cut(difference, 500);
  }
  return "<aside class=ribbon role=note><b>⚠ The baseline is of another machine: timings are not comparable.</b><ul>" +
         items + "</ul></aside>";
}

}  // namespace

std::string banner(const View& view) {
  const auto& run = view.report.run;
  const auto [look, text] = headline_of(view);
  std::string out =
      fmt::format("<header class={}><p class=brand>Torchstone</p><h1><span aria-hidden=true>{}</span> {}</h1>",
                  look.css_class, look.symbol, text);
  if (!view.cases.empty()) out += counts(view);
  out += "<dl class=facts>" + since_baseline(view) + speed(view) + detection(view);
  out += fact("Duration", run.duration_s > 0 ? duration_text(run.duration_s) : "unknown",
              run.started.empty() ? "" : "started " + escaped_cut(run.started, 60));
  return out + ended(view) + "</dl></header>" + ribbon(view);
}

namespace {

constexpr size_t opened = 12;  ///< the rest is a line each until it is asked for

std::string article(const View& view, const CaseView& c, bool open) {
  const Result& r = *c.result;
  const std::string numbers = numbers_line(r), change = c.change == nullptr ? "" : change_text(*c.change);
  return fmt::format(
      "<details class=case{}><summary>{} <b class=nm>{}</b> <small>{}{}</small>{}</summary>{}</details>\n",
      open ? " open" : "", chip(c), escaped_cut(short_name(r.name), 300), escaped_cut(r.check, 40),
      numbers.empty() ? "" : " · " + escaped(numbers), change.empty() ? "" : " " + change, case_detail(view, c));
}

}  // namespace

std::string attention_section(const View& view) {
  if (view.attention.empty()) return "";
  std::string out = fmt::format("<section id=attention><h2>Needs attention <small>{}</small></h2>\n",
                                counted(view.attention.size(), "case"));
  for (size_t i = 0; i < view.attention.size(); ++i) out += article(view, view.attention[i], i < opened);
  return out + "</section>\n";
}

std::string details_section(const View& view) {
  std::string articles;
  size_t count = 0;
  for (const auto& c : view.cases) {
    if (c.urgent) continue;  // is above
    ++count;
    articles += article(view, c, false);
  }
  if (count == 0) return "";
  std::string left_out = view.fineness.all_metrics ? "" : "; for further metrics see the raw data";
  if (!view.fineness.run_order) left_out += ", for each side in run order too";
  return fmt::format("<section id=details><h2>Details <small>{}{}</small></h2>\n{}</section>\n",
                     counted(count, view.attention.empty() ? "case" : "other case"), left_out, articles);
}

}  // namespace torchstone::html
