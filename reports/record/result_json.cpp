#include "reports/record/result_json.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "reports/base/text.h"
#include "reports/record/diagnosis_text.h"

namespace torchstone {

const std::vector<TextField>& text_fields() {
  static const std::vector<TextField> fields = {
      {"name", "case", &Result::name},
      {"suite", "suite", &Result::suite},
      {"model", "model", &Result::model},
      {"check", "check", &Result::check},
      {"mode", "mode", &Result::mode},
      {"dtype", "dtype", &Result::dtype},
      {"device", "device", &Result::device},
      {"backend", "backend", &Result::backend},
      {"preset", "preset", &Result::preset},
      {"dynamic", "dynamic", &Result::dynamic},
      {"expected", "expected", &Result::expected},
      {"reproduce", "reproduce", &Result::reproduce},
      {"file", "declared_file", &Result::file},
      {"recorded", "recorded", &Result::recorded},
  };
  return fields;
}

namespace {

[[noreturn]] void refuse(const std::string& path, std::string_view expected, const nlohmann::json& found) {
  // Names arrays and objects without their content: dumping a deeply nested one would exhaust the stack.
  const std::string text = found.is_structured() ? found.type_name() : found.is_null() ? "nothing" : found.dump();
  throw std::invalid_argument(fmt::format("{}: expected {}, found {}", path, expected, shortened(text, 60)));
}

/// Returns the member `status` of an object.
Status status_in(const Members& object) {
  const std::string status = object.required_text("status");
  if (const auto parsed = parse_status(status)) return *parsed;
  throw std::invalid_argument(fmt::format("{}: expected a known status, found \"{}\"", object.at("status"), status));
}

/// Moves the notes that recorded_notes() adds to their members. Records of older versions may have the notes of a
/// diagnosis without the member `diagnosis`.
void take_recorded_notes(Outcome& outcome) {
  const auto take = [&](const char* key) {
    const auto found = outcome.notes.extract(key);
    return found.empty() ? std::string() : found.mapped();
  };
  outcome.operator_name = take("operator");
  outcome.why_noisy = take("noisy");
  const std::string sentence = take("diagnosis"), word = take("diagnosis_outcome"), folder = take("diagnosis_folder");
  if (!outcome.diagnosis && !word.empty())
    outcome.diagnosis = Diagnosis{.outcome = diagnosis_outcome_of(word), .sentence = sentence};
  if (outcome.diagnosis)
    outcome.diagnosis->folder = folder;
  else
    outcome.undiagnosed = sentence;
}

constexpr std::array<std::pair<BaselineChange, std::string_view>, 4> baseline_words = {
    {{BaselineChange::worse, "worse"},
     {BaselineChange::gone, "gone"},
     {BaselineChange::different_model, "different_model"},
     {BaselineChange::changed, "changed"}}};

BaselineFinding finding_in(const nlohmann::json& json) {
  if (json.is_null()) return {};
  const Members finding(json, "baseline");
  const std::string word = finding.required_text("change");
  const auto found = std::ranges::find(baseline_words, word, &decltype(baseline_words)::value_type::second);
  if (found == baseline_words.end())
    throw std::invalid_argument(
        fmt::format("baseline.change: expected worse, gone, different_model or changed, found \"{}\"", word));
  return {found->first, finding.required_text("reason")};
}

nlohmann::json finding_to_json(const BaselineFinding& finding) {
  const auto word = std::ranges::find(baseline_words, finding.change, &decltype(baseline_words)::value_type::first);
  return {{"change", word->second}, {"reason", valid_utf8(finding.reason)}};
}

Origin record_origin(const nlohmann::json& json) {
  if (json.is_null()) return {};
  const Members origin(json, "origin");
  return {origin.text("folder"), origin.integer("number"), origin.text("run"), origin.integer("sequence")};
}

}  // namespace

nlohmann::json number_to_json(double value) {
  if (value - value == 0) return value;  // finite
  return exact(value);
}

double number_of(const nlohmann::json& json, const std::string& path) {
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (text == "NaN" || text == "Infinity" || text == "-Infinity") return *parse_number(text);
  }
  refuse(path, "a number, \"NaN\", \"Infinity\" or \"-Infinity\"", json);
}

int64_t integer_of(const nlohmann::json& json, const std::string& path) {
  const bool too_large =
      json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!json.is_number_integer() || too_large) refuse(path, "an integer", json);
  return json.get<int64_t>();
}

std::string text_of(const nlohmann::json& json, const std::string& path) {
  if (!json.is_string()) refuse(path, "a string", json);
  return json.get<std::string>();
}

std::vector<double> numbers_of(const nlohmann::json& json, const std::string& path) {
  if (!json.is_array()) refuse(path, "an array of numbers", json);
  std::vector<double> numbers;
  numbers.reserve(json.size());
  for (const auto& item : json) numbers.push_back(number_of(item, fmt::format("{}[{}]", path, numbers.size())));
  return numbers;
}

std::vector<std::string> texts_of(const nlohmann::json& json, const std::string& path) {
  std::vector<std::string> texts;
  if (json.is_null()) return texts;
  if (!json.is_array()) throw std::invalid_argument(path + ": expected an array of strings");
  for (const auto& item : json) texts.push_back(text_of(item, fmt::format("{}[{}]", path, texts.size())));
  return texts;
}

Members::Members(const nlohmann::json& object, const std::string& path, std::string prefix)
    : object_(object), prefix_(std::move(prefix)) {
  if (!object.is_object()) refuse(path, "an object", object);
}

const nlohmann::json& Members::operator[](const std::string& key) const {
  static const nlohmann::json nothing;
  const auto found = object_.find(key);
  return found == object_.end() ? nothing : *found;
}

bool Members::boolean(const std::string& key, bool otherwise) const {
  const auto& value = (*this)[key];
  if (!value.is_null() && !value.is_boolean()) throw std::invalid_argument(at(key) + ": expected true or false");
  return value.is_null() ? otherwise : value.get<bool>();
}

std::map<std::string, std::string> Members::text_map(const std::string& key) const {
  return map(key, [](const nlohmann::json& value, const std::string& path) { return text_of(value, path); });
}

const nlohmann::json& Members::array(const std::string& key) const {
  static const nlohmann::json none = nlohmann::json::array();
  const auto& value = (*this)[key];
  if (!value.is_null() && !value.is_array()) throw std::invalid_argument(at(key) + ": expected an array");
  return value.is_null() ? none : value;
}

nlohmann::json texts_to_json(const std::vector<std::string>& texts) {
  auto json = nlohmann::json::array();
  for (const auto& text : texts) json.push_back(valid_utf8(text));
  return json;
}

nlohmann::json text_map_to_json(const std::map<std::string, std::string>& map) {
  auto json = nlohmann::json::object();
  for (const auto& [key, value] : map) json[valid_utf8(key)] = valid_utf8(value);
  return json;
}

std::optional<double> metric_of(const Result& result, const char* key) {
  const auto found = result.outcome.metrics.find(key);
  return found == result.outcome.metrics.end() ? std::nullopt : std::optional(found->second);
}

std::map<std::string, std::string> recorded_notes(const Outcome& outcome) {
  auto notes = outcome.notes;
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) notes[key] = text;
  };
  add("operator", outcome.operator_name);
  add("noisy", outcome.why_noisy);
  add("diagnosis", outcome.undiagnosed);
  if (!outcome.diagnosis) return notes;
  add("diagnosis", outcome.diagnosis->sentence);
  add("diagnosis_outcome", to_string(outcome.diagnosis->outcome));
  add("diagnosis_folder", outcome.diagnosis->folder);
  return notes;
}

void to_json(nlohmann::json& json, const Outcome& outcome) {
  json = {{"status", to_string(outcome.status)},  {"reason", valid_utf8(outcome.reason)},
          {"detail", valid_utf8(outcome.detail)}, {"phase", valid_utf8(outcome.phase)},
          {"metrics", nlohmann::json::object()},  {"notes", text_map_to_json(recorded_notes(outcome))},
          {"samples", nlohmann::json::object()}};
  for (const auto& [key, value] : outcome.metrics) json["metrics"][valid_utf8(key)] = number_to_json(value);
  for (const auto& [key, values] : outcome.samples) {
    auto& series = json["samples"][valid_utf8(key)] = nlohmann::json::array();
    for (const double value : values) series.push_back(number_to_json(value));
  }
  if (outcome.diagnosis) json["diagnosis"] = *outcome.diagnosis;
  for (const auto& [key, member] : digest_fields)
    if (const auto& digest = outcome.model.*member; !digest.empty()) json[std::string(key)] = valid_utf8(digest);
  if (!outcome.infrastructure_fault.empty()) json["infrastructure_fault"] = valid_utf8(outcome.infrastructure_fault);
  if (outcome.threads_across_caches) json["threads_across_caches"] = true;
  if (outcome.memory_ran_out) json["memory_ran_out"] = true;
  if (!outcome.timed_sizes.empty()) json["timed_sizes"] = texts_to_json(outcome.timed_sizes);
  for (const auto& [label, failed] : outcome.failed_entrants)
    json["failed_entrants"][label] = {{"status", to_string(failed.status)}, {"reason", valid_utf8(failed.reason)}};
  if (outcome.dynamo) json["dynamo"] = *outcome.dynamo;
}

void from_json(const nlohmann::json& json, Outcome& outcome) {
  const Members found(json, "outcome");
  outcome = {};
  outcome.status = status_in(found);
  outcome.reason = found.text("reason");
  outcome.detail = found.text("detail");
  outcome.phase = found.text("phase");
  outcome.metrics = found.map("metrics", number_of);
  outcome.notes = found.text_map("notes");
  outcome.samples = found.map("samples", numbers_of);
  if (!found.absent("diagnosis")) outcome.diagnosis = diagnosis_of(found["diagnosis"], found.at("diagnosis"));
  take_recorded_notes(outcome);
  for (const auto& [key, member] : digest_fields) outcome.model.*member = found.text(std::string(key));
  outcome.infrastructure_fault = found.text("infrastructure_fault");
  outcome.threads_across_caches = found.boolean("threads_across_caches");
  outcome.memory_ran_out = found.boolean("memory_ran_out");
  outcome.timed_sizes = texts_of(found["timed_sizes"], found.at("timed_sizes"));
  outcome.failed_entrants = found.map("failed_entrants", [](const nlohmann::json& value, const std::string& path) {
    const Members entrant(value, path);
    return FailedEntrant{status_in(entrant), entrant.required_text("reason")};
  });
  if (!found.absent("dynamo")) outcome.dynamo = dynamo_facts_of(found["dynamo"], found.at("dynamo"));
}

void to_json(nlohmann::json& json, const Result& result) {
  json = nlohmann::json::object();
  for (const auto& field : text_fields()) json[std::string(field.key)] = valid_utf8(result.*field.member);
  json["batch_size"] = result.batch_size;
  json["line"] = result.line;
  json["duration_s"] = number_to_json(result.duration_s);
  json["finished"] = result.finished;
  if (const Origin& origin = result.origin; !origin.folder.empty()) {
    json["origin"] = {{"folder", valid_utf8(origin.folder)},
                      {"number", origin.number},
                      {"run", valid_utf8(origin.run)},
                      {"sequence", origin.sequence}};
  }
  if (result.max_error) json["max_error"] = number_to_json(*result.max_error);
  if (result.own_model) json["own_model"] = true;
  if (!result.upstream_name.empty()) json["upstream_name"] = valid_utf8(result.upstream_name);
  if (!result.machine.empty()) json["machine"] = valid_utf8(result.machine);
  if (result.is_red_by_baseline()) json["baseline"] = finding_to_json(result.baseline);
  json["outcome"] = result.outcome;
}

void from_json(const nlohmann::json& json, Result& result) {
  const Members found(json, "result", "");
  result = {};
  for (const auto& field : text_fields()) {
    const std::string key(field.key);
    if (key == "name" || !found.absent(key)) result.*field.member = found.required_text(key);
  }
  if (result.name.empty()) throw std::invalid_argument("name: expected the name of a case, found \"\"");
  result.batch_size = found.integer("batch_size");
  const int64_t line = found.integer("line");
  if (line < 0 || line > std::numeric_limits<int>::max())
    throw std::invalid_argument(fmt::format("line: expected a line number, found {}", line));
  result.line = static_cast<int>(line);
  result.duration_s = found.number("duration_s");
  result.finished = found.boolean("finished", true);
  result.origin = record_origin(found["origin"]);
  if (!found.absent("max_error")) result.max_error = found.number("max_error");
  result.own_model = found.boolean("own_model", result.suite == "own");  // older records lack it
  result.upstream_name = found.text("upstream_name");
  result.machine = found.text("machine");
  result.baseline = finding_in(found["baseline"]);
  from_json(found["outcome"], result.outcome);
}

}  // namespace torchstone
