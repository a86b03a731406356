#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <torchstone/case.h>
#include <torchstone/result.h>

#include "cases/settings/flags.h"
#include "cases/settings/suite.h"
#include "fixtures/core/run_options.h"
#include "fixtures/isolate/case_runner.h"

namespace torchstone {

/// Files that a run could not write, for example because the disk is full. The run goes on, because its results are in
/// memory too and reports are written at its end.
class Unwritten {
 public:
  /// Calls `write`. Stores a system error under `what` until a later attempt succeeds. Prints the first error on stderr
  /// at once.
  void attempt(const std::string& what, const std::function<void()>& write);
  bool empty() const { return causes_.empty(); }
  /// Returns a line for the end of the run: the number of files, the first names, and a cause.
  std::string line() const;

 private:
  std::map<std::string, std::string> causes_;
  bool said_ = false;
};

/// The number of cases that may still be diagnosed. At most half of them may belong to models with a diagnosis, because
/// rows of one model mostly fail for the same reason.
class DiagnosisBudget {
 public:
  /// `most`: 0 for no limit.
  explicit DiagnosisBudget(int64_t most = 0) : most_(most) {}
  /// Uses one diagnosis of the budget for a case of the model. Returns why that is not allowed; empty if it is.
  std::string take(const std::string& model);
  /// Returns true for the first call, false afterwards.
  bool is_first_refusal() { return !std::exchange(refused_, true); }

 private:
  int64_t most_ = 0, taken_ = 0, further_ = 0;
  bool refused_ = false;
  std::set<std::string> models_{};
};

/// Returns the budget of --torchstone_diagnose_max. The default is 10 unexpected failures, and no limit with
/// --torchstone_diagnose=always.
DiagnosisBudget diagnosis_budget_of(const RunOptions& options);

/// A run of the program. There is one; all tests share it, and it outlives them. A result moves one way: run() makes
/// it, the listener takes and prints it, finish() stores it, and the writers get `results`.
struct Session {
  const flags::Flags& flags;
  const std::vector<Case>& cases;
  const std::vector<suite::Suite>& suites;
  isolate::CaseRunner runner;
  Unwritten unwritten{};
  Origin origin{};  ///< origin of the latest record
  DiagnosisBudget diagnoses{};
  std::function<void(const Result&)> print_row{};  ///< prints a row before its test
  std::map<std::string, Result> unprinted{};       ///< results of tests that have not ended, by name
  std::vector<Result> results{};                   ///< results of the tests that have ended, in this order

  /// Runs cases[index] and returns its result, which take() returns too. Returns nothing if the run was interrupted
  /// before the case began.
  std::optional<Result> run(size_t index);
  /// Returns the result of cases[index] with this outcome, before a diagnosis. `batch`: samples in one call, if known.
  Result result_of(size_t index, Outcome outcome, double seconds, std::optional<int64_t> batch);
  /// Takes (moves out) the result of the named test; empty if there is none.
  std::optional<Result> take(const std::string& name);
  /// Writes the record and prints the row of a case before its test ends: before its diagnosis, or before its test
  /// begins.
  void publish(Result result);
  /// Records a result in the results folder and keeps it for the reports.
  void finish(Result result);
};

/// Returns the indices of the cases in the order of their tests and compiles. Cases without a compile come first, so
/// that there are verdicts while the workers compile. Timed cases come last. For a user's own models, all inference
/// cases precede the training cases.
std::vector<size_t> order_of_tests(const std::vector<Case>& cases, const std::vector<suite::Suite>& suites);

/// Registers a GoogleTest test for every case, under name_of(case), at the line of the suite that declares it. It does
/// so at run time instead of by TEST_P, because suites are data: a new line in one needs no rebuild.
void register_cases(Session& session);

/// Returns the indices of the cases that GoogleTest will run. GoogleTest knows them once a test environment is set up.
std::vector<size_t> selected_cases(const Session& session);

/// Calls `program` with the selected cases instead of running their tests, and ends the process with the exit code that
/// it returns. The code is 3 if GoogleTest selects no case.
[[noreturn]] void run_instead_of_tests(Session& session,
                                       const std::function<int(const std::vector<size_t>& selected)>& program);

/// Writes --torchstone_log_operator_inputs: the operators that the models of the selected cases call, each model once.
void log_operator_inputs(Session& session, const std::vector<size_t>& selected);

/// Returns why the run must not start; empty if it may. It must not if a case needs the compile workers' Python and
/// that is unusable, for example because it has another torch. Such cases could only be skipped or fail.
std::optional<std::string> python_fault(const std::vector<Case>& cases, const std::vector<size_t>& selected,
                                        const RunOptions& options);

/// Tells the runner which cases will run, and starts compiling what they need, in their order, while others run. Each
/// case writes a record when it begins, and when it ends before its test. Call it before the first test.
void plan_cases(Session& session, const std::vector<size_t>& selected);

/// Makes a result the next record of the run.
void stamp(Session& session, Result& result);

/// Returns the row of a case before it ran, as in the plan.
Result row_of(const Case& c, const Session& session);

/// Diagnoses a case that has run, if --torchstone_diagnose asks for it and its backend can compile parts of a program
/// (fixtures/diagnose/diagnose_case.h). Stores the diagnosis, or why none was made, in `result`. Also adds the
/// diagnosis's sentence to the detail of a failure.
void add_diagnosis(Session& session, size_t index, Result& result);

/// Writes and prints the tables of --torchstone_coverage, --torchstone_layer_times and --torchstone_log_conv_args
/// (fixtures/checks/profile/case_profile.h) for a case that has run, whatever its status. The notes `coverage`,
/// `layers` and `conv_args` get the paths of the files, or the reason why a file is missing.
void add_program_tables(Session& session, size_t index, Result& result);

/// Holds the results folder for this run until the process ends, and returns the origin of the run's plan. Removes the
/// files of an earlier run, so that they are not mistaken for reports of this one if it is killed. Files that flags
/// name stay, and so does everything in a folder shared with other processes (a ctest run, other shards). Throws
/// FolderHeld if another run holds the folder, and FolderRefused if it has files that Torchstone did not write.
Origin prepare_results(const flags::Flags& flags, const std::string& run);

/// Makes the folder of --torchstone_save_outputs, with a marker, and checks that the folder of
/// --torchstone_compare_outputs has one. Called before the first case. Throws std::runtime_error for a folder with
/// other files and no marker, for one that cannot be used, and if both are the same folder.
void prepare_outputs(const flags::Flags& flags);

/// Removes the outputs of an earlier run of this case, so that they are not mistaken for its own if it crashes. Call it
/// only for the folder that prepare_outputs() has marked.
void remove_saved_outputs(const flags::Flags& flags, const Case& c);

}  // namespace torchstone
