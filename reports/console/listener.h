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

/// Findings at the end of a run, such as those of a comparison with a baseline. They have not failed any test.
struct ClosingFindings {
  std::vector<std::string> red;  ///< names of tests to print as failed
  std::string why;               ///< why the run failed; empty if it did not
};

struct ListenerOptions {
  /// Takes (moves out) the result of the named test, which has just ended. Empty for a test without a result.
  std::function<std::optional<Result>(const std::string&)> take_result;
  std::function<void(Result)> on_result;      ///< for each finished case, after its row was printed
  std::function<ClosingFindings()> findings;  ///< called in each iteration before GoogleTest's closing lines
  std::function<void()> at_end;               ///< called after these lines
  std::function<bool()> interrupted;          ///< if true, skipped tests without a result are not printed
  bool color = false;
  std::function<size_t()> width;  ///< columns that a row may take; unlimited when empty
  Durations earlier;              ///< durations of an earlier run, for the estimate on the terminal
  std::ostream* out = nullptr;    ///< standard output when nullptr
};

/// Prints one row per test, from the result that the test produced, and passes the result on. Every failed test is in
/// the reports. A test that fails without a result gets one (fail_to_run). So does a test that failed a plain assertion
/// although its result is as expected.
class ResultListener : public testing::EmptyTestEventListener {
 public:
  /// `printer` is GoogleTest's own: it still prints the opening lines, and the closing lines unless there are findings.
  /// May be nullptr.
  ResultListener(ListenerOptions options, std::unique_ptr<testing::TestEventListener> printer);

  /// Prints the row of a case before its test ends. The end of the test does not print the same row again. If the row
  /// has more lines by then and is still the latest one, only these lines are printed.
  void print_early(const Result& result);

  void OnTestIterationStart(const testing::UnitTest& unit_test, int iteration) override;
  void OnTestStart(const testing::TestInfo& info) override;
  void OnTestPartResult(const testing::TestPartResult& part) override;
  void OnTestEnd(const testing::TestInfo& info) override;
  void OnTestIterationEnd(const testing::UnitTest& unit_test, int iteration) override;

 private:
  void print_plain(const testing::TestInfo& info);
  /// Prints GoogleTest's closing lines, with the tests in ClosingFindings::red counted as failed.
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
