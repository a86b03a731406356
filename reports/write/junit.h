#pragma once
#include <string>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

namespace torchstone::write {

struct JUnitOptions {
  /// <properties>, file and line inside <testcase>: GitHub's readers and pytest's take them, the strict schema of the
  /// Jenkins xUnit plug-in (junit-10.xsd) refuses the whole file for them.
  bool testcase_properties = true;
};

/// One <testsuite> a GoogleTest suite, in order of first appearance, with the environment as its properties.
/// failure, error or skipped by the status table; an expected failure is skipped, an unexpected pass a failure. The
/// message is one short line, the content the whole story; numbers are lines of system-out too, since most readers
/// drop properties. A name that comes again gets " (2)", since GitLab drops duplicates.
std::string write_junit(const std::vector<Result>& results, const RunInfo& run, const JUnitOptions& options = {});

}  // namespace torchstone::write
