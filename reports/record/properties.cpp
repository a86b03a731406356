#include "reports/record/properties.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/base/text.h"
#include "reports/record/metric.h"
#include "reports/record/result_json.h"

namespace torchstone {
namespace {

constexpr std::string_view metric_prefix = "metric_", note_prefix = "note_", samples_prefix = "samples_",
                           diagnosis_key = "diagnosis_record";

std::string with(std::string_view prefix, std::string_view key) { return std::string(prefix) + std::string(key); }

/// What stands behind the prefix, when it is there.
std::optional<std::string> without(std::string_view prefix, std::string_view key) {
  if (!key.starts_with(prefix)) return std::nullopt;
  return std::string(key.substr(prefix.size()));
}

[[noreturn]] void refuse_property(std::string_view key, std::string_view value, std::string_view expected) {
  throw std::invalid_argument(
      fmt::format("property {}: expected {}, found \"{}\"", key, expected, shortened(printable(value), 60)));
}

double number(std::string_view key, std::string_view value) {
  if (const auto parsed = parse_number(value)) return *parsed;
  refuse_property(key, value, "a number");
}

template <typename Integer>
Integer integer(std::string_view key, std::string_view value) {
  Integer parsed = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (error != std::errc() || end != value.data() + value.size()) refuse_property(key, value, "an integer");
  return parsed;
}

std::vector<double> series(const std::string& key, const std::string& value) {
  const auto json = nlohmann::json::parse(value, nullptr, false);
  if (json.is_discarded()) refuse_property(key, value, "a JSON array of numbers");
  return numbers_of(json, "property " + key);
}

Diagnosis diagnosis_in(const std::string& key, const std::string& value) {
  const auto json = nlohmann::json::parse(value, nullptr, false);
  if (json.is_discarded()) refuse_property(key, value, "a diagnosis as JSON");
  return diagnosis_of(json, "property " + key);
}

std::string without_nul(std::string text) {
  for (size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) text.replace(at, 1, "\\x00");
  return text;
}

bool set_outcome(Outcome& outcome, const std::string& key, const std::string& value) {
  if (key == "accuracy") {
    const auto status = parse_status(value);
    if (!status) refuse_property(key, value, "a known status");
    outcome.status = *status;
  } else if (key == "reason") {
    outcome.reason = value;
  } else if (key == "detail") {
    outcome.detail = value;
  } else if (key == "phase") {
    outcome.phase = value;
  } else if (const auto name = without(metric_prefix, key)) {
    outcome.metrics[*name] = number(key, value);
  } else if (find_metric(key) != nullptr) {
    outcome.metrics[key] = number(key, value);
  } else if (const auto note = without(note_prefix, key)) {
    outcome.notes[*note] = value;
  } else if (const auto samples = without(samples_prefix, key)) {
    outcome.samples[*samples] = series(key, value);
  } else if (const auto digest = std::ranges::find(digest_fields, key, &DigestField::key);
             digest != digest_fields.end()) {
    outcome.model.*digest->member = value;
  } else if (key == diagnosis_key) {
    outcome.diagnosis = diagnosis_in(key, value);
  } else {
    return false;
  }
  return true;
}

bool set_identity(Result& result, const std::string& key, const std::string& value) {
  const auto& fields = text_fields();
  if (const auto field = std::ranges::find(fields, key, &TextField::property); field != fields.end()) {
    result.*field->member = value;
  } else if (key == "batch_size") {
    result.batch_size = integer<int64_t>(key, value);
  } else if (key == "declared_line") {
    result.line = integer<int>(key, value);
  } else if (key == "duration_s") {
    result.duration_s = number(key, value);
  } else if (key == "finished") {
    if (value != "true" && value != "false") refuse_property(key, value, "true or false");
    result.finished = value == "true";
  } else {
    return false;
  }
  return true;
}

}  // namespace

Properties properties_of(const Result& result) {
  const Outcome& outcome = result.outcome;
  Properties properties = {{"accuracy", std::string(to_string(outcome.status))},
                           {"reason", outcome.reason},
                           {"detail", outcome.detail},
                           {"phase", outcome.phase}};
  for (const auto& field : text_fields()) properties.emplace_back(field.property, result.*field.member);
  properties.emplace_back("batch_size", std::to_string(result.batch_size));
  properties.emplace_back("declared_line", std::to_string(result.line));
  properties.emplace_back("duration_s", exact(result.duration_s));
  properties.emplace_back("finished", result.finished ? "true" : "false");
  for (const auto& [key, value] : outcome.metrics) {
    properties.emplace_back(find_metric(key) != nullptr ? key : with(metric_prefix, key), exact(value));
  }
  for (const auto& [key, value] : outcome.notes) properties.emplace_back(with(note_prefix, key), value);
  for (const auto& [key, values] : outcome.samples) {
    auto json = nlohmann::json::array();
    for (const double value : values) json.push_back(number_to_json(value));
    properties.emplace_back(with(samples_prefix, key), json.dump());
  }
  for (const auto& [key, member] : digest_fields)
    if (const auto& digest = outcome.model.*member; !digest.empty()) properties.emplace_back(key, digest);
  if (outcome.diagnosis) properties.emplace_back(diagnosis_key, nlohmann::json(*outcome.diagnosis).dump());
  for (auto& property : properties) property.second = without_nul(std::move(property.second));
  return properties;
}

Result result_of(const Properties& properties, Result start) {
  for (const auto& [key, value] : properties) {
    if (!set_outcome(start.outcome, key, value) && !set_identity(start, key, value)) start.outcome.notes[key] = value;
  }
  return start;
}

bool holds_result(const Properties& properties) {
  return std::ranges::find(properties, "accuracy", &Properties::value_type::first) != properties.end();
}

}  // namespace torchstone
