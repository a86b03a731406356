#pragma once
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torchstone/result.h>

#include "reports/console/progress.h"

namespace torchstone::console {

struct ListenerOptions {
  std::function<void(Result&)> on_result;  ///< for each finished case, after its row was printed; may add to it
  std::function<void()> at_end;  ///< after GoogleTest's closing lines, in each iteration: the place for the reports
  std::function<bool()> interrupted;  ///< from then on tests that are skipped unrecorded are not printed one by one
  bool color = false;
  std::function<size_t()> width;  ///< columns that a row may take; unlimited when empty
  Durations earlier;              ///< of the cases in an earlier run: what the estimate on the terminal is made of
  std::ostream* out = nullptr;    ///< standard output when nullptr
};

/// Builds the Results from the properties that tests recorded, in the order the tests end, and prints one row a test.
/// A test that fails without having recorded anything becomes a Result (fail_to_run) too, and so does one that recorded
/// what was expected but failed a plain assertion: nothing that failed is missing from a report.
class ResultListener : public testing::EmptyTestEventListener {
 public:
  /// `printer` is GoogleTest's own: it still prints the opening and the closing lines. May be nullptr.
  ResultListener(ListenerOptions options, std::unique_ptr<testing::TestEventListener> printer);

  const std::vector<Result>& results() const { return results_; }

  void OnTestIterationStart(const testing::UnitTest& unit_test, int iteration) override;
  void OnTestStart(const testing::TestInfo& info) override;
  void OnTestPartResult(const testing::TestPartResult& part) override;
  void OnTestEnd(const testing::TestInfo& info) override;
  void OnTestIterationEnd(const testing::UnitTest& unit_test, int iteration) override;

 private:
  void print_plain(const testing::TestInfo& info);

  ListenerOptions options_;
  std::ostream& out_;
  std::unique_ptr<testing::TestEventListener> printer_;
  std::vector<Result> results_;
  double started_ = 0;
  bool in_test_ = false;
};

/// Puts one in the place of GoogleTest's printer, which it takes over. After InitGoogleTest. GoogleTest owns it.
ResultListener* install_listener(ListenerOptions options);

}  // namespace torchstone::console
