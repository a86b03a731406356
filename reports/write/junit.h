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

/// Writes one <testsuite> for each GoogleTest suite, in order of first appearance, with the environment as its
/// properties. The status table decides between failure, error and skipped; an expected failure is skipped, an
/// unexpected pass is a failure. The message is one short line, the content has everything. Numbers are also written to
/// system-out, because most readers drop properties. A name that occurs again gets " (2)", because GitLab drops
/// duplicates. A run whose exit code is not 0 though no case failed has a suite `torchstone` with that one error.
std::string write_junit(const std::vector<Result>& results, const RunInfo& run, const JUnitOptions& options = {});

}  // namespace torchstone::write
