#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torchstone/result.h>

#include "cases/settings/flags.h"
#include "cases/settings/suite.h"

// Files that list cases known to fail. A case with another status than the expected one fails the run, even if it
// passes.

namespace torchstone::expected_status {

/// Key of the selector with a range of releases: ">=2.12,<2.14" (fixtures/core/torch_version.h).
constexpr std::string_view torch_key = "torch";

/// Entry of a file: the expected status of the cases that it matches.
struct Expectation {
  config::Place place;
  std::string name;  ///< name of a model, or the whole name of a case

  /// Values of suite, check, mode, dtype, backend, device, preset, dynamic and torch, by these keys.
  std::vector<std::pair<std::string, std::string>> selectors;
  std::optional<Status> status;  ///< empty: a CSV has an unknown status, which `reason` holds

  std::string reason;
  std::string issue;                  ///< an address, or a section of a page: "docs/page.md#section"
  std::string expires;                ///< last day, "2027-03-01"
  std::optional<double> max_error{};  ///< for fail_accuracy: the largest error, as a multiple of the allowed one

  bool matches(const Case& c) const;
  /// Whether the range of releases, if there is one, contains the LibTorch of this build.
  bool is_of_this_torch() const;
  /// Returns the value of a selector; empty without it.
  std::string value_of(std::string_view selector) const;
  /// Ranks entries that match the same case. A case name beats a model name; after that, more selectors win.
  size_t strength() const;
  bool expired(const std::string& today) const { return !expires.empty() && expires < today; }
};

struct ExpectedFile {
  std::string path;
  std::string suite;  ///< only cases of this suite match; empty: cases of all suites
  bool csv = false;
  std::vector<Expectation> entries;
  bool of_suite = false;  ///< named by a suite, so it is also read by runs of other models
};

/// Reads *.csv in upstream's format (columns name and accuracy; ignores others). Reads other files as a YAML list of
/// {model or name, status, reason, issue, expires, max_error, and selectors}. Throws ConfigError. With `may_be_missing`
/// a file that does not exist has no entries.
ExpectedFile read_expected(const std::string& path, const std::string& suite, bool may_be_missing);
/// Parses the text of a file.
ExpectedFile parse_expected(const std::string& text, const std::string& path, const std::string& suite);
/// Reads the files of --torchstone_expected, then the suites' files. The first file with an entry for a case decides.
std::vector<ExpectedFile> expected_files(const std::vector<suite::Suite>& suites, const flags::Flags& flags);

/// Returns the entry that decides a case; nullptr when none matches. Throws ConfigError when two entries of equal rank
/// match. With an empty `today` no entry expires.
const Expectation* deciding(const std::vector<ExpectedFile>& files, const Case& c, const std::string& today);

/// Sets the expected status of each case, with its origin. Returns warnings about entries that have expired on `today`
/// ("2026-01-31") or match no case. An unmatched entry of a suite's file causes a warning only if it names none of the
/// `known` models.
std::vector<std::string> apply_expected(const std::vector<ExpectedFile>& files, const std::string& today,
                                        std::vector<Case>& cases, const std::vector<std::string>& known = {});

/// Adds a note to a result: why its status was expected, or what to do if it was not. For a known failure with an error
/// above its bound the note has both numbers.
void note_expectation(const Case& c, Result& result);

/// Tells whether an update may write the outcome into a file. It may not when the case was skipped, interrupted, or
/// failed because of the machine (a missing compiler).
bool can_be_expected(const Outcome& outcome);

/// Days until the known failures expire that an update writes, unless their entry has a later last day.
constexpr int days_of_update = 90;

/// New content of a file, with counts of its changes.
struct FileChange {
  std::string path, text;
  size_t changed = 0, removed = 0, added = 0;  ///< entries
};
/// Returns the changes after which every status in `seen` (name of a case → outcome) is expected. Raises bounds that an
/// error exceeds. Keeps comments and entries of other cases. `declared` holds all cases that an entry may match, with
/// the statuses that the suites expect. Throws ConfigError if a file's format cannot express a status.
std::vector<FileChange> update_expected(const std::vector<ExpectedFile>& files, const std::string& today,
                                        const std::vector<Case>& declared, const std::map<std::string, Outcome>& seen);

}  // namespace torchstone::expected_status
