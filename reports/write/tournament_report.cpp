#include <nlohmann/json.hpp>

#include "reports/base/text.h"
#include "reports/record/result_json.h"
#include "reports/write/formats.h"

namespace torchstone::write {
namespace {

using nlohmann::ordered_json;

ordered_json number_or_null(const std::optional<double>& value) {
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
    for (const auto& criterion : judge::criteria()) json[criterion.key] = number_or_null(criterion.of(e));
    json["break_even_calls"] = number_or_null(s.break_even_calls);
    json["break_even_compiled_calls"] = number_or_null(s.break_even_compiled_calls);
  }
  if (!e.command.empty()) json["ship_command"] = e.command;
  if (!e.code.empty()) json["ship_code"] = e.code;
  if (!e.python.empty()) json["ship_python"] = e.python;
  if (!e.why_not_shipped.empty()) json["not_shipped"] = e.why_not_shipped;
  if (e.shipped)
    json["shipped"] = {{"bytes", e.shipped->bytes},
                       {"load_s", e.shipped->load_s},
                       {"first_call_s", e.shipped->first_call_s},
                       {"seconds", e.shipped->seconds},
                       {"error", number_or_null(e.shipped->error)}};
  if (!e.why_not_measured.empty()) json["not_measured_as_shipped"] = e.why_not_measured;
  nlohmann::json row;
  to_json(row, e.ladder);
  json["ladder"] = row;
  return json;
}

ordered_json separate_json(const judge::Entrant& entrant) {
  const judge::SeparateTiming& timing = *entrant.separate;
  nlohmann::json row;
  to_json(row, entrant.ladder);
  return {{"name", entrant.name},
          {"timed_by", timing.timed_by},
          {"eager_seconds", timing.eager_s},
          {"seconds", timing.seconds},
          {"speedup", number_or_null(timing.speedup)},
          {"speedup_interval", interval(timing.low, timing.high)},
          {"row", row}};
}

ordered_json model_json(const judge::Tournament& tournament) {
  ordered_json json{{"title", tournament.title}};
  for (const auto& [key, value] : tournament.facts) json[key] = value;
  if (!tournament.sweep.empty()) json["sweep"] = tournament.sweep;
  json["verdict"] = judge::verdict_line(tournament);
  json["best"] = tournament.best;
  json["failure"] = tournament.failure.empty() ? ordered_json() : ordered_json(tournament.failure);
  const std::string no_advice = judge::why_no_advice(tournament);
  json["no_advice"] = no_advice.empty() ? ordered_json() : ordered_json(no_advice);
  json["timed_processes"] = tournament.timed_processes;
  json["disturbed_processes"] = tournament.disturbed;
  json["unwatched_processes"] = tournament.unwatched;
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
  json["separate"] = ordered_json::array();
  for (const auto& entrant : tournament.separate) json["separate"].push_back(separate_json(entrant));
  return json;
}

ordered_json sweep_json(const judge::Sweep& sweep) {
  ordered_json json{{"title", sweep.title}, {"combinations", ordered_json::array()}};
  for (const auto& row : sweep.rows) {
    ordered_json one{{"batch_size", row.batch_size},
                     {"threads", row.threads},
                     {"best", row.fastest},
                     {"disturbed", row.disturbed},
                     {"failure", row.failure}};
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
  for (const auto& sweep : judge::group_sweeps(tournaments)) json["sweeps"].push_back(sweep_json(sweep));
  json["models"] = ordered_json::array();
  for (const auto& tournament : tournaments) json["models"].push_back(model_json(tournament));
  return printable_json(json.dump(1, ' ', false, ordered_json::error_handler_t::replace)) + "\n";
}

}  // namespace torchstone::write
