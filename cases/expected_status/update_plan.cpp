#include "cases/expected_status/update_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "reports/base/text.h"

namespace torchstone::expected_status {
namespace {

constexpr size_t longest_reason = 160;

/// A case that ran, and its outcome.
struct Seen {
  const Case* c;
  const Outcome* outcome;
};

/// A measured outcome as a new expectation. A passing status is expected as a pass.
Expectation measured(Expectation entry, const Outcome& outcome) {
  entry.expires = "";
  if (entry.status == outcome.status) return entry;  // only its last day had passed
  entry.status = info_of(outcome.status).passing ? Status::pass : outcome.status;
  const std::string reason = shortened(printable(first_line(outcome.reason)), longest_reason);
  entry.reason = *entry.status == Status::pass ? "" : reason.empty() ? "seen, without a reason given" : reason;
  return entry;
}

/// Where an entry stands.
struct EntryIndex {
  size_t file, entry;
};

class Planner {
 public:
  Planner(const std::vector<ExpectedFile>& files, const std::string& today, const std::vector<Case>& declared,
          const std::map<std::string, Outcome>& seen)
      : files_(files), today_(today), declared_(declared), seen_(seen), plans_(files.size()) {}

  std::vector<UpdatePlan> plan() {
    std::map<std::pair<size_t, size_t>, std::vector<const Case*>> of_entry;
    std::vector<const Case*> of_none;
    for (const auto& c : declared_) {
      if (const auto index = index_of(c))
        of_entry[{index->file, index->entry}].push_back(&c);
      else
        of_none.push_back(&c);
    }
    for (const auto& [index, cases] : of_entry) plan_entry({index.first, index.second}, cases);
    for (const Case* c : of_none) {
      const Outcome* outcome = outcome_of(*c);
      if (outcome && !satisfies(c->expected_status, outcome->status)) add(*c, *outcome, first_file(*c));
    }
    return std::move(plans_);
  }

 private:
  const Outcome* outcome_of(const Case& c) const {
    const auto found = seen_.find(name_of(c));
    return found == seen_.end() || !can_be_expected(found->second) ? nullptr : &found->second;
  }

  /// The entry that decides about a case, expired or not.
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
    throw config::ConfigError(
        fmt::format("no expected-status file speaks of the suite {}, so {} cannot be updated (expected "
                    "--torchstone_expected=FILE)",
                    c.suite, name_of(c)));
  }

  void plan_entry(const EntryIndex& index, const std::vector<const Case*>& cases) {
    const ExpectedFile& file = files_[index.file];
    const Expectation& entry = file.entries[index.entry];
    std::vector<Seen> ran;
    for (const Case* c : cases)
      if (const Outcome* outcome = outcome_of(*c)) ran.push_back({c, outcome});
    const bool expired = entry.expired(today_);
    const auto agrees = [&](const Seen& s) { return !expired && satisfies(*entry.status, s.outcome->status); };
    if (std::ranges::all_of(ran, agrees)) return;
    const auto same = [&](const Seen& s) { return s.outcome->status == ran.front().outcome->status; };
    if (ran.size() == cases.size() && std::ranges::all_of(ran, same)) {
      plans_[index.file].entries[index.entry] = replaced(file, entry, cases, *ran.front().outcome);
      return;
    }
    // The entry also matches cases that agree with it or did not run, so it stays.
    for (const auto& s : ran)
      if (!agrees(s)) add(*s.c, *s.outcome, index.file);
  }

  /// Nothing when the cases pass and nothing weaker expects otherwise.
  std::optional<Expectation> replaced(const ExpectedFile& file, const Expectation& entry,
                                      const std::vector<const Case*>& cases, const Outcome& outcome) const {
    Expectation next = measured(entry, outcome);
    if (*next.status != Status::pass || file.csv) return next;
    auto others = files_;
    for (auto& other : others)
      if (other.path == file.path)
        std::erase_if(other.entries, [&](const Expectation& e) { return e.place.line == entry.place.line; });
    const bool needless = std::ranges::all_of(cases, [&](const Case* c) {
      const Expectation* weaker = deciding(others, *c, today_);
      return (weaker ? *weaker->status : c->expected_status) == Status::pass;
    });
    return needless ? std::nullopt : std::optional(next);
  }

  void add(const Case& c, const Outcome& outcome, size_t f) {
    const ExpectedFile& file = files_[f];
    Expectation entry;
    entry.name = name_of(c);
    if (file.csv) {
      if (c.check != "accuracy")
        throw config::ConfigError(
            fmt::format("{}: cannot hold the {} of {} (expected a YAML file: a CSV is about accuracy)", file.path,
                        to_string(outcome.status), name_of(c)));
      entry.name = c.model;
    }
    auto& added = plans_[f].added;
    entry = measured(entry, outcome);
    const auto twin = std::ranges::find(added, entry.name, &Expectation::name);
    if (twin != added.end() && twin->status == entry.status) return;
    const auto listed = std::ranges::find(file.entries, entry.name, &Expectation::name);
    if (twin != added.end() || (file.csv && listed != file.entries.end()))
      throw config::ConfigError(
          fmt::format("{}: cannot tell the {} of {} from other cases of {} (expected a YAML file)", file.path,
                      to_string(outcome.status), name_of(c), c.model));
    added.push_back(entry);
  }

  const std::vector<ExpectedFile>& files_;
  const std::string& today_;
  const std::vector<Case>& declared_;
  const std::map<std::string, Outcome>& seen_;
  std::vector<UpdatePlan> plans_;
};

}  // namespace

bool satisfies(Status expected, Status seen) {
  return expected == seen || (expected == Status::pass && info_of(seen).passing);
}

std::vector<UpdatePlan> plan_update(const std::vector<ExpectedFile>& files, const std::string& today,
                                    const std::vector<Case>& declared, const std::map<std::string, Outcome>& seen) {
  return Planner(files, today, declared, seen).plan();
}

}  // namespace torchstone::expected_status
