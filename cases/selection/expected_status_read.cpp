#include <algorithm>
#include <chrono>
#include <filesystem>
#include <regex>
#include <string_view>

#include <fmt/format.h>

#include "cases/selection/expected_status.h"
#include "cases/settings/yaml.h"
#include "reports/base/csv_format.h"
#include "reports/base/files.h"
#include "reports/record/report_json.h"

namespace torchstone::expected_status {
namespace {

std::string canonical_suite(const config::Yaml& v) { return text_of(v); }
std::string canonical_mode(const config::Yaml& v) { return to_string(mode_of(v)); }
std::string canonical_dtype(const config::Yaml& v) { return to_string(row_dtype_of(v)); }
std::string canonical_backend(const config::Yaml& v) { return to_string(backend_spec_of(v)); }
std::string canonical_dynamic(const config::Yaml& v) { return to_string(dynamic_of(v)); }
std::string canonical_preset(const config::Yaml& v) { return to_string(preset_of(v)); }

/// A part of a case that an entry may ask for: the value as it is kept, and whether a case has it.
struct Selector {
  std::string key;
  std::string (*canonical)(const config::Yaml& value);
  bool (*matches)(const Case& c, const std::string& value);
};

const std::vector<Selector>& selector_table() {
  static const std::vector<Selector> table{
      {"suite", canonical_suite, [](const Case& c, const std::string& v) { return c.suite == v; }},
      {"check", config::check_name_of, [](const Case& c, const std::string& v) { return c.check == v; }},
      {"mode", canonical_mode, [](const Case& c, const std::string& v) { return to_string(c.mode) == v; }},
      {"dtype", canonical_dtype, [](const Case& c, const std::string& v) { return to_string(c.dtype) == v; }},
      // `inductor` means it with whatever options, `cuda` a card of any index.
      {"backend", canonical_backend,
       [](const Case& c, const std::string& v) { return c.backend.name == v || to_string(c.backend) == v; }},
      {"device", config::device_of,
       [](const Case& c, const std::string& v) { return c.device == v || c.device.starts_with(v + ":"); }},
      {"preset", canonical_preset, [](const Case& c, const std::string& v) { return to_string(c.preset) == v; }},
      {"dynamic", canonical_dynamic, [](const Case& c, const std::string& v) { return to_string(c.dynamic) == v; }},
  };
  return table;
}

std::string date_of(const config::Yaml& value) {
  static const std::regex pattern("(\\d{4})-(\\d{2})-(\\d{2})");
  std::string text = text_of(value);
  std::smatch part;
  if (text.size() == 10 && std::regex_match(text, part, pattern)) {
    const std::chrono::year_month_day date{std::chrono::year(std::stoi(part[1])),
                                           std::chrono::month(static_cast<unsigned>(std::stoi(part[2]))),
                                           std::chrono::day(static_cast<unsigned>(std::stoi(part[3])))};
    if (date.ok()) return text;
  }
  config::fail(value, fmt::format("'{}' is no date (expected one such as 2027-03-01)", text.substr(0, 60)));
}

/// "docs/page.md#section"
bool is_section(const std::string& text) {
  constexpr std::string_view between = ".md#";
  const size_t page = text.find(between);
  return page != std::string::npos && page > 0 && page + between.size() < text.size() &&
         text.find_first_of(" \t\n") == std::string::npos;
}

/// Where one may read on: an issue, or the section of a page.
std::string reference_of(const config::Yaml& value) {
  std::string text = text_of(value);
  if (!text.starts_with("https://") && !text.starts_with("http://") && !is_section(text))
    config::fail(value, fmt::format("'{}' is no address of an issue (expected https://…, or a section of a page: "
                                    "docs/page.md#section)",
                                    text.substr(0, 60)));
  return text;
}

Expectation read_entry(const config::Yaml& node) {
  std::vector<std::string> keys{"name", "model", "status", "reason", "issue", "expires"};
  for (const auto& selector : selector_table()) keys.push_back(selector.key);
  require_keys(node, keys);
  Expectation entry;
  entry.place = node;
  const config::Yaml *name = node.find("name"), *model = node.find("model");
  if (!name == !model) config::fail(node, "expected either the key name or the key model");
  entry.name = text_of(name ? *name : *model);
  if (entry.name.empty()) config::fail(name ? *name : *model, "nothing (expected the name of a model or of a case)");
  for (const auto& selector : selector_table())
    if (const config::Yaml* value = node.find(selector.key))
      entry.selectors.emplace_back(selector.key, selector.canonical(*value));
  entry.status = status_of(require(node, "status"));
  if (const config::Yaml* reason = node.find("reason")) entry.reason = text_of(*reason);
  if (entry.reason.empty() && entry.status != Status::pass)
    config::fail(node, "a known failure without a reason (expected the key reason)");
  if (const config::Yaml* issue = node.find("issue")) entry.issue = reference_of(*issue);
  if (const config::Yaml* expires = node.find("expires")) entry.expires = date_of(*expires);
  return entry;
}

// One entry a name and selectors: two of them could contradict each other.
void refuse_repeated(const std::vector<Expectation>& entries) {
  std::map<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>, const Expectation*> seen;
  for (const auto& entry : entries) {
    const auto [place, fresh] = seen.try_emplace({entry.name, entry.selectors}, &entry);
    if (!fresh)
      config::fail(entry.place, fmt::format("{} is already expected to be something at {}", entry.name,
                                            origin_of(place->second->place)));
  }
}

std::vector<Expectation> csv_entries(const std::string& text, const std::string& path) try {
  const CsvTable table = parse_csv(text, path);
  const size_t name = table.require_column("name"), accuracy = table.require_column("accuracy");
  std::vector<Expectation> entries;
  for (const auto& row : table.rows) {
    Expectation entry;
    entry.place = {path, row.line, row.cells[name]};
    entry.name = row.cells[name];
    if (entry.name.empty()) config::fail({path, row.line}, "no name (expected a model's name in the column name)");
    if (row.cells[accuracy].empty()) config::fail(entry.place, "no status (expected one in the column accuracy)");
    entry.selectors = {{"check", "accuracy"}};
    entry.status = parse_status(row.cells[accuracy]);
    if (!entry.status) entry.reason = row.cells[accuracy];
    entries.push_back(std::move(entry));
  }
  return entries;
} catch (const ReportError& error) {
  throw config::ConfigError(error.what());
}

}  // namespace

bool Expectation::matches(const Case& c) const {
  if (name != c.model && name != name_of(c)) return false;
  return std::ranges::all_of(selectors, [&](const auto& selected) {
    const auto selector = std::ranges::find(selector_table(), selected.first, &Selector::key);
    return selector->matches(c, selected.second);
  });
}

size_t Expectation::strength() const {
  const bool whole_case = name.find('/') != std::string::npos;
  return selectors.size() + (whole_case ? selector_table().size() + 1 : 0);
}

ExpectedFile parse_expected(const std::string& text, const std::string& path, const std::string& suite) {
  ExpectedFile file{path, suite, path.ends_with(".csv"), {}};
  if (file.csv) {
    file.entries = csv_entries(text, path);
  } else {
    const config::Yaml root = config::parse_yaml(text, path);
    if (root.kind != config::Yaml::Kind::sequence)
      config::fail(root, "expected a list of {model: …, status: …, reason: …}");
    for (const auto& item : root.items) file.entries.push_back(read_entry(item));
  }
  refuse_repeated(file.entries);
  return file;
}

ExpectedFile read_expected(const std::string& path, const std::string& suite, bool may_be_missing) {
  std::error_code error;
  if (may_be_missing && !std::filesystem::exists(path, error)) return {path, suite, path.ends_with(".csv"), {}};
  if (!std::filesystem::is_regular_file(path, error)) config::fail({path}, "there is no such file (expected statuses)");
  constexpr size_t most = 64 * mebibyte;
  try {
    return parse_expected(read_at_most(path, most), path, suite);
  } catch (const ReportError& failed) {
    throw config::ConfigError(failed.what());
  }
}

std::vector<ExpectedFile> expected_files(const std::vector<suite::Suite>& suites, const flags::Flags& flags) {
  std::vector<ExpectedFile> files;
  for (const auto& path : flags.expected) files.push_back(read_expected(path, "", flags.update_expected));
  for (const auto& suite : suites) {
    if (suite.expected_file.empty()) continue;
    files.push_back(read_expected(suite.expected_file, suite.name, flags.update_expected));
    files.back().of_suite = true;
  }
  return files;
}

}  // namespace torchstone::expected_status
