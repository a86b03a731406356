#include "cases/main/print_program.h"

#include <filesystem>
#include <iostream>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fixtures/capture/neutral_program.h"
#include "fixtures/core/private_folders.h"
#include "fixtures/isolate/signals.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/console/progress.h"
#include "reports/record/summary.h"

namespace torchstone::listing {
namespace {

/// Returns everything that a captured program depends on.
std::string subject_of(const Case& c) {
  return nlohmann::json{c.model,         to_string(c.mode),   to_string(c.dtype), static_cast<int>(c.amp_dtype),
                        c.device,        to_string(c.preset), c.batch_size,       c.weights,
                        c.channels_last, c.eval_in_training,  c.loss_divisor,     c.seed}
      .dump();
}

}  // namespace

std::vector<std::vector<size_t>> groups_with_one_program(const std::vector<Case>& cases,
                                                         const std::vector<size_t>& selected) {
  std::map<std::string, size_t> group_of;
  std::vector<std::vector<size_t>> groups;
  for (const size_t index : selected) {
    const auto [place, is_new] = group_of.try_emplace(subject_of(cases.at(index)), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(index);
  }
  return groups;
}

std::string to_text(const ListedProgram& program) {
  std::string text;
  for (const auto& name : program.cases) text += fmt::format("# {}\n", name);
  if (!program.failure) return text + capture::program_text(program.description);
  const Outcome& failure = *program.failure;
  text += fmt::format("{}: {}\n", to_string(failure.status), failure.reason);
  if (!failure.detail.empty()) text += failure.detail + (failure.detail.ends_with('\n') ? "" : "\n");
  return text;
}

nlohmann::ordered_json to_json(const ListedProgram& program) {
  nlohmann::ordered_json one{{"cases", program.cases}};
  if (!program.failure) {
    one["program"] = program.description;
    return one;
  }
  one["status"] = to_string(program.failure->status);
  one["reason"] = program.failure->reason;
  one["phase"] = program.failure->phase;
  one["detail"] = program.failure->detail;
  return one;
}

}  // namespace torchstone::listing

namespace torchstone {
namespace {

/// A temporary folder for the logs of the processes, so that the results folder stays unchanged.
class LogFolder {
 public:
  LogFolder() : folder_(make_held_folder("torchstone-programs")) {}
  ~LogFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_.path, ignored);
  }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;
  std::string path() const { return folder_.path.string(); }

 private:
  HeldFolder folder_;
};

listing::ListedProgram listed(const Session& session, isolate::CaseRunner& runner, const std::vector<size_t>& group) {
  listing::ListedProgram program;
  for (const size_t index : group) program.cases.push_back(name_of(session.cases[index]));
  auto captured = runner.describe(group.front(), [](std::string_view) {});
  program.failure = std::move(captured.failure);
  if (!program.failure) program.description = nlohmann::json::parse(captured.description);
  return program;
}

/// Returns the result that a run would have. If any case of the group expects the failure, the result is as expected.
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

int print_selected(const Session& session, const std::vector<size_t>& selected) {
  const LogFolder logs;
  RunOptions options = session.flags.run;
  options.out = logs.path();
  isolate::CaseRunner runner(session.cases, options, {console::show_progress, console::tick_progress});
  const bool as_json = session.flags.format == flags::Format::json;
  std::vector<Result> rows;
  auto list = nlohmann::ordered_json::array();
  for (const auto& group : listing::groups_with_one_program(session.cases, selected)) {
    if (isolate::interrupted()) break;
    const auto program = listed(session, runner, group);
    rows.push_back(row_of_program(program, group, session));
    if (as_json)
      list.push_back(to_json(program));
    else
      print_text(fmt::format("{}{}", rows.size() == 1 ? "" : "\n", to_text(program)));
  }
  runner.end_processes();
  if (as_json) std::cout << printable_json(list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)) << "\n";
  std::cout << std::flush;
  if (isolate::interrupted()) return ExitCode::interrupted;
  const int code = exit_code_of(rows, session.flags.strict_undecided);
  if (code == ExitCode::nothing_judged) print_error("torchstone: " + nothing_judged_words(rows));
  return code;
}

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
  run_instead_of_tests(session, [&](const std::vector<size_t>& selected) { return print_selected(session, selected); });
}

}  // namespace torchstone
