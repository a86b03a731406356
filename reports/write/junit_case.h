#pragma once
#include <string>

#include "reports/record/properties.h"
#include "reports/write/junit.h"

namespace torchstone::write {

/// A result as the readers of JUnit see it.
struct JUnitEntry {
  JUnitKind kind = JUnitKind::none;
  std::string type, message;
};
JUnitEntry junit_entry_of(const Result& result);

/// A <testcase>; `name` is unique within its suite.
struct JUnitCase {
  const Result* result;
  std::string name;
  JUnitEntry entry;
  std::string comparison_again{};  ///< the command, where a comparison made the case red
};
void append_junit_case(std::string& out, const JUnitCase& test, const std::string& suite, const JUnitOptions& options);
void append_junit_properties(std::string& out, const std::string& indent, const Properties& properties);

/// Seconds with milliseconds, never an exponent or NaN: the schema takes digits and a dot only.
std::string junit_seconds(double value);

}  // namespace torchstone::write
