#include "cases/main/print_program.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cases/listing/programs.h"
#include "fixtures/core/private_folders.h"
#include "fixtures/isolate/signals.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/record/summary.h"

namespace torchstone {
namespace {

/// Results are not touched: the logs of the processes lie elsewhere.
class LogFolder {
 public:
  LogFolder() : folder_(make_held_folder("torchstone-programs")) { run_options().out = folder_.path.string(); }
  ~LogFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_.path, ignored);
  }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;

 private:
  HeldFolder folder_;
};

listing::ListedProgram listed(Session& session, const std::vector<size_t>& group) {
  listing::ListedProgram program;
  for (const size_t index : group) program.cases.push_back(name_of(session.cases[index]));
  auto captured = session.runner.describe(group.front(), [](std::string_view) {});
  program.failure = std::move(captured.failure);
  if (!program.failure) program.description = nlohmann::json::parse(captured.description);
  return program;
}

/// The row that a run would have. Where some case of the group expects the failure, it is as expected.
Result row_of_program(const listing::ListedProgram& program, const std::vector<size_t>& group, const Session& session) {
  Result result = row_of(session.cases[group.front()], session);
  result.outcome.status = Status::pass;
  if (program.failure) result.outcome = *program.failure;
  if (!program.failure) result.expected = "pass";
  for (const size_t index : group)
    if (program.failure && session.cases[index].expected_status == program.failure->status)
      result.expected = to_string(program.failure->status);
  return result;
}

int print_selected(Session& session, const std::vector<size_t>& selected) {
  const LogFolder logs;
  const bool as_json = session.flags.format == flags::Format::json;
  std::vector<Result> rows;
  auto list = nlohmann::ordered_json::array();
  for (const auto& group : listing::groups_with_one_program(session.cases, selected)) {
    if (isolate::interrupted()) break;
    const auto program = listed(session, group);
    rows.push_back(row_of_program(program, group, session));
    if (as_json)
      list.push_back(to_json(program));
    else
      print_text(fmt::format("{}{}", rows.size() == 1 ? "" : "\n", to_text(program)));
  }
  session.runner.end_processes();
  if (as_json) std::cout << printable_json(list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)) << "\n";
  std::cout << std::flush;
  if (isolate::interrupted()) return ExitCode::interrupted;
  const int code = exit_code_of(rows, session.flags.strict_undecided);
  if (code == ExitCode::nothing_judged) print_error("torchstone: " + nothing_judged_words(rows));
  return code;
}

/// GoogleTest knows what its filter and shards leave once a test environment is set up.
class Printing : public testing::Environment {
 public:
  explicit Printing(Session& session) : session_(session) {}
  void SetUp() override { std::exit(print_selected(session_, selected_cases(session_))); }

 private:
  Session& session_;
};

}  // namespace

void require_printable(const flags::Flags& flags) {
  if (!flags.print_program) return;
  if (flags.list != flags::Listing::none || !flags.explain.empty())
    throw config::ConfigError(
        "--torchstone_print_program goes with neither --torchstone_list nor --torchstone_explain");
  if (flags.format != flags::Format::text && flags.format != flags::Format::json)
    throw config::ConfigError("--torchstone_print_program is printed as text or json (--torchstone_format)");
}

void print_programs(Session& session) {
  register_cases(session);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  testing::AddGlobalTestEnvironment(new Printing(session));
  isolate::catch_interrupts();
  [[maybe_unused]] const int failed = RUN_ALL_TESTS();  // comes back where nothing is selected
  print_error(fmt::format("torchstone: nothing selected: no case matches --gtest_filter={}", GTEST_FLAG_GET(filter)));
  std::exit(ExitCode::nothing_judged);
}

}  // namespace torchstone
