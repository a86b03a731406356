#include "cases/main/session.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <numeric>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <torchstone/model_info.h>

#include "cases/selection/expected_status.h"
#include "cases/settings/policy.h"
#include "fixtures/backends/catalogue.h"
#include "fixtures/compile/artifact.h"
#include "fixtures/core/case.h"
#include "fixtures/core/check_registry.h"
#include "fixtures/core/limits.h"
#include "fixtures/isolate/signals.h"
#include "reports/base/files.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/console/progress.h"
#include "reports/record/results_folder/case_records.h"
#include "reports/record/results_folder/side_files.h"
#include "reports/record/summary.h"
#include "reports/record/verdict.h"

namespace torchstone {

void Unwritten::attempt(const std::string& what, const std::function<void()>& write) {
  try {
    write();
    causes_.erase(what);
  } catch (const std::system_error& error) {  // std::filesystem::filesystem_error too
    causes_[what] = error.what();
    if (std::exchange(said_, true)) return;
    console::clear_progress();
    std::cerr << fmt::format("warning: {}: {}: the run goes on, and its results are kept in memory\n", what,
                             printable(error.what()));
  }
}

std::string Unwritten::line() const {
  constexpr size_t most = 3;
  std::vector<std::string> names;
  for (const auto& [what, cause] : causes_)
    if (names.size() < most) names.push_back(printable(what));
  const std::string more = causes_.size() > most ? fmt::format(" and {} more", causes_.size() - most) : "";
  const std::string cause = causes_.empty() ? "" : printable(causes_.begin()->second);
  return fmt::format("{} {} could not be written: {}{} ({})", causes_.size(),
                     causes_.size() == 1 ? "record" : "records", fmt::join(names, ", "), more, cause);
}

std::optional<Result> Session::run(size_t index) {
  const Case& c = cases[index];
  const std::string name = short_name(name_of(c));
  if (!isolate::interrupted())
    runner.prepare(index, [&](const std::string& what) { console::show_progress(name, what); });
  if (isolate::interrupted() && !runner.has_begun(index)) return std::nullopt;
  console::show_progress(name, "start");
  Outcome outcome = runner.run(index, [&](std::string_view phase) { console::show_progress(name, phase); });
  Result result = result_of(index, std::move(outcome), runner.seconds(), runner.batch_size());
  add_diagnosis(*this, index, result);
  add_program_tables(*this, index, result);
  unprinted[result.name] = result;
  return result;
}

Result Session::result_of(size_t index, Outcome outcome, double seconds, std::optional<int64_t> batch) {
  const Case& c = cases[index];
  Result result = row_of(c, *this);
  result.outcome = judge_limits(c, std::move(outcome));
  result.duration_s = seconds;
  if (batch) result.batch_size = *batch;  // the size that ran, which may differ from the requested one
  if (flags.update_expected && expected_status::can_be_expected(result.outcome) && !result.as_expected()) {
    result.expected = to_string(result.outcome.status);  // the updated file will expect this status
    result.max_error.reset();
  } else {
    expected_status::note_expectation(c, result);
  }
  return result;
}

std::optional<Result> Session::take(const std::string& name) {
  auto found = unprinted.extract(name);
  return found.empty() ? std::nullopt : std::optional(std::move(found.mapped()));
}

void Session::publish(Result result) {
  stamp(*this, result);
  unwritten.attempt(result.name, [&] { results_folder::write_case(flags.run.out, result); });
  if (print_row) print_row(result);
}

void Session::finish(Result result) {
  stamp(*this, result);
  unwritten.attempt(result.name, [&] {
    results_folder::write_case(flags.run.out, result);
    if (flags.run.npy) results_folder::write_samples(flags.run.out, result);
  });
  results.push_back(std::move(result));
}

namespace {

/// One case as a GoogleTest test. The session returns a value; only the test asserts.
class CaseTest : public testing::Test {
 public:
  CaseTest(Session& session, size_t index) : session_(session), index_(index) {}

  void TestBody() override {
    const std::optional<Result> result = session_.run(index_);
    if (!result) GTEST_SKIP() << "interrupted before it began";
    // Records a few values as properties, for IDEs and GoogleTest's own XML.
    const auto record = [](const std::string& key, const std::string& value) { RecordProperty(key, printable(value)); };
    record("accuracy", std::string(to_string(result->outcome.status)));
    record("verdict", std::string(verdict_of(*result).word));
    if (const std::string reason = first_line(reason_of(*result)); !reason.empty()) record("reason", reason);
    record("duration_s", exact(result->duration_s));
    for (const char* key : {"error_of_limit", "speedup", "speedup_low", "speedup_high", "compile_s"})
      if (const auto value = metric_of(*result, key)) record(key, exact(*value));
    const std::string verdict = fmt::format("{}: {}", to_string(result->outcome.status), result->outcome.reason);
    if (is_skipped(*result)) GTEST_SKIP() << verdict;
    EXPECT_TRUE(result->as_expected()) << verdict << "\n" << result->outcome.detail;
  }

 private:
  Session& session_;
  size_t index_;
};

/// Writes the record of a case that has begun, so that a case cannot vanish.
void record_begin(Session& session, size_t index) {
  const Case& c = session.cases[index];
  Result result = row_of(c, session);
  stamp(session, result);
  result.finished = false;
  const std::filesystem::path out = session.flags.run.out;
  session.unwritten.attempt(result.name, [&] {
    results_folder::remove_side_files(out, result.name);
    remove_saved_outputs(session.flags, c);
    results_folder::write_case(out, result);
  });
  session.unwritten.attempt("logs", [&] { std::filesystem::create_directories(out / "logs"); });
}

/// Returns the file that declares the case. Empty for a Python model that a flag names by its module or package.
std::string declared_file(const Case& c) {
  const ModelInfo* info = find_model(c.model);
  return info != nullptr && !info->python.empty() && c.file == info->python ? "" : c.file;
}

}  // namespace

// GoogleTest runs suites in the order of their first test. Since 1.14 it sorts the tests of a suite by file and line,
// so cases are registered in that order there, which selected_cases() relies on.
std::vector<size_t> order_of_tests(const std::vector<Case>& cases, const std::vector<suite::Suite>& suites) {
  const auto is_own = [&](const Case& c) {
    const auto found = std::ranges::find(suites, c.suite, &suite::Suite::name);
    return found != suites.end() && (found->own_files || found->own_modules);
  };
  std::vector<size_t> order(cases.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](size_t i) {
    const Case& c = cases[i];
    const auto place = TORCHSTONE_GTEST_ORDERS_BY_PLACE ? std::pair(c.file, c.line) : std::pair(std::string(), 0);
    return std::tuple(check_info(c).timed, place, !isolate::program_of(c).empty(),
                      is_own(c) && c.mode == Mode::training);
  });
  return order;
}

void register_cases(Session& session) {
  for (const size_t i : order_of_tests(session.cases, session.suites)) {
    const Case& c = session.cases[i];
    testing::RegisterTest(suite_name_of(c).c_str(), test_name_of(c).c_str(), nullptr, nullptr, c.file.c_str(), c.line,
                          [&session, i]() -> CaseTest* { return new CaseTest(session, i); });
  }
}

std::vector<size_t> selected_cases(const Session& session) {
  std::unordered_map<std::string, size_t> index_of;
  for (size_t i = 0; i < session.cases.size(); ++i) index_of[name_of(session.cases[i])] = i;
  std::vector<size_t> selected;
  const auto& unit_test = *testing::UnitTest::GetInstance();
  for (int s = 0; s < unit_test.total_test_suite_count(); ++s) {
    const auto& suite = *unit_test.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const auto& test = *suite.GetTestInfo(t);
      const auto found = index_of.find(fmt::format("{}.{}", suite.name(), test.name()));
      if (test.should_run() && found != index_of.end()) selected.push_back(found->second);
    }
  }
  return selected;
}

namespace {

/// Runs `program` in a test environment's SetUp(), when GoogleTest has applied its filter and shards.
class InsteadOfTests : public testing::Environment {
 public:
  explicit InsteadOfTests(std::function<int()> program) : program_(std::move(program)) {}
  void SetUp() override { std::exit(program_()); }

 private:
  std::function<int()> program_;
};

}  // namespace

void run_instead_of_tests(Session& session, const std::function<int(const std::vector<size_t>& selected)>& program) {
  register_cases(session);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  testing::AddGlobalTestEnvironment(new InsteadOfTests([&] { return program(selected_cases(session)); }));
  isolate::catch_interrupts();
  [[maybe_unused]] const int failed = RUN_ALL_TESTS();  // returns only if nothing is selected
  print_error(fmt::format("torchstone: nothing selected: no case matches --gtest_filter={}", GTEST_FLAG_GET(filter)));
  std::exit(ExitCode::nothing_judged);
}

namespace {

/// Whether cases must not begin before their tests, because GoogleTest may stop after a failure, shuffles or repeats.
bool runs_in_order_of_tests() {
  return GTEST_FLAG_GET(fail_fast) || GTEST_FLAG_GET(shuffle) || GTEST_FLAG_GET(repeat) != 1;
}

}  // namespace

void plan_cases(Session& session, const std::vector<size_t>& selected) {
  session.runner.plan(
      selected, {.begins = [&session](size_t index) { record_begin(session, index); },
                 .ends_early =
                     [&session](size_t index, const Outcome& outcome, double seconds, std::optional<int64_t> batch) {
                       session.publish(session.result_of(index, outcome, seconds, batch));
                     },
                 .says =
                     [](const std::string& line) {
                       console::clear_progress();
                       print_error(line);
                     },
                 .one_at_a_time = runs_in_order_of_tests()});
  session.runner.start_workers(selected);
  // A single case compiles in its own process, because compiling ahead would capture the program twice. Warm starts are
  // an exception: they need the package before the case starts.
  const auto starts_warm = [&](size_t i) {
    return check_info(session.cases[i]).timed && session.cases[i].warm_start_latency;
  };
  if (selected.size() < 2 && std::ranges::none_of(selected, starts_warm)) return;
  session.runner.compile_ahead(selected);
}

std::optional<std::string> python_fault(const std::vector<Case>& cases, const std::vector<size_t>& selected,
                                        const RunOptions& options) {
  if (std::ranges::none_of(selected, [&](size_t i) { return compiles_in_python(cases[i]); })) return std::nullopt;
  const auto wrong = compile::wrong_python(options);
  if (!wrong) return std::nullopt;
  return fmt::format("the Python of the compile workers does not fit: {}", *wrong);
}

void log_operator_inputs(Session& session, const std::vector<size_t>& selected) {
  console::progress().begin();
  const std::string log =
      session.runner.record_operators(selected, [](const std::string& what) { console::show_progress(what); });
  console::clear_progress();
  session.unwritten.attempt("the log of operators", [&] { write_atomically(session.flags.operator_log, log); });
}

void stamp(Session& session, Result& result) {
  ++session.origin.sequence;
  result.origin = session.origin;
}

Result row_of(const Case& c, const Session& session) {
  Result result;
  result.name = name_of(c);
  result.suite = c.suite;
  result.model = c.model;
  result.check = c.check;
  result.mode = to_string(c.mode);
  result.dtype = to_string(c.dtype);
  result.device = c.device;
  result.backend = label_of(c.backend);
  result.preset = to_string(c.preset);
  result.dynamic = to_string(c.dynamic);
  result.batch_size = known_batch(c).value_or(0);  // if unknown, the module's process reports it
  result.expected = to_string(c.expected_status);
  result.max_error = c.max_error;
  result.file = declared_file(c);
  result.line = c.line;
  result.reproduce = reproduce_line(session.flags, c);
  result.origin = session.origin;
  result.origin.sequence = 0;
  const auto own = std::ranges::find(session.suites, c.suite, &suite::Suite::name);
  if (own == session.suites.end()) return result;
  result.own_model = own->own_files || own->own_modules;
  if (result.own_model && !session.flags.package_models.contains(c.model)) result.preset.clear();  // has one size
  const ModelInfo* info = find_model(c.model);
  const std::string& listed = info ? policy::name_in_lists(*info) : c.model;
  const policy::Policy& policy = info ? own->policy_of(*info) : own->policy;
  const std::string& upstream = policy.upstream_name(listed);
  if (upstream != c.model) result.upstream_name = upstream;
  return result;
}

}  // namespace torchstone
