#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torchstone/result.h>

#include "cases/settings/flags.h"
#include "cases/settings/suite.h"

// Files that say which cases are known to fail. A case whose status is not the expected one fails the run, whether it
// passes or fails.

namespace torchstone::expected_status {

/// One entry of such a file: the status that the matching cases are expected to have.
struct Expectation {
  config::Place place;
  std::string name;                                            ///< of a model, or the whole name of a case
  std::vector<std::pair<std::string, std::string>> selectors;  ///< suite, check, mode, dtype, backend, device, preset
  std::optional<Status> status;                                ///< empty: a CSV has a word that is no status
  std::string reason;
  std::string issue;    ///< an address, or the section of a page: "docs/page.md#section"
  std::string expires;  ///< the last day, "2027-03-01"

  bool matches(const Case& c) const;
  /// Of two entries that match a case the one of greater strength decides: a case name before a model name, then the
  /// one with more selectors.
  size_t strength() const;
  bool expired(const std::string& today) const { return !expires.empty() && expires < today; }
};

struct ExpectedFile {
  std::string path;
  std::string suite;  ///< only cases of this suite match; empty: cases of all suites
  bool csv = false;
  std::vector<Expectation> entries;
  bool of_suite = false;  ///< named by a suite: serves all runs of it, whatever they select
};

/// Reads *.csv in upstream's form (columns name and accuracy; others are passed over) and anything else as YAML: a list
/// of {model or name, suite, check, mode, dtype, backend, device, preset, status, reason, issue, expires}. Throws
/// ConfigError. With `may_be_missing` a file that does not exist has no entries.
ExpectedFile read_expected(const std::string& path, const std::string& suite, bool may_be_missing);
/// The same for the text of a file.
ExpectedFile parse_expected(const std::string& text, const std::string& path, const std::string& suite);
/// The files of --torchstone_expected, then those of the suites. The first file with an entry for a case decides.
std::vector<ExpectedFile> expected_files(const std::vector<suite::Suite>& suites, const flags::Flags& flags);

/// The entry that decides about a case; nullptr when none matches. Throws ConfigError when two entries of equal
/// strength match. With an empty `today` no entry expires.
const Expectation* deciding(const std::vector<ExpectedFile>& files, const Case& c, const std::string& today);

/// Sets the expected status of each case, with its origin. Returns warnings: entries that have expired on `today`
/// ("2026-01-31"), and entries that match no case. An unmatched entry of a suite's file causes a
/// warning only if it names none of the `known` models, because runs that select other models read the file too.
std::vector<std::string> apply_expected(const std::vector<ExpectedFile>& files, const std::string& today,
                                        std::vector<Case>& cases, const std::vector<std::string>& known = {});

/// Adds to a result why its status was expected, or what to do about the expectation when it was not.
void note_expectation(const Case& c, Result& result);

/// Whether an update may write the outcome into a file. It may not when the case was skipped, interrupted, or failed
/// because of the machine (a missing compiler).
bool can_be_expected(const Outcome& outcome);

/// A file to be written, and what changed in it.
struct FileChange {
  std::string path, text;
  size_t changed = 0, removed = 0, added = 0;  ///< entries
};
/// The changes that make every status in `seen` (name of a case → outcome) the expected one; files that need no change
/// are left out. Entries of other cases and comments stay as they are. `declared`: all cases that an entry may match,
/// with the statuses that the suites expect. Throws ConfigError where the file's format cannot express a status.
std::vector<FileChange> update_expected(const std::vector<ExpectedFile>& files, const std::string& today,
                                        const std::vector<Case>& declared, const std::map<std::string, Outcome>& seen);

}  // namespace torchstone::expected_status
