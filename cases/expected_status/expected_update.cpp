#include <filesystem>

#include <fmt/format.h>

#include "cases/expected_status/expected.h"
#include "cases/expected_status/update_plan.h"
#include "reports/base/files.h"

namespace torchstone::expected_status {
namespace {

/// Throws when the edited files would not expect what was seen.
void require_right(const std::vector<ExpectedFile>& files, const std::string& today, const std::vector<Case>& declared,
                   const std::map<std::string, Outcome>& seen) {
  for (const auto& c : declared) {
    const auto found = seen.find(name_of(c));
    if (found == seen.end() || !can_be_expected(found->second)) continue;
    const Expectation* entry = deciding(files, c, today);
    const Status expected = entry ? *entry->status : c.expected_status;
    if (!satisfies(expected, found->second.status))
      throw config::ConfigError(
          fmt::format("{} became {}, which its expected-status file cannot be made to say: edit {}", name_of(c),
                      to_string(found->second.status), entry ? origin_of(entry->place) : "it by hand"));
  }
}

}  // namespace

std::vector<FileChange> update_expected(const std::vector<ExpectedFile>& files, const std::string& today,
                                        const std::vector<Case>& declared, const std::map<std::string, Outcome>& seen) {
  const auto plans = plan_update(files, today, declared, seen);
  std::vector<FileChange> changes;
  std::vector<ExpectedFile> after = files;
  for (size_t f = 0; f < files.size(); ++f) {
    const UpdatePlan& plan = plans[f];
    if (plan.entries.empty() && plan.added.empty()) continue;
    std::error_code error;
    const std::string text = std::filesystem::exists(files[f].path, error) ? read_text(files[f].path) : "";
    FileChange change{files[f].path, edited(files[f], text, plan), 0, 0, plan.added.size()};
    for (const auto& [index, entry] : plan.entries) ++(entry ? change.changed : change.removed);
    after[f] = parse_expected(change.text, files[f].path, files[f].suite);
    changes.push_back(std::move(change));
  }
  require_right(after, today, declared, seen);
  return changes;
}

}  // namespace torchstone::expected_status
