#include "cases/main/expected_run.h"

#include <set>

#include <fmt/format.h>

#include "reports/base/files.h"
#include "reports/base/time.h"

namespace torchstone {
namespace {

/// What the suites register whatever the flags narrow: an entry speaks of these cases too.
std::vector<Case> declared_cases(const std::vector<suite::Suite>& suites, const selection::Known& known,
                                 const std::vector<Case>& cases) {
  std::vector<Case> declared = cases;
  std::set<std::string> names;
  for (const auto& c : cases) names.insert(name_of(c));
  for (const auto& c : expand(suites, known, flags::Flags{}).cases)
    if (names.insert(name_of(c)).second) declared.push_back(c);
  return declared;
}

}  // namespace

ExpectedRun expect(const std::vector<suite::Suite>& suites, const selection::Known& known, const flags::Flags& flags,
                   std::vector<Case>& cases) {
  ExpectedRun run{expected_status::expected_files(suites, flags), utc_now().substr(0, 10), {}, {}};
  if (flags.update_expected && run.files.empty())
    throw config::ConfigError(
        "flag --torchstone_update_expected: there is no file to update (expected --torchstone_expected=FILE, or the "
        "key expected_file in a suite)");
  if (flags.update_expected) run.declared = declared_cases(suites, known, cases);
  std::vector<std::string> models;
  for (const ModelInfo* model : known.models) models.push_back(model->name);
  run.warnings = apply_expected(run.files, run.today, cases, models);
  return run;
}

std::string write_expected(const ExpectedRun& run, const std::vector<Result>& results) {
  std::map<std::string, Outcome> seen;
  for (const auto& result : results)
    if (result.finished) seen[result.name] = result.outcome;
  const auto changes = update_expected(run.files, run.today, run.declared, seen);
  std::string text;
  for (const auto& change : changes) {
    write_atomically(change.path, change.text);
    text += fmt::format("{}: {} changed, {} removed, {} new: read the difference before you commit it\n", change.path,
                        change.changed, change.removed, change.added);
  }
  return changes.empty() ? "expected statuses: nothing to change\n" : text;
}

}  // namespace torchstone
