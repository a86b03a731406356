#include "reports/console/listener.h"

#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/base/time.h"
#include "reports/record/verdict.h"

namespace torchstone::console {
namespace {

std::string full_name(const testing::TestInfo& info) { return std::string(info.test_suite_name()) + "." + info.name(); }

std::vector<std::string> selected_names(const testing::UnitTest& unit_test) {
  std::vector<std::string> names;
  for (int s = 0; s < unit_test.total_test_suite_count(); ++s) {
    const auto& suite = *unit_test.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t)
      if (suite.GetTestInfo(t)->should_run()) names.push_back(full_name(*suite.GetTestInfo(t)));
  }
  return names;
}

/// Returns the texts of all failed assertions with their places, or the skip message when nothing failed.
std::string messages_of(const testing::TestResult& result) {
  std::string text;
  for (int i = 0; i < result.total_part_count(); ++i) {
    const auto& part = result.GetTestPartResult(i);
    if (!part.failed() && !(part.skipped() && !result.Failed())) continue;
    if (part.failed() && part.file_name() != nullptr)
      text += fmt::format("{}:{}: ", part.file_name(), part.line_number());
    text += std::string(part.message()) + "\n";
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// Fails a result because a plain assertion of the test failed, although its check did not.
void turn_red(Result& result, const std::string& why, const std::string& messages) {
  result.outcome.status = Status::fail_to_run;
  result.outcome.reason = why + first_line(messages);
  result.outcome.detail += (result.outcome.detail.empty() ? "" : "\n") + messages;
  result.expected = "pass";
}

std::string counted_tests(size_t count) { return fmt::format("{} test{}", count, count == 1 ? "" : "s"); }

std::string indented(const std::string& text) { return "    " + substituted(terminal_text(text), {{'\n', "\n    "}}); }

}  // namespace

ResultListener::ResultListener(ListenerOptions options, std::unique_ptr<testing::TestEventListener> printer)
    : options_(std::move(options)), out_(options_.out ? *options_.out : std::cout), printer_(std::move(printer)) {}

void ResultListener::OnTestIterationStart(const testing::UnitTest& unit_test, int iteration) {
  progress().expect(selected_names(unit_test), options_.earlier);
  if (printer_) printer_->OnTestIterationStart(unit_test, iteration);
}

void ResultListener::OnTestStart(const testing::TestInfo& info) {
  started_ = steady_seconds();
  in_test_ = true;
  progress().begin(full_name(info));
}

void ResultListener::OnTestPartResult(const testing::TestPartResult& part) {
  // Failures inside a test are printed with its row. Failures in a set-up have no row and are printed here. Do not ask
  // GoogleTest for the current test: it reports failures while it holds its own mutex, so the call would deadlock.
  if (in_test_ || !printer_) return;
  clear_progress();
  printer_->OnTestPartResult(part);
}

void ResultListener::print_plain(const testing::TestInfo& info) {
  const auto& result = *info.result();
  if (GTEST_FLAG_GET(brief) && !result.Failed()) return;
  latest_.clear();
  const auto [word, color] = result.Failed()    ? std::pair{"FAIL", Color::red}
                             : result.Skipped() ? std::pair{"SKIP", Color::cyan}
                                                : std::pair{"PASS", Color::green};
  const char mark = result.Failed() ? '!' : result.Skipped() ? 'x' : ' ';
  out_ << colored(fmt::format("[{:^8}]", word), color, options_.color) << ' ' << mark << ' '
       << terminal_line(full_name(info)) << "  " << result.elapsed_time() << " ms\n";
  if (const std::string messages = messages_of(result); !messages.empty()) out_ << indented(messages) << '\n';
  out_ << std::flush;
}

std::string ResultListener::print_row(const Result& result) {
  std::string row = console_row(result, options_.color, options_.width ? options_.width() : 0);
  const auto early = printed_early_.extract(result.name);
  if (!early.empty() && early.mapped() == row) return row;
  const std::string before = early.empty() || latest_ != result.name ? "" : early.mapped() + '\n';
  out_ << (row.starts_with(before) ? row.substr(before.size()) : row) << '\n';
  latest_ = result.name;
  return row;
}

void ResultListener::print_early(const Result& result) {
  if (GTEST_FLAG_GET(brief)) return;
  clear_progress();
  printed_early_[result.name] = print_row(result);
  out_ << std::flush;
}

void ResultListener::OnTestEnd(const testing::TestInfo& info) {
  in_test_ = false;
  clear_progress();
  const auto& test = *info.result();
  std::optional<Result> produced = options_.take_result ? options_.take_result(full_name(info)) : std::nullopt;
  const bool recorded = produced.has_value();
  const bool not_begun = !recorded && test.Skipped() && options_.interrupted && options_.interrupted();
  if (!recorded && !not_begun) print_plain(info);
  if (!recorded && !test.Failed()) return;

  Result result = recorded ? std::move(*produced) : Result();
  if (!recorded) result.name = full_name(info);
  const std::string messages = messages_of(test);
  if (test.Failed() && (!recorded || result.as_expected())) {
    turn_red(result, recorded ? "failed assertion: " : "failed before it recorded anything: ", messages);
  }
  if (result.file.empty() && info.file() != nullptr) {
    result.file = info.file();
    result.line = info.line();
  }
  if (result.duration_s == 0) result.duration_s = steady_seconds() - started_;
  if (result.recorded.empty()) result.recorded = utc_now();
  if (recorded && !(GTEST_FLAG_GET(brief) && result.as_expected())) {
    print_row(result);
    if (result.outcome.detail == messages && !messages.empty()) out_ << indented(messages) << '\n';
    out_ << std::flush;
  }
  if (options_.on_result) options_.on_result(std::move(result));
}

void ResultListener::print_closing(const testing::UnitTest& unit_test, const ClosingFindings& found) {
  std::vector<std::string> failed, skipped;
  size_t passed = 0;
  for (int s = 0; s < unit_test.total_test_suite_count(); ++s) {
    const auto& suite = *unit_test.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const testing::TestInfo& test = *suite.GetTestInfo(t);
      if (!test.should_run()) continue;
      if (test.result()->Failed() || std::ranges::find(found.red, full_name(test)) != found.red.end())
        failed.push_back(full_name(test));
      else if (test.result()->Skipped())
        skipped.push_back(full_name(test));
      else
        ++passed;
    }
  }
  const auto head = [&](const char* word, Color color) { return colored(word, color, options_.color); };
  const auto list = [&](const std::vector<std::string>& names, const std::string& mark) {
    if (names.empty()) return;
    out_ << mark << ' ' << counted_tests(names.size()) << ", listed below:\n";
    for (const auto& name : names) out_ << mark << ' ' << terminal_line(name) << '\n';
  };
  const int suites = unit_test.test_suite_to_run_count();
  out_ << head("[==========]", Color::green) << ' '
       << fmt::format("{} from {} test suite{} ran.", counted_tests(failed.size() + skipped.size() + passed), suites,
                      suites == 1 ? "" : "s");
  if (GTEST_FLAG_GET(print_time)) out_ << fmt::format(" ({} ms total)", unit_test.elapsed_time());
  out_ << '\n' << head("[  PASSED  ]", Color::green) << ' ' << counted_tests(passed) << ".\n";
  list(skipped, head("[  SKIPPED ]", Color::green));
  list(failed, head("[  FAILED  ]", Color::red));
  if (!found.why.empty())
    out_ << head("[  FAILED  ]", Color::red) << " against the baseline: " << terminal_line(found.why) << '\n';
  if (!failed.empty()) out_ << fmt::format("\n{:2} FAILED {}\n", failed.size(), failed.size() == 1 ? "TEST" : "TESTS");
  out_ << std::flush;
}

void ResultListener::OnTestIterationEnd(const testing::UnitTest& unit_test, int iteration) {
  clear_progress();
  out_ << std::flush;
  const ClosingFindings found = options_.findings ? options_.findings() : ClosingFindings();
  if (!found.red.empty() || !found.why.empty())
    print_closing(unit_test, found);
  else if (printer_)
    printer_->OnTestIterationEnd(unit_test, iteration);
  if (options_.at_end) options_.at_end();
}

ResultListener& install_listener(ListenerOptions options) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  std::unique_ptr<testing::TestEventListener> printer(listeners.Release(listeners.default_result_printer()));
  auto* listener = new ResultListener(std::move(options), std::move(printer));
  listeners.Append(listener);
  return *listener;
}

}  // namespace torchstone::console
