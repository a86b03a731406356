#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torchstone/result.h>

#include "cases/flags/flags.h"
#include "cases/suite/suite.h"

// Files that say which cases are known to fail. Strict both ways: a case that passes against its expectation is as red
// as one that fails against it.
namespace torchstone::expected_status {

/// One entry of such a file: what the cases that it matches are expected to become.
struct Expectation {
  config::Place place;
  std::string name;                                            ///< of a model, or the whole name of a case
  std::vector<std::pair<std::string, std::string>> selectors;  ///< suite, check, mode, dtype, backend, device, preset
  std::optional<Status> status;                                ///< empty: a word of a CSV that is none of ours
  std::string reason, issue, expires;                          ///< expires: the last day, "2027-03-01"

  bool matches(const Case& c) const;
  /// Of two that match a case the stronger decides: the one that says more of it.
  size_t strength() const;
  bool expired(const std::string& today) const { return !expires.empty() && expires < today; }
};

struct ExpectedFile {
  std::string path;
  std::string suite;  ///< speaks of this suite's cases only; empty: of all
  bool csv = false;
  std::vector<Expectation> entries;
};

/// FILE.csv in upstream's form (columns name and accuracy; the others are not read), anything else as YAML: a list of
/// {model or name, suite, check, mode, dtype, backend, device, preset, status, reason, issue, expires}. Throws
/// ConfigError. `may_be_missing`: a file that is not there holds nothing.
ExpectedFile read_expected(const std::string& path, const std::string& suite, bool may_be_missing);
/// The same for a text.
ExpectedFile parse_expected(const std::string& text, const std::string& path, const std::string& suite);
/// Those of --torchstone_expected, then the suites' own: the first that matches a case decides about it.
std::vector<ExpectedFile> expected_files(const std::vector<suite::Suite>& suites, const flags::Flags& flags);

/// The entry that decides about a case; nullptr when none does. Throws ConfigError when two do with equal strength.
/// An empty `today` lets no entry expire.
const Expectation* deciding(const std::vector<ExpectedFile>& files, const Case& c, const std::string& today);

/// Sets the expected status of each case, with its origin. Returns warnings: entries that have expired on `today`
/// ("2026-01-31"), and entries that match no case.
std::vector<std::string> apply_expected(const std::vector<ExpectedFile>& files, const std::string& today,
                                        std::vector<Case>& cases);

/// Puts what was expected and why into the row of a case that ran.
void note_expectation(const Case& c, Result& result);

/// Whether an update may expect what was seen: not for a case that was left out, interrupted, or failed only because
/// of the machine (a missing compiler).
bool can_be_expected(const Outcome& outcome);

struct FileChange {
  std::string path, text;
  size_t changed = 0, removed = 0, added = 0;  ///< entries
};
/// The files that make every status in `seen` (name of a case → outcome) expected; a file that already does is not
/// among them. Entries of cases that were not seen, and the comments around them, stay as they are. `declared`: all
/// cases that an entry may speak of, as the suites alone expect them. Throws ConfigError for what a file cannot say.
std::vector<FileChange> update_expected(const std::vector<ExpectedFile>& files, const std::string& today,
                                        const std::vector<Case>& declared, const std::map<std::string, Outcome>& seen);

}  // namespace torchstone::expected_status
