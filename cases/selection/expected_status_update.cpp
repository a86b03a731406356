// Rewrites expected-status files line by line. Lines of unchanged entries and comments remain as they were.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cases/selection/expected_status.h"
#include "cases/settings/case_fields.h"
#include "reports/base/csv_format.h"
#include "reports/base/files.h"
#include "reports/base/text.h"

namespace torchstone::expected_status {

namespace {

constexpr size_t max_reason = 160;

/// Changes of an update to one file.
struct UpdatePlan {
  std::map<size_t, std::optional<Expectation>> entries;  ///< by index; empty: remove the entry
  std::vector<Expectation> added;
};

/// The expected status of a case and the bound of its error.
struct Expected {
  Status status = Status::pass;
  std::optional<double> max_error{};

  /// Tells whether a case may have this outcome. Any passing status counts as a pass.
  bool met_by(const Outcome& outcome) const {
    if (status == Status::pass && info_of(outcome.status).passing) return true;
    return status == outcome.status && is_within(outcome, max_error);
  }
};

Expected expected_of(const Expectation* entry, const Case& c) {
  return entry ? Expected{*entry->status, entry->max_error} : Expected{c.expected_status, c.max_error};
}

/// A case that ran, and its outcome.
struct Seen {
  const Case* c;
  const Outcome* outcome;
};

std::string day_after(const std::string& today, int days) {
  using namespace std::chrono;
  const auto part = [&](size_t at, size_t size) { return std::stoi(today.substr(at, size)); };
  const year_month_day date{year(part(0, 4)), month(static_cast<unsigned>(part(5, 2))),
                            day(static_cast<unsigned>(part(8, 2)))};
  const year_month_day later{sys_days(date) + std::chrono::days(days)};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(later.year()), static_cast<unsigned>(later.month()),
                     static_cast<unsigned>(later.day()));
}

/// Returns the bound; if the error exceeds it, returns the error rounded up to one decimal. Empty if the error exceeds
/// every allowed bound.
std::optional<double> raised(const std::optional<double>& bound, const Outcome& outcome) {
  if (is_within(outcome, bound)) return bound;
  const double error = value_in(outcome.metrics, "error_of_limit", std::numeric_limits<double>::infinity());
  if (!(error <= config::highest_max_error)) return std::nullopt;
  return std::clamp(std::ceil(error * 10) / 10, error, config::highest_max_error);
}

/// Returns an outcome as a new expectation. A passing status is expected as a pass.
Expectation measured(Expectation entry, const Outcome& outcome, const std::string& today) {
  if (entry.status != outcome.status) {
    entry.status = info_of(outcome.status).passing ? Status::pass : outcome.status;
    entry.max_error.reset();
    const std::string reason = shortened(printable(first_line(outcome.reason)), max_reason);
    entry.reason = *entry.status == Status::pass ? "" : reason.empty() ? "seen, without a reason given" : reason;
  }
  entry.max_error = raised(entry.max_error, outcome);
  if (*entry.status == Status::pass)
    entry.expires = "";
  else if (entry.expires.empty() || entry.expired(today))
    entry.expires = day_after(today, days_of_update);
  return entry;
}

/// Plans the changes to each file. Replaces an entry if all its cases ran and have the same status. If only some of its
/// cases disagree with it, adds an entry for each of these.
class Planner {
 public:
  Planner(const std::vector<ExpectedFile>& files, const std::string& today, const std::vector<Case>& declared,
          const std::map<std::string, Outcome>& seen)
      : files_(files), today_(today), declared_(declared), seen_(seen), plans_(files.size()) {}

  std::vector<UpdatePlan> plan() {
    std::map<EntryIndex, std::vector<const Case*>> matched;
    std::vector<const Case*> unmatched;
    for (const auto& c : declared_) {
      if (const auto index = index_of(c))
        matched[*index].push_back(&c);
      else
        unmatched.push_back(&c);
    }
    for (const auto& [index, cases] : matched) plan_entry(index, cases);
    for (const Case* c : unmatched) {
      const Outcome* outcome = outcome_of(*c);
      const Expected expected = expected_of(nullptr, *c);
      if (outcome && !expected.met_by(*outcome)) add(*c, expected, *outcome, first_file(*c));
    }
    return std::move(plans_);
  }

 private:
  using EntryIndex = std::pair<size_t, size_t>;  ///< indices of a file and of an entry in it

  const Outcome* outcome_of(const Case& c) const {
    const auto found = seen_.find(name_of(c));
    return found == seen_.end() || !can_be_expected(found->second) ? nullptr : &found->second;
  }

  /// Finds the entry that decides about a case, expired or not.
  std::optional<EntryIndex> index_of(const Case& c) const {
    const Expectation* entry = deciding(files_, c, today_);
    if (!entry) entry = deciding(files_, c, "");
    for (size_t f = 0; entry && f < files_.size(); ++f)
      for (size_t e = 0; e < files_[f].entries.size(); ++e)
        if (&files_[f].entries[e] == entry) return EntryIndex{f, e};
    return std::nullopt;
  }

  size_t first_file(const Case& c) const {
    for (size_t f = 0; f < files_.size(); ++f)
      if (files_[f].suite.empty() || files_[f].suite == c.suite) return f;
    throw config::ConfigError(fmt::format(
        "no expected-status file covers the suite {}, so {} cannot be updated (expected --torchstone_expected=FILE)",
        c.suite, name_of(c)));
  }

  void plan_entry(const EntryIndex& index, const std::vector<const Case*>& cases) {
    const ExpectedFile& file = files_[index.first];
    const Expectation& entry = file.entries[index.second];
    std::vector<Seen> ran;
    for (const Case* c : cases)
      if (const Outcome* outcome = outcome_of(*c)) ran.push_back({c, outcome});
    const bool expired = entry.expired(today_);
    const Expected expected{*entry.status, entry.max_error};
    const auto agrees = [&](const Seen& s) { return !expired && expected.met_by(*s.outcome); };
    if (std::ranges::all_of(ran, agrees)) return;
    const auto same = [&](const Seen& s) { return s.outcome->status == ran.front().outcome->status; };
    if (ran.size() == cases.size() && std::ranges::all_of(ran, same)) {
      plans_[index.first].entries[index.second] = replaced(file, entry, cases, worst_of(ran));
      return;
    }
    // The entry also matches cases that agree with it or did not run, so it is kept.
    for (const auto& s : ran)
      if (!agrees(s)) add(*s.c, expected, *s.outcome, index.first, entry.value_of(torch_key));
  }

  /// Returns the outcome with the largest error among outcomes with the same status.
  static const Outcome& worst_of(const std::vector<Seen>& ran) {
    const auto error = [](const Seen& s) {
      constexpr double unknown = std::numeric_limits<double>::infinity();
      const double value = value_in(s.outcome->metrics, "error_of_limit", unknown);
      return std::isnan(value) ? unknown : value;
    };
    return *std::ranges::max_element(ran, {}, error)->outcome;
  }

  /// Returns the new entry; empty when the cases pass and no weaker entry expects otherwise.
  std::optional<Expectation> replaced(const ExpectedFile& file, const Expectation& entry,
                                      const std::vector<const Case*>& cases, const Outcome& outcome) const {
    Expectation next = measured(entry, outcome, today_);
    if (*next.status != Status::pass || file.csv) return next;
    auto others = files_;
    for (auto& other : others)
      if (other.path == file.path)
        std::erase_if(other.entries, [&](const Expectation& e) { return e.place.line == entry.place.line; });
    const bool needless = std::ranges::all_of(
        cases, [&](const Case* c) { return expected_of(deciding(others, *c, today_), *c).status == Status::pass; });
    return needless ? std::nullopt : std::optional(next);
  }

  /// Adds an entry for this case only. Keeps or raises the bound of the previous expectation. `torch`: the releases of
  /// that expectation, because the outcome says nothing about others.
  void add(const Case& c, const Expected& expected, const Outcome& outcome, size_t f, const std::string& torch = "") {
    const ExpectedFile& file = files_[f];
    Expectation entry;
    entry.name = name_of(c);
    if (!torch.empty()) entry.selectors.emplace_back(torch_key, torch);
    if (file.csv) {
      if (c.check != "accuracy")
        throw config::ConfigError(
            fmt::format("{}: cannot record the {} of {} (expected a YAML file: a CSV holds accuracy only)", file.path,
                        to_string(outcome.status), name_of(c)));
      entry.name = c.model;
    }
    auto& added = plans_[f].added;
    entry = measured(entry, outcome, today_);
    if (entry.status == expected.status) entry.max_error = raised(expected.max_error, outcome);
    const auto twin = std::ranges::find(added, entry.name, &Expectation::name);
    if (twin != added.end() && twin->status == entry.status) return;
    const auto listed = std::ranges::find(file.entries, entry.name, &Expectation::name);
    if (twin != added.end() || (file.csv && listed != file.entries.end()))
      throw config::ConfigError(
          fmt::format("{}: cannot distinguish the {} of {} from other cases of {} (expected a YAML file)", file.path,
                      to_string(outcome.status), name_of(c), c.model));
    added.push_back(entry);
  }

  const std::vector<ExpectedFile>& files_;
  const std::string& today_;
  const std::vector<Case>& declared_;
  const std::map<std::string, Outcome>& seen_;
  std::vector<UpdatePlan> plans_;
};

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool is_comment(const std::string& line) { return trimmed(line).empty() || trimmed(line).starts_with('#'); }

/// Quotes a text as a JSON string, which YAML reads too.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Writes an entry, on one line when the entry that it replaces was on one.
std::string yaml_of(const Expectation& entry, bool one_line) {
  std::vector<std::pair<std::string, std::string>> parts;
  const bool plain = entry.name.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./") == std::string::npos;
  const bool whole_case = entry.name.find('/') != std::string::npos;
  parts.emplace_back(whole_case ? "name" : "model", plain ? entry.name : quoted(entry.name));
  for (const auto& [key, value] : entry.selectors)
    parts.emplace_back(key, value.find_first_of(":=, <>!") == std::string::npos ? value : quoted(value));
  parts.emplace_back("status", to_string(*entry.status));
  if (!entry.reason.empty()) parts.emplace_back("reason", quoted(entry.reason));
  if (!entry.issue.empty()) parts.emplace_back("issue", quoted(entry.issue));
  if (entry.max_error) parts.emplace_back("max_error", fmt::format("{}", *entry.max_error));
  if (!entry.expires.empty()) parts.emplace_back("expires", entry.expires);
  std::string text = one_line ? "- {" : "- ";
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += one_line ? ", " : "\n  ";
    text += parts[i].first + ": " + parts[i].second;
  }
  return text + (one_line ? "}\n" : "\n");
}

std::string edited_yaml(const ExpectedFile& file, const std::string& text, const UpdatePlan& plan) {
  const auto lines = lines_in(text);
  std::vector<size_t> begins;  // first line of each entry, 0-based
  for (const auto& entry : file.entries) {
    size_t line = static_cast<size_t>(entry.place.line) - 1;
    const size_t lowest = begins.empty() ? 0 : begins.back() + 1;
    while (line > lowest && line < lines.size() && !trimmed(lines[line]).starts_with('-')) --line;
    if (line < lowest || line >= lines.size() || !trimmed(lines[line]).starts_with('-'))
      fail(entry.place, "cannot be rewritten (expected each entry to begin with - on a line of its own)");
    begins.push_back(line);
  }
  std::string out;
  const auto copy = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
      if (!file.entries.empty() || trimmed(lines[i]) != "[]") out += lines[i] + "\n";
  };
  copy(0, begins.empty() ? lines.size() : begins.front());
  size_t kept = 0;
  for (size_t e = 0; e < begins.size(); ++e) {
    const size_t next = e + 1 < begins.size() ? begins[e + 1] : lines.size();
    size_t end = next;
    while (end > begins[e] + 1 && is_comment(lines[end - 1])) --end;
    const auto change = plan.entries.find(e);
    if (change == plan.entries.end())
      copy(begins[e], end);
    else if (change->second)
      out += yaml_of(*change->second, trimmed(lines[begins[e]]).find('{') != std::string::npos);
    kept += change == plan.entries.end() || change->second.has_value();
    copy(end, next);
  }
  for (const auto& entry : plan.added) out += yaml_of(entry, false);
  return kept + plan.added.size() == 0 ? out + "[]\n" : out;
}

std::string edited_csv(const ExpectedFile& file, const std::string& text, const UpdatePlan& plan) {
  if (text.empty()) {
    std::string out = csv_line({"name", "accuracy"});
    for (const auto& entry : plan.added) out += csv_line({entry.name, std::string(to_string(*entry.status))});
    return out;
  }
  const auto lines = lines_in(text);
  const CsvTable table = parse_csv(text, file.path);
  const size_t name = table.require_column("name"), accuracy = table.require_column("accuracy");
  const auto copy = [&](size_t from, size_t to) {
    std::string out;
    for (size_t i = from; i < to; ++i) out += lines[i] + "\n";
    return out;
  };
  std::string out;
  size_t done = 0;  // number of lines written
  for (size_t e = 0; e < table.rows.size(); ++e) {
    const auto change = plan.entries.find(e);
    if (change == plan.entries.end()) continue;
    CsvRow row = table.rows[e];
    row.cells[accuracy] = to_string(change->second ? *change->second->status : Status::pass);
    out += copy(done, static_cast<size_t>(row.line) - 1) + csv_line(row.cells);
    done = static_cast<size_t>(row.last_line);
  }
  out += copy(done, lines.size());
  // Upstream leaves blank lines between its rows, so that two changes do not conflict.
  const size_t n = table.rows.size();
  const int blank_lines = n < 2 ? 0 : table.rows[n - 1].line - table.rows[n - 2].last_line - 1;
  for (const auto& entry : plan.added) {
    std::vector<std::string> cells(table.columns.size());
    cells[name] = entry.name;
    cells[accuracy] = to_string(*entry.status);
    out += (n > 0 ? std::string(static_cast<size_t>(blank_lines), '\n') : "") + csv_line(cells);
  }
  return out;
}

/// Throws when the edited files would not expect the statuses in `seen`.
void require_right(const std::vector<ExpectedFile>& files, const std::string& today, const std::vector<Case>& declared,
                   const std::map<std::string, Outcome>& seen) {
  for (const auto& c : declared) {
    const auto found = seen.find(name_of(c));
    if (found == seen.end() || !can_be_expected(found->second)) continue;
    const Expectation* entry = deciding(files, c, today);
    if (!expected_of(entry, c).met_by(found->second))
      throw config::ConfigError(fmt::format("{} became {}, which its expected-status file cannot express: edit {}",
                                            name_of(c), to_string(found->second.status),
                                            entry ? origin_of(entry->place) : "it by hand"));
  }
}

}  // namespace

std::vector<FileChange> update_expected(const std::vector<ExpectedFile>& files, const std::string& today,
                                        const std::vector<Case>& declared, const std::map<std::string, Outcome>& seen) {
  const auto plans = Planner(files, today, declared, seen).plan();
  std::vector<FileChange> changes;
  std::vector<ExpectedFile> after = files;
  for (size_t f = 0; f < files.size(); ++f) {
    const UpdatePlan& plan = plans[f];
    if (plan.entries.empty() && plan.added.empty()) continue;
    std::error_code error;
    const std::string text = std::filesystem::exists(files[f].path, error) ? read_text(files[f].path) : "";
    const std::string next = files[f].csv ? edited_csv(files[f], text, plan) : edited_yaml(files[f], text, plan);
    FileChange change{files[f].path, next, 0, 0, plan.added.size()};
    for (const auto& [index, entry] : plan.entries) ++(entry ? change.changed : change.removed);
    after[f] = parse_expected(change.text, files[f].path, files[f].suite);
    changes.push_back(std::move(change));
  }
  require_right(after, today, declared, seen);
  return changes;
}

}  // namespace torchstone::expected_status
