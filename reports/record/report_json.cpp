#include "reports/record/report_json.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <torchstone/report_writer.h>

#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/result_json.h"
#include "reports/record/summary.h"

namespace torchstone {
namespace {

[[noreturn]] void refuse(std::string_view what, size_t most) {
  throw std::invalid_argument(fmt::format("{} (expected at most {})", what, most));
}

/// Returns the position of the closing quote of the string that begins at `at`.
size_t end_of_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
  return at;
}

constexpr const char* report_schema = "torchstone/result/";
constexpr const char* case_schema = "torchstone/case/";
constexpr int schema_version = 2, oldest_version = 1;

nlohmann::json parse(const std::string& text, const std::string& file) {
  try {
    check_json_limits(text);
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    // The message begins with an internal code "[…] ". After it come line, column and what was expected.
    const std::string message = error.what();
    const auto code_end = message.find("] ");
    const std::string words = code_end == std::string::npos ? message : message.substr(code_end + 2);
    throw ReportError(file + ": not JSON: " + shortened(printable(words), 300));
  } catch (const std::invalid_argument& error) {
    throw ReportError(file + ": " + error.what());
  }
}

/// Returns the version of the document's schema. Throws std::invalid_argument for one that cannot be read.
int version_of(const nlohmann::json& json, const std::string& schema) {
  const std::string found = Members(json, "the document", "").required_text("schema");
  for (int version = oldest_version; version <= schema_version; ++version)
    if (found == schema + std::to_string(version)) return version;
  const std::string expected = schema + std::to_string(schema_version);
  const auto version = found.starts_with(schema) ? parse_number(found.substr(schema.size())) : std::nullopt;
  throw std::invalid_argument(fmt::format("schema: expected \"{}\", found \"{}\"{}", expected, printable(found),
                                          version > schema_version ? ", of a newer version of Torchstone" : ""));
}

/// Replaces the names of version 1 by the current ones.
void rename_from_1(nlohmann::json& result) {
  const std::map<std::string, std::string> statuses{{"undelegated", "not_compiled"}, {"vacuous", "uninformative"}};
  const std::map<std::string, std::string> metrics{{"compiled_beside", "concurrent_compiles"},
                                                   {"processes_apart", "processes_across_caches"},
                                                   {"speedup_apart", "speedup_across_caches"}};
  const auto rename_status = [&](nlohmann::json& owner, const char* key) {
    if (!owner.is_object() || !owner.contains(key) || !owner[key].is_string()) return;
    if (const auto name = statuses.find(owner[key]); name != statuses.end()) owner[key] = name->second;
  };
  rename_status(result, "expected");
  if (!result.is_object() || !result.contains("outcome")) return;
  auto& outcome = result["outcome"];
  rename_status(outcome, "status");
  if (!outcome.is_object() || !outcome.contains("metrics") || !outcome["metrics"].is_object()) return;
  for (const auto& [old, name] : metrics) {
    const auto found = outcome["metrics"].find(old);
    if (found == outcome["metrics"].end()) continue;
    outcome["metrics"][name] = *found;
    outcome["metrics"].erase(old);
  }
}

/// Moves values that version 1 kept in notes to their own members.
void upgrade_from_1(Result& result) {
  auto& notes = result.outcome.notes;
  const auto take = [&](const char* key) {
    const auto found = notes.extract(key);
    return found.empty() ? std::string() : found.mapped();
  };
  result.outcome.infrastructure_fault = take("infrastructure");
  result.upstream_name = take("upstream_name");
  if (const std::string worse = take("worse_than_baseline"); !worse.empty())
    result.baseline = {is_skipped(result) ? BaselineChange::gone : BaselineChange::worse, worse};
  if (const std::string other = take("different_model"); !other.empty())
    result.baseline = {BaselineChange::different_model, other};
  const std::string sizes = take("dynamic_timed"), separator = "; ";
  for (size_t begin = 0; begin < sizes.size();) {
    const size_t end = std::min(sizes.find(separator, begin), sizes.size());
    result.outcome.timed_sizes.push_back(sizes.substr(begin, end - begin));
    begin = end + separator.size();
  }
  result.outcome.threads_across_caches = result.outcome.why_noisy.starts_with("The threads lay ");
}

Result result_in(const nlohmann::json& json, int version) {
  if (version > 1) return json.get<Result>();
  nlohmann::json renamed = json;
  rename_from_1(renamed);
  auto result = renamed.get<Result>();
  upgrade_from_1(result);
  return result;
}

/// Calls `read`. Turns std::invalid_argument into a ReportError that begins with the file's name.
template <typename Read>
auto reading(const std::string& file, Read read) {
  try {
    return read();
  } catch (const std::invalid_argument& error) {
    throw ReportError(file + ": " + error.what());
  }
}

int exit_code_in(const nlohmann::json& json) {
  const int64_t code = integer_of(json, "run.exit_code");
  if (code < 0 || code > 255)
    throw std::invalid_argument(fmt::format("run.exit_code: expected 0 to 255, found {}", code));
  return static_cast<int>(code);
}

BaselineFacts baseline_of(const Members& baseline) {
  return {baseline.required_text("path"), baseline.required_text("summary"),
          texts_of(baseline["remarks"], baseline.at("remarks")), baseline.required_text("again")};
}

RunInfo run_of(const Members& document) {
  const Members object = document.object("run");
  RunInfo run;
  run.id = object.text("id");
  run.started = object.text("started");
  run.directory = object.text("directory");
  run.exit_reason = object.text("exit_reason");
  run.tag = object.text("tag");
  run.duration_s = object.number("duration_s");
  run.argv = texts_of(object["argv"], object.at("argv"));
  if (!object.absent("exit_code")) run.exit_code = exit_code_in(object["exit_code"]);
  run.exit_words = object.text("exit_words");
  if (!object.absent("baseline")) run.baseline = baseline_of(object.object("baseline"));
  run.machine = document.text_map("machine");
  run.build = document.text_map("build");
  run.environment = document.text_map("environment");
  run.policy = document.text_map("policy");
  return run;
}

nlohmann::json run_to_json(const RunInfo& run) {
  nlohmann::json json = {{"id", valid_utf8(run.id)},
                         {"started", valid_utf8(run.started)},
                         {"duration_s", number_to_json(run.duration_s)},
                         {"argv", texts_to_json(run.argv)},
                         {"directory", valid_utf8(run.directory)},
                         {"exit_reason", valid_utf8(run.exit_reason)}};
  if (!run.tag.empty()) json["tag"] = valid_utf8(run.tag);
  if (run.exit_code) json["exit_code"] = *run.exit_code;
  if (!run.exit_words.empty()) json["exit_words"] = valid_utf8(run.exit_words);
  if (run.baseline)
    json["baseline"] = {{"path", valid_utf8(run.baseline->path)},
                        {"summary", valid_utf8(run.baseline->summary)},
                        {"remarks", texts_to_json(run.baseline->remarks)},
                        {"again", valid_utf8(run.baseline->again)}};
  return json;
}

nlohmann::json summary_to_json(const std::vector<Result>& results) {
  nlohmann::json json = {{"total", results.size()}, {"as_expected", 0}, {"statuses", nlohmann::json::object()}};
  size_t as_expected = 0;
  for (const auto& [status, count] : count_by_status(results)) json["statuses"][std::string(to_string(status))] = count;
  for (const auto& result : results) as_expected += result.finished && result.as_expected();
  json["as_expected"] = as_expected;
  const Geomean geomean = geomean_of(results);
  json["geomean_speedup"] = geomean.n == 0 ? nlohmann::json() : number_to_json(geomean.value);
  json["geomean_n"] = geomean.n;
  for (const auto& machine : machines_of_timings(results)) {
    const Geomean of_machine = geomean_of(results, machine);
    if (machine.empty() || of_machine.n == 0) continue;
    json["geomean_by_machine"][valid_utf8(machine)] = {{"speedup", number_to_json(of_machine.value)},
                                                       {"n", of_machine.n}};
  }
  if (const Detection detection = detection_of(results); detection.n > 0) {
    json["detection_limit_median"] = number_to_json(detection.median);
    json["detection_limit_worst"] = number_to_json(detection.worst);
    json["detection_limit_n"] = detection.n;
    json["weak"] = detection.weak.size();
  }
  return json;
}

}  // namespace

void check_json_limits(std::string_view text) {
  std::string open;  // the brackets that are open at this position
  size_t members = 0, items = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') at = end_of_string(text, at);
    if (c == '[' || c == '{') open += c;
    if ((c == ']' || c == '}') && !open.empty()) open.pop_back();
    members += c == ':';
    items += c == ',' && open.ends_with('[');
    if (open.size() > JsonLimits::depth) refuse("nested too deeply", JsonLimits::depth);
    if (members > JsonLimits::members) refuse("too many members of objects", JsonLimits::members);
    if (items > JsonLimits::items) refuse("too many items of arrays", JsonLimits::items);
  }
}

std::string write_json(const std::vector<Result>& results, const RunInfo& run) {
  std::string text = fmt::format("{{\n\"schema\": \"{}{}\",\n", report_schema, schema_version);
  const auto add = [&](const char* key, const nlohmann::json& value) {
    text += fmt::format("\"{}\": {},\n", key, printable_json(value.dump()));
  };
  add("run", run_to_json(run));
  add("machine", text_map_to_json(run.machine));
  add("build", text_map_to_json(run.build));
  add("environment", text_map_to_json(run.environment));
  add("policy", text_map_to_json(run.policy));
  add("summary", summary_to_json(results));
  text += "\"results\": [";
  for (const auto& result : results) {
    text += (&result == results.data() ? "\n" : ",\n") + printable_json(nlohmann::json(result).dump());
  }
  return text + "\n]\n}\n";
}

Report parse_json(const std::string& text, const std::string& file) {
  const auto json = parse(text, file);
  return reading(file, [&] {
    const int version = version_of(json, report_schema);
    const Members document(json, "the document", "");
    Report report{run_of(document), {}};
    const auto& results = document["results"];
    if (!results.is_array()) throw std::invalid_argument("results: expected an array");
    if (results.size() > JsonLimits::results)
      throw std::invalid_argument(
          fmt::format("results: {} cases (expected at most {})", results.size(), JsonLimits::results));
    for (const auto& item : results) {
      try {
        report.results.push_back(result_in(item, version));
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(fmt::format("results[{}].{}", report.results.size(), error.what()));
      }
    }
    return report;
  });
}

std::string write_case_json(const Result& result) {
  return printable_json(
             nlohmann::json{{"schema", case_schema + std::to_string(schema_version)}, {"result", result}}.dump()) +
         "\n";
}

Result parse_case_json(const std::string& text, const std::string& file) {
  const auto json = parse(text, file);
  return reading(file, [&] {
    const int version = version_of(json, case_schema);
    return result_in(Members(json, "the document", "")["result"], version);
  });
}

TORCHSTONE_REPORT_WRITER(
    json, .help = "The unit of exchange: all else is made from it", .order = 100, .file = "results.json",
    .text = [](const Report& report, const auto&) { return write_json(report.results, report.run); });

}  // namespace torchstone
