#pragma once
#include <string>
#include <vector>

#include "cases/expected_status/expected.h"
#include "cases/selection/expand.h"

namespace torchstone {

/// What a run knows of its expected-status files.
struct ExpectedRun {
  std::vector<expected_status::ExpectedFile> files;
  std::string today;
  std::vector<Case> declared;         ///< for an update: all cases that the files may speak of, as suites expect them
  std::vector<std::string> warnings;  ///< of apply_expected
};

/// Reads the files and sets what they say in `cases`. Throws ConfigError.
ExpectedRun expect(const std::vector<suite::Suite>& suites, const selection::Known& known, const flags::Flags& flags,
                   std::vector<Case>& cases);

/// --torchstone_update_expected: writes the files that these results change and returns what was done, for people.
/// Throws ConfigError for what a file cannot say; then none is written.
std::string write_expected(const ExpectedRun& run, const std::vector<Result>& results);

}  // namespace torchstone
