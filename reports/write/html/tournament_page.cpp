// The page of a tournament: tables, bars and plots. A variant's number is its rank.

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/write/formats.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/page.h"

namespace torchstone::html {
namespace {

using judge::Standing;
using judge::Tournament;

constexpr int bar_width = 760, name_room = 250, number_room = 150, bar_height = 22;
constexpr int plot_width = 320, plot_height = 210, plot_left = 52, plot_floor = 178;

std::vector<const Standing*> timed_of(const Tournament& tournament) {
  std::vector<const Standing*> timed;
  for (const Standing& s : tournament.standings)
    if (s.timed) timed.push_back(&s);
  return timed;
}

/// Whether the page recommends a variant: it is among the fastest, and the tournament gives advice.
bool is_advised(const Standing& s, const Tournament& tournament) {
  return s.ties && judge::why_no_advice(tournament).empty();
}

const char* bar_class(const Standing& s, bool advised) { return advised ? "up" : s.speedup_high < 1 ? "dn" : "ev"; }

/// Draws the bar of one variant. An infinite end of its interval is drawn at the edge of the scale.
std::string bar(const Standing& s, size_t place, const Scale& x, int y, bool advised) {
  const int from = x(1), to = x(s.speedup), middle = y + bar_height / 2 - 2;
  const int low = x(std::max(s.speedup_low, x.low)), high = x(std::min(s.speedup_high, x.high));
  std::string text = svg_text(0, middle + 4, shortened_middle(fmt::format("{}  {}", place, s.entrant.name), 46), "t");
  text += fmt::format("<path class={} fill-opacity=.35 stroke=none d=\"M{} {}H{}v12H{}z\"/>", bar_class(s, advised),
                      std::min(from, to), middle - 6, std::max({from, to, std::min(from, to) + 1}), std::min(from, to));
  text += fmt::format("<path class={} fill=none d=\"M{} {}v8m0-4H{}m0-4v8\"/>", bar_class(s, advised), low, middle - 4,
                      std::max(high, low + 1));
  return text + svg_text(bar_width - number_room + 8, middle + 4,
                         ratio_text(s.speedup, s.speedup_low, s.speedup_high, 2), "t");
}

/// Returns the range of positive numbers with a margin, for a logarithmic scale.
std::pair<double, double> padded(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  const double room = std::max(1.05, std::pow(high / low, 0.08));
  return {low / room, high * room};
}

/// Returns a logarithmic scale, or one that is linear from 0 if a value is 0.
Scale scale_of(const std::vector<double>& values, int from, int to) {
  if (std::ranges::all_of(values, [](double v) { return v > 0; })) {
    const auto [low, high] = padded(values);
    return {low, high, from, to, /*logarithmic=*/true};
  }
  const double high = std::ranges::max(values);
  return {0, high > 0 ? 1.08 * high : 1, from, to};
}

std::string dot(const Standing& s, size_t place, int x, int y, bool advised) {
  const char* css = advised ? "up" : "ev";
  return fmt::format("<circle class={} cx={} cy={} r=4 fill-opacity={} />", css, x, y, s.on_front ? 1 : 0) +
         svg_text(x + 6, y - 4, fmt::format("{}", place), "t");
}

std::string plot(const Tournament& tournament, const judge::Criterion& criterion) {
  const auto timed = timed_of(tournament);
  std::vector<double> times, values;
  std::vector<size_t> known;
  for (size_t i = 0; i < timed.size(); ++i) {
    const auto value = criterion.of(timed[i]->entrant);
    if (!value && !criterion.missing_is_nil) continue;
    if (!std::isfinite(value.value_or(0))) return "";
    known.push_back(i);
    times.push_back(timed[i]->seconds);
    values.push_back(value.value_or(0));
  }
  if (values.empty() || std::ranges::max(values) <= 0) return "";
  const Scale x = scale_of(times, plot_left, plot_width - 24), y = scale_of(values, plot_floor, 14);
  std::string out = svg_open(plot_width, plot_height, "\"f b\"");
  out += svg_line(plot_left, plot_floor, plot_width, plot_floor, "ax") +
         svg_line(plot_left, 4, plot_left, plot_floor, "ax");
  const auto words = [&](double value) {
    const std::string_view key = criterion.key;
    if (key == "error") return fmt::format("{:.1e}", value);
    return key.ends_with("_bytes") ? format_metric("artifact_bytes", value) : time_text(value);
  };
  const auto [low, high] = std::ranges::minmax(values);
  out += svg_text(0, y(high) + 3, words(high));
  if (y(low) - y(high) > 12) out += svg_text(0, y(low) + 3, words(low));
  const auto [fast, slow] = std::ranges::minmax(times);
  out += svg_text(x(fast), plot_floor + 13, time_text(fast), "m");
  if (x(slow) - x(fast) > 60) out += svg_text(x(slow), plot_floor + 13, time_text(slow), "m");
  out += svg_text(plot_left, plot_height - 4, "time of a call →");
  for (size_t i = 0; i < known.size(); ++i) {
    const Standing& s = *timed[known[i]];
    out += dot(s, known[i] + 1, x(times[i]), y(values[i]), is_advised(s, tournament));
  }
  return fmt::format("<figure><figcaption>Time and {}</figcaption>{}</svg></figure>", criterion.title, out);
}

/// Returns speed-ups against eager as bars with their simultaneous intervals, on a logarithmic scale, the fastest on
/// top.
std::string speed_bars(const Tournament& tournament) {
  const auto timed = timed_of(tournament);
  if (timed.empty()) return "";
  std::vector<double> ends{1};
  for (const Standing* s : timed)
    for (const double end : {s->speedup, s->speedup_low, s->speedup_high})
      if (std::isfinite(end) && end > 0 && end < 10 * s->speedup && 10 * end > s->speedup) ends.push_back(end);
  const auto [low, high] = padded(ends);
  const Scale x{low, high, name_room, bar_width - number_room, /*logarithmic=*/true};
  const int height = static_cast<int>(timed.size()) * bar_height + 18;
  std::string out = svg_open(bar_width, height, "\"f b\"") + svg_line(x(1), 0, x(1), height - 16, "rq");
  out += svg_text(x(1), height - 4, "1×", "m");
  for (const double tick : round_ticks(low, high))
    if (std::abs(x(tick) - x(1)) > 30) out += svg_text(x(tick), height - 4, fmt::format("{:g}×", tick), "m");
  for (size_t i = 0; i < timed.size(); ++i)
    out += bar(*timed[i], i + 1, x, static_cast<int>(i) * bar_height, is_advised(*timed[i], tournament));
  const std::string green = !judge::why_no_advice(tournament).empty() ? ""
                            : tournament.best.size() == 1             ? "; green: the winner"
                                                                      : "; green: ties with the fastest";
  return fmt::format(
      "<figure class=wide><figcaption>Speed-up against eager, of {} processes, with intervals that hold together at "
      "{:.3g} %{}</figcaption>{}</svg></figure>",
      judge::processes_words(tournament), 100 * tournament.options.confidence, green, out);
}

/// Returns time against each further criterion, one plot each. Variants on the front are filled.
std::string front_plots(const Tournament& tournament) {
  std::string out;
  for (const auto& criterion : judge::criteria()) out += plot(tournament, criterion);
  return out.empty() ? "" : "<div class=figs>" + out + "</div>";
}

std::string right_cell(const std::string& text) { return "<td class=n>" + text; }

std::string metric_cell(const char* key, const std::optional<double>& value) {
  return right_cell(value ? escaped(format_metric(key, *value)) : "–");
}

std::string timed_row(const Standing& s, size_t place, bool advised) {
  const auto& e = s.entrant;
  std::string row =
      fmt::format("<tr><td class=n>{}<th>{}{}", place, escaped(e.name), advised ? " <i class=ok>fastest</i>" : "");
  row += right_cell(time_text(s.seconds));
  row += right_cell(ratio_text(s.speedup, s.speedup_low, s.speedup_high, 3));
  row += right_cell(judge::fastest_other_text(s, 3));
  row += metric_cell("max_rel_error", e.error) + metric_cell("compiled_peak_bytes", e.peak_bytes);
  row += right_cell(e.start_s ? time_text(*e.start_s) : "–") + right_cell(e.compile_s ? time_text(*e.compile_s) : "–");
  row += metric_cell("artifact_bytes", e.artifact_bytes);
  row += metric_cell("break_even_calls", s.break_even_calls) +
         metric_cell("break_even_calls", s.break_even_compiled_calls);
  return row + (s.on_front ? "<td>front" : "<td>") + "\n";
}

std::string numbers(const Tournament& tournament) {
  std::string rows;
  size_t place = 0;
  for (const Standing* s : timed_of(tournament)) rows += timed_row(*s, ++place, is_advised(*s, tournament));
  if (rows.empty()) return "";
  return fmt::format(
      "<div class=scroll><table class=tour><thead><tr><th><th>variant<th>time of a call<th>speed-up<th>{}<th>error"
      "<th>peak memory<th>start-up<th>compile<th>artifact<th>pays after<th>with its compile<th></thead>\n<tbody>{}"
      "</tbody></table></div>\n",
      judge::fastest_other_heading, rows);
}

std::string not_timed(const Tournament& tournament) {
  std::string rows;
  for (const Standing& s : tournament.standings) {
    if (s.timed) continue;
    const auto& ladder = s.entrant.ladder;
    rows += fmt::format("<tr><td><i class={}>{} {}</i><th>{}<td class=w>{}", s.red ? "bad" : "odd", s.red ? "✗" : "–",
                        to_string(s.entrant.status), escaped(s.entrant.name), escaped_cut(s.entrant.out, 500));
    if (s.red && !ladder.outcome.detail.empty())
      rows += "<details><summary>detail</summary><pre>" + escaped_cut(ladder.outcome.detail, 4000) + "</pre></details>";
    if (s.red && !ladder.reproduce.empty()) rows += "<br><code>" + escaped_cut(ladder.reproduce, 2000) + "</code>";
    rows += "\n";
  }
  if (rows.empty()) return "";
  return "<h3>Not timed</h3><div class=scroll><table class=tour><tbody>" + rows + "</tbody></table></div>\n";
}

std::string timed_separately(const Tournament& tournament) {
  std::string rows;
  for (const auto& entrant : tournament.separate)
    rows += fmt::format("<tr><th>{}<td class=w>{}<br><small>{}</small>\n", escaped(entrant.name),
                        escaped(judge::separate_words(*entrant.separate)), escaped(entrant.separate->timed_by));
  if (rows.empty()) return "";
  return "<h3>Timed against eager of their own process</h3><div class=scroll><table class=tour><tbody>" + rows +
         "</tbody></table></div>\n";
}

std::string advice_list(const char* heading, const std::vector<judge::Advice>& advice) {
  std::string items;
  for (const auto& one : advice)
    items += fmt::format("<li>for ≥ {:.0f} call{} take <b>{}</b>", one.from_calls, one.from_calls == 1 ? "" : "s",
                         escaped(one.name));
  return items.empty() ? "" : fmt::format("<h3>{}</h3><ul>{}</ul>", heading, items);
}

std::string ways_to_ship_markup(const Tournament& tournament) {
  std::string out;
  for (const Standing& s : tournament.standings) {
    const auto& e = s.entrant;
    if (!s.ties || (e.command.empty() && e.code.empty() && e.why_not_shipped.empty())) continue;
    out += fmt::format("<p class=why><b>{}</b> {}</p>", escaped(e.name), escaped(e.why_not_shipped));
    if (!e.command.empty()) out += "<p class=again><code>" + escaped(e.command) + "</code></p>";
    if (!e.python.empty()) out += "<pre>" + escaped(e.python) + "</pre>";
    if (!e.code.empty()) out += "<pre>" + escaped(e.code) + "</pre>";
    if (e.shipped) out += "<p>" + escaped(judge::shipped_words(*e.shipped)) + "</p>";
    if (!e.why_not_measured.empty()) out += "<p>not measured as shipped: " + escaped(e.why_not_measured) + "</p>";
  }
  return out.empty() ? "" : fmt::format("<h3>{}</h3>", judge::shipping_heading(tournament)) + out;
}

std::string section(const Tournament& tournament) {
  std::string facts, doubts;
  for (const auto& [key, value] : tournament.facts)
    facts += fmt::format("{}{} {}", facts.empty() ? "" : ", ", key, value);
  for (const auto& doubt : tournament.doubts) doubts += "<li>" + escaped_cut(doubt, 1000);
  std::string out = fmt::format("<section class=card><h2>{} <small>{}</small></h2><p class=why><b>{}</b></p>",
                                escaped(tournament.title), escaped(facts), escaped(judge::verdict_line(tournament)));
  if (!doubts.empty()) out += "<ul class=notes>" + doubts + "</ul>";
  out += speed_bars(tournament);
  const bool has_packages = tournament.loaded != tournament.compiled;
  out +=
      advice_list(has_packages ? "Packages compiled before" : "By the number of calls of a process", tournament.loaded);
  if (has_packages) out += advice_list("Each process compiles for itself", tournament.compiled);
  out += ways_to_ship_markup(tournament);
  if (const auto plots = front_plots(tournament); !plots.empty())
    out +=
        "<h3>The front <small class=mu>filled: on it; nothing else is better in one of the six and worse "
        "in none, or only in a circle</small></h3>" +
        plots;
  return out + numbers(tournament) + timed_separately(tournament) + not_timed(tournament) + "</section>\n";
}

std::string sweep_section(const judge::Sweep& sweep) {
  std::string rows;
  for (const auto& row : sweep.rows) {
    const bool ranked = row.seconds > 0;
    rows += "<tr>" + right_cell(escaped(row.batch_size)) + right_cell(escaped(row.threads)) + "<th>" +
            escaped(judge::fastest_words(row)) + right_cell(ranked ? time_text(row.seconds) : "–") +
            right_cell(ranked ? ratio_text(row.speedup, row.speedup_low, row.speedup_high, 3) : "–") +
            right_cell(ranked ? fmt::format("{:.4g}", row.samples_per_s) : "–") + "\n";
  }
  return fmt::format(
      "<section class=card><h2>{} <small>by batch size and threads</small></h2><div class=scroll><table class=tour>"
      "<thead><tr><th>batch size<th>threads<th>fastest<th>time of a call<th>speed-up<th>samples/s</thead>\n"
      "<tbody>{}</tbody></table></div></section>\n",
      escaped(sweep.title), rows);
}

std::string headline(const std::vector<Tournament>& tournaments) {
  if (tournaments.size() == 1) return judge::verdict_line(tournaments.front());
  size_t ranked = 0;
  for (const Tournament& t : tournaments) ranked += t.best.empty() ? 0 : 1;
  return fmt::format("{} of {} ranked", ranked, counted(tournaments.size(), "model"));
}

}  // namespace
}  // namespace torchstone::html

namespace torchstone::write {

std::string write_tournament_page(const std::vector<judge::Tournament>& tournaments, const RunInfo& run) {
  const bool ranked = std::ranges::none_of(tournaments, [](const judge::Tournament& t) { return t.best.empty(); });
  const bool good = ranked && run.exit_code.value_or(0) == 0;
  const bool advised =
      std::ranges::all_of(tournaments, [](const judge::Tournament& t) { return judge::why_no_advice(t).empty(); });
  const auto [css_class, mark] = !good      ? std::pair{"bad", "✗"}
                                 : !advised ? std::pair{"odd", "~"}
                                            : std::pair{"ok", "★"};
  const std::string end = run.exit_code ? fmt::format("exit code {}", *run.exit_code) : "still running";
  const std::string title = "Tournament: " + html::escaped(html::headline(tournaments));
  std::string content = fmt::format(
      "<header class={}><p class=brand>Torchstone</p><h1><span aria-hidden=true>{}</span> {}</h1><p class=mu>{}, "
      "{}, {}</p></header>\n<main>\n",
      css_class, mark, title, html::escaped(run.started), html::duration_text(run.duration_s), end);
  for (const judge::Sweep& sweep : judge::group_sweeps(tournaments)) content += html::sweep_section(sweep);
  for (const judge::Tournament& tournament : tournaments) content += html::section(tournament);
  return html::document(title, content + "</main>\n", /*with_script=*/false);
}

}  // namespace torchstone::write
