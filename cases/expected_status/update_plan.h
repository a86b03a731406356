#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cases/expected_status/expected.h"

namespace torchstone::expected_status {

/// What an update does to one file.
struct UpdatePlan {
  std::map<size_t, std::optional<Expectation>> entries;  ///< by index: the new entry; empty where it is removed
  std::vector<Expectation> added;
};

/// One plan for each file; the arguments are those of update_expected(). An entry is replaced when all its cases ran
/// and have one status. Where only some of its cases disagree with it, each of these gets an entry of its own.
std::vector<UpdatePlan> plan_update(const std::vector<ExpectedFile>& files, const std::string& today,
                                    const std::vector<Case>& declared, const std::map<std::string, Outcome>& seen);

/// Whether a case that is expected to have one status may have another: any passing status counts as a pass.
bool satisfies(Status expected, Status seen);

/// `text`, the content of `file`, with the plan carried out. Lines of other entries and comments stay as they are.
std::string edited(const ExpectedFile& file, const std::string& text, const UpdatePlan& plan);

}  // namespace torchstone::expected_status
