#pragma once
#include <string>
#include <vector>

#include <torchstone/case.h>
#include <torchstone/result.h>

#include "cases/flags/flags.h"
#include "cases/main/diagnosis_budget.h"
#include "cases/main/unwritten.h"
#include "cases/main/upstream_names.h"
#include "fixtures/isolate/case_runner.h"

namespace torchstone {

/// What all tests of a run share. Outlives them.
struct Session {
  const flags::Flags& flags;
  const std::vector<Case>& cases;
  const UpstreamNames& upstream_names;
  isolate::CaseRunner runner;
  Unwritten unwritten{};
  Origin origin{};  ///< of the latest record
  DiagnosisBudget diagnoses{};
};

/// Registers a GoogleTest test for every case, under name_of(case), at the line of the suite that declares it. At run
/// time rather than by TEST_P: suites are data, and a new line in one needs no rebuild.
void register_cases(Session& session);

/// Indices of the cases that GoogleTest is about to run; it knows them once a test environment is set up.
std::vector<size_t> selected_cases(const Session& session);

/// Writes --torchstone_log_operator_inputs: the operators that the models of the selected cases call, each model once.
void log_operator_inputs(Session& session, const std::vector<size_t>& selected);

/// Before the first test: tells the runner what is going to run. A case that begins leaves a record.
void plan(Session& session, const std::vector<size_t>& selected);

/// Ends the program with ExitCode::infrastructure if one of these cases needs the compile workers' Python and that
/// Python does not fit. It may have another torch, for example. Rows that need it could only be skipped or fail.
void require_fitting_python(const std::vector<Case>& cases, const std::vector<size_t>& selected);

/// Before the first test: begins to compile what these cases need, in their order, while others run.
void compile_ahead(Session& session, const std::vector<size_t>& selected);

/// Makes a result the next record of the run.
void stamp(Session& session, Result& result);

/// The row of a case before it ran, as in the plan.
Result row_of(const Case& c, const Session& session);

}  // namespace torchstone
