#include "reports/write/tournament_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/base/text.h"
#include "reports/judge/tournament_ranking.h"
#include "reports/record/metric.h"
#include "reports/record/result_json.h"
#include "reports/write/html/document.h"
#include "reports/write/html/figures.h"
#include "reports/write/html/markup.h"

namespace torchstone::write {
namespace {

using nlohmann::ordered_json;

ordered_json number(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json();  // NaN and infinities are dumped as null
}

ordered_json interval(double low, double high) { return {{"low", low}, {"high", high}}; }

ordered_json advice_json(const std::vector<judge::Advice>& advice) {
  auto list = ordered_json::array();
  for (const auto& one : advice) list.push_back({{"from_calls", one.from_calls}, {"take", one.name}});
  return list;
}

ordered_json variant_json(const judge::Standing& s) {
  const auto& e = s.entrant;
  ordered_json json{{"name", e.name},
                    {"status", to_string(e.status)},
                    {"timed", s.timed},
                    {"out", s.timed ? ordered_json() : ordered_json(e.out)}};
  if (s.timed) {
    json["seconds"] = s.seconds;
    json["process_seconds"] = e.seconds;
    json["speedup"] = s.speedup;
    json["speedup_interval"] = interval(s.speedup_low, s.speedup_high);
    json["of_best_interval"] = interval(s.of_best_low, s.of_best_high);
    json["ties"] = s.ties;
    json["on_front"] = s.on_front;
    for (const auto& criterion : judge::criteria()) json[criterion.key] = number(criterion.of(e));
    json["break_even_calls"] = number(s.break_even_calls);
    json["break_even_compiled_calls"] = number(s.break_even_compiled_calls);
  }
  if (!e.command.empty()) json["ship_command"] = e.command;
  if (!e.code.empty()) json["ship_code"] = e.code;
  if (!e.why_not_shipped.empty()) json["not_shipped"] = e.why_not_shipped;
  nlohmann::json row;
  to_json(row, e.ladder);
  json["ladder"] = row;
  return json;
}

ordered_json model_json(const judge::Tournament& tournament) {
  ordered_json json{{"title", tournament.title}};
  for (const auto& [key, value] : tournament.facts) json[key] = value;
  if (!tournament.sweep.empty()) json["sweep"] = tournament.sweep;
  json["verdict"] = judge::verdict_line(tournament);
  json["best"] = tournament.best;
  json["failure"] = tournament.failure.empty() ? ordered_json() : ordered_json(tournament.failure);
  json["exit_code"] = tournament.exit_code;
  json["confidence"] = tournament.options.confidence;
  json["margin"] = tournament.options.margin;
  json["looks"] = tournament.options.looks;
  json["processes"] = tournament.processes;
  json["advice"] = {{"compiled_before", advice_json(tournament.loaded)},
                    {"compiled_by_each_process", advice_json(tournament.compiled)}};
  json["doubts"] = tournament.doubts;
  json["variants"] = ordered_json::array();
  for (const auto& s : tournament.standings) json["variants"].push_back(variant_json(s));
  return json;
}

ordered_json sweep_json(const judge::Sweep& sweep) {
  ordered_json json{{"title", sweep.title}, {"combinations", ordered_json::array()}};
  for (const auto& row : sweep.rows) {
    ordered_json one{{"batch_size", row.batch_size}, {"threads", row.threads}, {"fastest", row.fastest}};
    if (row.seconds > 0) {
      one["seconds"] = row.seconds;
      one["samples_per_s"] = row.samples_per_s;
      one["speedup"] = row.speedup;
      one["speedup_interval"] = interval(row.speedup_low, row.speedup_high);
    }
    json["combinations"].push_back(one);
  }
  return json;
}

}  // namespace

std::string write_tournament_json(const std::vector<judge::Tournament>& tournaments, const RunInfo& run) {
  ordered_json json{{"schema", "torchstone/tournament/1"}};
  json["run"] = {{"id", run.id},           {"started", run.started}, {"duration_s", run.duration_s},
                 {"argv", run.argv},       {"tag", run.tag},         {"exit_reason", run.exit_reason},
                 {"machine", run.machine}, {"build", run.build}};
  if (run.exit_code) json["run"]["exit_code"] = *run.exit_code;
  json["sweeps"] = ordered_json::array();
  for (const auto& sweep : judge::sweeps_of(tournaments)) json["sweeps"].push_back(sweep_json(sweep));
  json["models"] = ordered_json::array();
  for (const auto& tournament : tournaments) json["models"].push_back(model_json(tournament));
  return printable_json(json.dump(1, ' ', false, ordered_json::error_handler_t::replace)) + "\n";
}

namespace {

using html::escaped;
using judge::Standing;
using judge::Tournament;

std::string right_cell(const std::string& text) { return "<td class=n>" + text; }

std::string metric_cell(const char* key, const std::optional<double>& value) {
  return right_cell(value ? escaped(format_metric(key, *value)) : "–");
}

std::string timed_row(const Standing& s, size_t place) {
  const auto& e = s.entrant;
  std::string row =
      fmt::format("<tr><td class=n>{}<th>{}{}", place, escaped(e.name), s.ties ? " <i class=ok>fastest</i>" : "");
  row += right_cell(html::time_text(s.seconds));
  row += right_cell(fmt::format("{:.3f}× <small>[{:.3f} {:.3f}]</small>", s.speedup, s.speedup_low, s.speedup_high));
  row += right_cell(fmt::format("{:.3f} to {:.3f}", s.of_best_low, s.of_best_high));
  row += metric_cell("max_rel_error", e.error) + metric_cell("compiled_peak_bytes", e.peak_bytes);
  row += right_cell(e.start_s ? html::time_text(*e.start_s) : "–") +
         right_cell(e.compile_s ? html::time_text(*e.compile_s) : "–");
  row += metric_cell("artifact_bytes", e.artifact_bytes);
  row += metric_cell("break_even_calls", s.break_even_calls) +
         metric_cell("break_even_calls", s.break_even_compiled_calls);
  return row + (s.on_front ? "<td>front" : "<td>") + "\n";
}

std::string numbers(const Tournament& tournament) {
  std::string rows;
  size_t place = 0;
  for (const Standing& s : tournament.standings)
    if (s.timed) rows += timed_row(s, ++place);
  if (rows.empty()) return "";
  return "<div class=scroll><table class=tour><thead><tr><th><th>variant<th>time of a call<th>speed-up<th>of the "
         "fastest other<th>error<th>peak memory<th>start-up<th>compile<th>artifact<th>pays after<th>with its "
         "compile<th></thead>\n<tbody>" +
         rows + "</tbody></table></div>\n";
}

std::string not_timed(const Tournament& tournament) {
  std::string rows;
  for (const Standing& s : tournament.standings) {
    if (s.timed) continue;
    const auto& ladder = s.entrant.ladder;
    rows += fmt::format("<tr><td><i class={}>{} {}</i><th>{}<td class=w>{}", s.red ? "bad" : "odd", s.red ? "✗" : "–",
                        to_string(s.entrant.status), escaped(s.entrant.name), html::escaped_cut(s.entrant.out, 500));
    if (s.red && !ladder.outcome.detail.empty())
      rows += "<details><summary>detail</summary><pre>" + html::escaped_cut(ladder.outcome.detail, 4000) +
              "</pre></details>";
    if (s.red && !ladder.reproduce.empty())
      rows += "<br><code>" + html::escaped_cut(ladder.reproduce, 2000) + "</code>";
    rows += "\n";
  }
  if (rows.empty()) return "";
  return "<h3>Not timed</h3><div class=scroll><table class=tour><tbody>" + rows + "</tbody></table></div>\n";
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
    if (!e.code.empty()) out += "<pre>" + escaped(e.code) + "</pre>";
  }
  return out.empty() ? "" : "<h3>To ship it</h3>" + out;
}

std::string section(const Tournament& tournament) {
  std::string facts, doubts;
  for (const auto& [key, value] : tournament.facts)
    facts += fmt::format("{}{} {}", facts.empty() ? "" : ", ", key, value);
  for (const auto& doubt : tournament.doubts) doubts += "<li>" + html::escaped_cut(doubt, 1000);
  std::string out = fmt::format("<section class=card><h2>{} <small>{}</small></h2><p class=why><b>{}</b></p>",
                                escaped(tournament.title), escaped(facts), escaped(judge::verdict_line(tournament)));
  if (!doubts.empty()) out += "<ul class=notes>" + doubts + "</ul>";
  out += html::speed_bars(tournament);
  const bool has_packages = tournament.loaded != tournament.compiled;
  out +=
      advice_list(has_packages ? "Packages compiled before" : "By the number of calls of a process", tournament.loaded);
  if (has_packages) out += advice_list("Each process compiles for itself", tournament.compiled);
  out += ways_to_ship_markup(tournament);
  if (const auto plots = html::front_plots(tournament); !plots.empty())
    out +=
        "<h3>The front <small class=mu>filled: on it; nothing else is better in one of the six and worse "
        "in none, or only in a circle</small></h3>" +
        plots;
  return out + numbers(tournament) + not_timed(tournament) + "</section>\n";
}

std::string sweep_section(const judge::Sweep& sweep) {
  std::string rows;
  for (const auto& row : sweep.rows) {
    const bool ranked = row.seconds > 0;
    rows += "<tr>" + right_cell(escaped(row.batch_size)) + right_cell(escaped(row.threads)) + "<th>" +
            escaped(row.fastest) + right_cell(ranked ? html::time_text(row.seconds) : "–") +
            right_cell(ranked ? fmt::format("{:.3f}× <small>[{:.3f} {:.3f}]</small>", row.speedup, row.speedup_low,
                                            row.speedup_high)
                              : "–") +
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
  return fmt::format("{} of {} ranked", ranked, html::counted(tournaments.size(), "model"));
}

}  // namespace

std::string write_tournament_page(const std::vector<Tournament>& tournaments, const RunInfo& run) {
  const bool ranked = std::ranges::none_of(tournaments, [](const Tournament& t) { return t.best.empty(); });
  const bool good = ranked && run.exit_code.value_or(0) == 0;
  const std::string end = run.exit_code ? fmt::format("exit code {}", *run.exit_code) : "still running";
  const std::string title = "Tournament: " + escaped(headline(tournaments));
  std::string content = fmt::format(
      "<header class={}><p class=brand>Torchstone</p><h1><span aria-hidden=true>{}</span> {}</h1><p class=mu>{}, "
      "{}, {}</p></header>\n<main>\n",
      good ? "ok" : "bad", good ? "★" : "✗", title, escaped(run.started), html::duration_text(run.duration_s), end);
  for (const judge::Sweep& sweep : judge::sweeps_of(tournaments)) content += sweep_section(sweep);
  for (const Tournament& tournament : tournaments) content += section(tournament);
  return html::document(title, content + "</main>\n", /*with_script=*/false);
}

}  // namespace torchstone::write
