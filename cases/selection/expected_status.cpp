#include "cases/selection/expected_status.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <regex>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/settings/case_fields.h"
#include "cases/settings/yaml.h"
#include "fixtures/core/torch_version.h"
#include "reports/base/csv_format.h"
#include "reports/base/files.h"

namespace torchstone::expected_status {
namespace {

/// Reads a value and spells it as cases do.
template <auto parse>
std::string canonical(const config::Yaml& value) {
  return to_string(parse(value));
}

/// Reads a range of releases of torch.
std::string torch_range_of(const config::Yaml& value) {
  std::string text = text_of(value);
  try {
    TorchRange{text};
  } catch (const std::invalid_argument& error) {
    fail(value, error.what());
  }
  return text;
}

/// Tells whether a range of releases contains the LibTorch of this build.
bool contains_this_torch(const std::string& range) {
  return TorchRange(range).contains(parse_torch_version(built_libtorch_version()));
}

/// A property by which an entry may select: of cases, or of the torch that Torchstone was built with.
struct Selector {
  std::string key;
  std::string (*canonical)(const config::Yaml& value);  ///< reads a value, spelt as cases spell it
  bool (*matches)(const Case& c, const std::string& value);
};

const std::vector<Selector>& selector_table() {
  static const std::vector<Selector> table{
      {"suite", config::text_of, [](const Case& c, const std::string& v) { return c.suite == v; }},
      {"check", config::check_name_of, [](const Case& c, const std::string& v) { return c.check == v; }},
      {"mode", canonical<config::mode_of>, [](const Case& c, const std::string& v) { return to_string(c.mode) == v; }},
      {"dtype", canonical<config::row_dtype_of>,
       [](const Case& c, const std::string& v) { return to_string(c.dtype) == v; }},
      // `inductor` also selects the backend with options. `cuda` also selects `cuda:N`.
      {"backend", canonical<config::backend_spec_of>,
       [](const Case& c, const std::string& v) { return c.backend.name == v || to_string(c.backend) == v; }},
      {"device", config::device_of,
       [](const Case& c, const std::string& v) { return c.device == v || c.device.starts_with(v + ":"); }},
      {"preset", canonical<config::preset_of>,
       [](const Case& c, const std::string& v) { return to_string(c.preset) == v; }},
      {"dynamic", canonical<config::dynamic_of>,
       [](const Case& c, const std::string& v) { return to_string(c.dynamic) == v; }},
      {std::string(torch_key), torch_range_of,
       [](const Case&, const std::string& v) { return contains_this_torch(v); }},
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
  fail(value, fmt::format("'{}' is not a date (expected one such as 2027-03-01)", text.substr(0, 60)));
}

/// Recognises "docs/page.md#section".
bool is_section(const std::string& text) {
  constexpr std::string_view between = ".md#";
  const size_t page = text.find(between);
  return page != std::string::npos && page > 0 && page + between.size() < text.size() &&
         text.find_first_of(" \t\n") == std::string::npos;
}

/// Reads the address of an issue, or of a section of a page.
std::string reference_of(const config::Yaml& value) {
  std::string text = text_of(value);
  if (!text.starts_with("https://") && !text.starts_with("http://") && !is_section(text))
    fail(value,
         fmt::format(
             "'{}' is not the address of an issue (expected https://…, or a section of a page: docs/page.md#section)",
             text.substr(0, 60)));
  return text;
}

Expectation read_entry(const config::Yaml& node) {
  std::vector<std::string> keys{"name", "model", "status", "reason", "issue", "expires", "max_error"};
  for (const auto& selector : selector_table()) keys.push_back(selector.key);
  require_keys(node, keys);
  Expectation entry;
  entry.place = node;
  const config::Yaml *name = node.find("name"), *model = node.find("model");
  if (!name == !model) fail(node, "expected either the key name or the key model");
  entry.name = text_of(name ? *name : *model);
  if (entry.name.empty()) fail(name ? *name : *model, "an empty name (expected the name of a model or of a case)");
  for (const auto& selector : selector_table())
    if (const config::Yaml* value = node.find(selector.key))
      entry.selectors.emplace_back(selector.key, selector.canonical(*value));
  entry.status = status_of(require(node, "status"));
  if (const config::Yaml* reason = node.find("reason")) entry.reason = text_of(*reason);
  if (entry.reason.empty() && entry.status != Status::pass)
    fail(node, "a known failure without a reason (expected the key reason)");
  if (const config::Yaml* issue = node.find("issue")) entry.issue = reference_of(*issue);
  if (const config::Yaml* expires = node.find("expires")) entry.expires = date_of(*expires);
  if (const config::Yaml* bound = node.find("max_error")) {
    if (entry.status != Status::fail_accuracy)
      fail(*bound, fmt::format("a bound of the error of {} (expected it with status: fail_accuracy)",
                               to_string(*entry.status)));
    entry.max_error = number_of(*bound, config::lowest_max_error, config::highest_max_error);
  }
  return entry;
}

// Refuses a second entry with the same name and selectors, because the two could contradict each other.
void refuse_repeated(const std::vector<Expectation>& entries) {
  std::map<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>, const Expectation*> seen;
  for (const auto& entry : entries) {
    const auto [first, fresh] = seen.try_emplace({entry.name, entry.selectors}, &entry);
    if (!fresh)
      fail(entry.place,
           fmt::format("{} already has an expectation at {}", entry.name, origin_of(first->second->place)));
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
    if (row.cells[accuracy].empty()) fail(entry.place, "no status (expected one in the column accuracy)");
    entry.selectors = {{"check", "accuracy"}};
    entry.status = parse_status(row.cells[accuracy]);
    if (!entry.status) entry.reason = row.cells[accuracy];
    entries.push_back(std::move(entry));
  }
  return entries;
} catch (const ReportError& error) {
  throw config::ConfigError(error.what());
}

constexpr size_t max_entries_shown = 5;

bool covers(const ExpectedFile& file, const Case& c) { return file.suite.empty() || file.suite == c.suite; }

/// Returns the reason, issue, last day and place of an expectation, for people.
std::string basis_of(const Expectation& entry) {
  std::vector<std::string> parts;
  for (const auto& part : {entry.reason, entry.issue})
    if (!part.empty()) parts.push_back(part);
  if (!entry.expires.empty()) parts.push_back("until " + entry.expires);
  parts.push_back(origin_of(entry.place));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string expiry_warning(const Expectation& entry) {
  return fmt::format("{}: the expectation {} of {} expired on {} and is ignored{}", origin_of(entry.place),
                     to_string(*entry.status), entry.name, entry.expires,
                     entry.issue.empty() ? "" : fmt::format(" ({})", entry.issue));
}

/// Tells whether the entry names one of these models or a case of one.
bool is_of_known(const Expectation& entry, const std::vector<std::string>& models) {
  const std::string name = entry.name.substr(entry.name.rfind('/') + 1);
  const bool whole_case = name.size() < entry.name.size();
  return std::ranges::any_of(
      models, [&](const std::string& model) { return name == model || (whole_case && name.starts_with(model + "_")); });
}

std::string unmatched_line(const ExpectedFile& file, const std::vector<const Expectation*>& unmatched,
                           const std::vector<std::string>& models) {
  std::vector<std::string> shown;
  for (const Expectation* entry : unmatched) {
    if (shown.size() == max_entries_shown) break;
    // A CSV lists all models of a suite, known here or not, so a guess would only be noise.
    const std::string guess = file.csv ? "" : config::nearest(entry->name, models);
    const bool useful = !guess.empty() && guess != entry->name;
    shown.push_back(fmt::format("line {} ({}{})", entry->place.line, entry->name,
                                useful ? fmt::format("; did you mean {}?", guess) : ""));
  }
  if (unmatched.size() > shown.size()) shown.push_back(fmt::format("and {} more", unmatched.size() - shown.size()));
  return fmt::format("{}: {} {} no case that flags and suites select: {}", file.path, unmatched.size(),
                     unmatched.size() == 1 ? "entry matches" : "entries match", fmt::join(shown, ", "));
}

}  // namespace

bool Expectation::matches(const Case& c) const {
  if (name != c.model && name != name_of(c)) return false;
  return std::ranges::all_of(selectors, [&](const auto& selected) {
    const auto selector = std::ranges::find(selector_table(), selected.first, &Selector::key);
    return selector->matches(c, selected.second);
  });
}

bool Expectation::is_of_this_torch() const {
  const std::string range = value_of(torch_key);
  return range.empty() || contains_this_torch(range);
}

std::string Expectation::value_of(std::string_view selector) const {
  const auto found = std::ranges::find(selectors, selector, &std::pair<std::string, std::string>::first);
  return found == selectors.end() ? "" : found->second;
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
    if (root.kind != config::Yaml::Kind::sequence) fail(root, "expected a list of {model: …, status: …, reason: …}");
    for (const auto& item : root.items) file.entries.push_back(read_entry(item));
  }
  refuse_repeated(file.entries);
  return file;
}

ExpectedFile read_expected(const std::string& path, const std::string& suite, bool may_be_missing) {
  std::error_code error;
  if (may_be_missing && !std::filesystem::exists(path, error)) return {path, suite, path.ends_with(".csv"), {}};
  if (!std::filesystem::is_regular_file(path, error)) config::fail({path}, "no such file (expected statuses)");
  try {
    return parse_expected(read_at_most(path, 64 * mebibyte), path, suite);
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

const Expectation* deciding(const std::vector<ExpectedFile>& files, const Case& c, const std::string& today) {
  for (const auto& file : files) {
    if (!covers(file, c)) continue;
    const Expectation* best = nullptr;
    const Expectation* equal = nullptr;
    for (const auto& entry : file.entries) {
      if (!entry.matches(c) || (!today.empty() && entry.expired(today))) continue;
      if (!best || entry.strength() > best->strength()) {
        best = &entry;
        equal = nullptr;
      } else if (entry.strength() == best->strength()) {
        equal = &entry;
      }
    }
    if (equal)
      fail(equal->place, fmt::format("matches {} as well as {} does (expected one of them to be more specific)",
                                     name_of(c), origin_of(best->place)));
    if (best && !best->status)
      fail(best->place, fmt::format("'{}' is not a status that {} can have", best->reason, name_of(c)));
    if (best) return best;
  }
  return nullptr;
}

std::vector<std::string> apply_expected(const std::vector<ExpectedFile>& files, const std::string& today,
                                        std::vector<Case>& cases, const std::vector<std::string>& known) {
  std::set<const Expectation*> matched;
  std::vector<std::string> warnings, models;
  for (auto& c : cases) {
    models.push_back(c.model);
    const Expectation* entry = deciding(files, c, today);
    if (entry) {
      c.expected_status = *entry->status;
      c.max_error = entry->max_error;
      c.origin["expected_status"] = origin_of(entry->place);
      c.origin.erase("max_error");  // the entry replaces the suite's expectation
      if (c.max_error) c.origin["max_error"] = origin_of(entry->place);
      c.origin["expected_reason"] = basis_of(*entry);
    }
    for (const auto& file : files) {
      if (!covers(file, c)) continue;
      for (const auto& other : file.entries) {
        if (!other.matches(c)) continue;
        const bool fresh = matched.insert(&other).second;
        if (!other.expired(today)) continue;
        if (!entry) c.origin["expected_expired"] = expiry_warning(other);
        if (fresh) warnings.push_back(expiry_warning(other));
      }
    }
  }
  for (const auto& file : files) {
    std::vector<const Expectation*> unmatched;
    for (const auto& entry : file.entries) {
      if (!entry.is_of_this_torch()) continue;
      if (!matched.contains(&entry) && !(file.of_suite && is_of_known(entry, known))) unmatched.push_back(&entry);
    }
    if (!unmatched.empty()) warnings.push_back(unmatched_line(file, unmatched, models));
  }
  return warnings;
}

void note_expectation(const Case& c, Result& result) {
  const auto origin = [&](const char* key) { return value_in(c.origin, key); };
  Outcome& outcome = result.outcome;
  if (const std::string why = origin("expected_reason"); !why.empty() && result.expected != "pass")
    outcome.notes["expected_because"] = why;
  if (result.as_expected()) return;
  const auto add = [&](const std::string& text) { outcome.reason += (outcome.reason.empty() ? "" : "; ") + text; };
  if (info_of(outcome.status).passing)
    add(fmt::format("{} although {} expects {}: remove that expectation", to_string(outcome.status),
                    origin("expected_status"), result.expected));
  if (result.exceeds_max_error()) {
    const auto error = metric_of(result, "error_of_limit");
    add(fmt::format("{}, more than the {}× of the known failure (max_error, {})",
                    error ? fmt::format("an error of {:.4g}× the allowed one", *error) : "an unknown error",
                    *result.max_error, origin("max_error")));
  }
  if (const std::string expired = origin("expected_expired"); !expired.empty()) add(expired);
}

bool can_be_expected(const Outcome& outcome) {
  const StatusInfo& info = info_of(outcome.status);
  return info.kind != StatusKind::skipped && info.status != Status::interrupted && outcome.infrastructure_fault.empty();
}

}  // namespace torchstone::expected_status
