#include "cases/selection/expected_status.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/settings/yaml.h"

namespace torchstone::expected_status {
namespace {

constexpr size_t entries_shown = 5;

bool speaks_of(const ExpectedFile& file, const Case& c) { return file.suite.empty() || file.suite == c.suite; }

/// "because …, issue, until …": what stands behind an expectation, for people.
std::string words_of(const Expectation& entry) {
  std::vector<std::string> words;
  for (const auto& word : {entry.reason, entry.issue}) {
    if (!word.empty()) words.push_back(word);
  }
  if (!entry.expires.empty()) words.push_back("until " + entry.expires);
  words.push_back(origin_of(entry.place));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string expiry_of(const Expectation& entry) {
  return fmt::format("{}: the expectation {} of {} expired on {} and counts as not there{}", origin_of(entry.place),
                     to_string(*entry.status), entry.name, entry.expires,
                     entry.issue.empty() ? "" : fmt::format(" ({})", entry.issue));
}

/// Whether the entry names one of these models or a case of one.
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
    if (shown.size() == entries_shown) break;
    // The list of a CSV is that of all models of a suite, here or not: a guess would only be noise.
    const std::string guess = file.csv ? "" : config::nearest(entry->name, models);
    const bool useful = !guess.empty() && guess != entry->name;
    shown.push_back(fmt::format("line {} ({}{})", entry->place.line, entry->name,
                                useful ? fmt::format("; did you mean {}?", guess) : ""));
  }
  if (unmatched.size() > shown.size()) shown.push_back(fmt::format("and {} more", unmatched.size() - shown.size()));
  return fmt::format("{}: {} {} no case that flags and suites leave: {}", file.path, unmatched.size(),
                     unmatched.size() == 1 ? "entry matches" : "entries match", fmt::join(shown, ", "));
}

}  // namespace

const Expectation* deciding(const std::vector<ExpectedFile>& files, const Case& c, const std::string& today) {
  for (const auto& file : files) {
    if (!speaks_of(file, c)) continue;
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
      fail(equal->place, fmt::format("matches {} as well as {} does (expected one of them to say more)", name_of(c),
                                     origin_of(best->place)));
    if (best && !best->status)
      fail(best->place, fmt::format("'{}' is no status that {} can have", best->reason, name_of(c)));
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
      c.origin["expected_status"] = origin_of(entry->place);
      c.origin["expected_reason"] = words_of(*entry);
    }
    for (const auto& file : files) {
      if (!speaks_of(file, c)) continue;
      for (const auto& other : file.entries) {
        if (!other.matches(c)) continue;
        const bool fresh = matched.insert(&other).second;
        if (!other.expired(today)) continue;
        if (!entry) c.origin["expected_expired"] = expiry_of(other);
        if (fresh) warnings.push_back(expiry_of(other));
      }
    }
  }
  for (const auto& file : files) {
    std::vector<const Expectation*> unmatched;
    for (const auto& entry : file.entries) {
      if (!matched.contains(&entry) && !(file.of_suite && is_of_known(entry, known))) unmatched.push_back(&entry);
    }
    if (!unmatched.empty()) warnings.push_back(unmatched_line(file, unmatched, models));
  }
  return warnings;
}

void note_expectation(const Case& c, Result& result) {
  const auto origin = [&](const char* key) {
    const auto found = c.origin.find(key);
    return found == c.origin.end() ? std::string() : found->second;
  };
  Outcome& outcome = result.outcome;
  if (const std::string why = origin("expected_reason"); !why.empty() && result.expected != "pass")
    outcome.notes["expected_because"] = why;
  if (result.as_expected()) return;
  const auto add = [&](const std::string& text) { outcome.reason += (outcome.reason.empty() ? "" : "; ") + text; };
  if (info_of(outcome.status).passing)
    add(fmt::format("{} although {} expects {}: remove that expectation", to_string(outcome.status),
                    origin("expected_status"), result.expected));
  if (const std::string expired = origin("expected_expired"); !expired.empty()) add(expired);
}

bool can_be_expected(const Outcome& outcome) {
  const StatusInfo& info = info_of(outcome.status);
  return info.junit != JUnitKind::skipped && info.status != Status::interrupted &&
         !outcome.notes.contains("infrastructure");
}

}  // namespace torchstone::expected_status
