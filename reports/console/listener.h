#pragma once
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torchstone/result.h>

#include "reports/console/progress.h"

namespace torchstone::console {

/// Findings at the end of a run, such as those of a comparison with a baseline. No test has failed for them.
struct ClosingFindings {
  std::vector<std::string> red;  ///< names of tests that are red all the same
  std::string why;               ///< why the run is; empty: it is not
};

struct ListenerOptions {
  /// Takes the result of the test of this name that has just ended. Empty for a test without one.
  std::function<std::optional<Result>(const std::string&)> take_result;
  std::function<void(Result)> on_result;      ///< for each finished case, after its row was printed
  std::function<ClosingFindings()> findings;  ///< before GoogleTest's closing lines, in each iteration
  std::function<void()> at_end;               ///< after them
  std::function<bool()> interrupted;          ///< from then on skipped tests without a result are not printed
  bool color = false;
  std::function<size_t()> width;  ///< columns that a row may take; unlimited when empty
  Durations earlier;              ///< of the cases in an earlier run, for the estimate on the terminal
  std::ostream* out = nullptr;    ///< standard output when nullptr
};

/// Prints one row per test, from the result that the test produced, and hands the result on. Nothing that failed is
/// missing from a report. A test that fails without a result becomes a Result (fail_to_run). So does a test whose
/// result is as expected but that failed a plain assertion.
class ResultListener : public testing::EmptyTestEventListener {
 public:
  /// `printer` is GoogleTest's own: it still prints the opening lines, and the closing lines unless there are findings.
  /// May be nullptr.
  ResultListener(ListenerOptions options, std::unique_ptr<testing::TestEventListener> printer);

  /// Prints the row of a case before its test ends. The test does not print the same row again. If the row has
  /// further lines by then and is still the latest one, the test prints these lines alone.
  void print_early(const Result& result);

  void OnTestIterationStart(const testing::UnitTest& unit_test, int iteration) override;
  void OnTestStart(const testing::TestInfo& info) override;
  void OnTestPartResult(const testing::TestPartResult& part) override;
  void OnTestEnd(const testing::TestInfo& info) override;
  void OnTestIterationEnd(const testing::UnitTest& unit_test, int iteration) override;

 private:
  void print_plain(const testing::TestInfo& info);
  /// Prints GoogleTest's closing lines, in which tests that the findings make red have failed.
  void print_closing(const testing::UnitTest& unit_test, const ClosingFindings& found);
  /// Prints the row of a result, unless it was printed early, and returns it.
  std::string print_row(const Result& result);

  ListenerOptions options_;
  std::ostream& out_;
  std::unique_ptr<testing::TestEventListener> printer_;
  double started_ = 0;
  bool in_test_ = false;
  std::map<std::string, std::string> printed_early_;  ///< rows by the name of the test
  std::string latest_;                                ///< name of the row that was printed last
};

/// Replaces GoogleTest's printer by a listener, which takes it over. Call it after InitGoogleTest. GoogleTest owns the
/// listener.
ResultListener& install_listener(ListenerOptions options);

}  // namespace torchstone::console
