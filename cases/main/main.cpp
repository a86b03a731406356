// torchstone: the test runner. Parses its own flags, then GoogleTest's. Suite files define the cases.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "cases/main/baseline_gate.h"
#include "cases/main/gtest_flags.h"
#include "cases/main/only_model.h"
#include "cases/main/print_program.h"
#include "cases/main/python_model.h"
#include "cases/main/run_end.h"
#include "cases/main/session.h"
#include "cases/main/tournament_run.h"
#include "cases/selection/expand.h"
#include "cases/selection/listing.h"
#include "cases/selection/tournament_variants.h"
#include "cases/settings/flags.h"
#include "cases/settings/suite.h"
#include "fixtures/checks/case_diagnosis.h"
#include "fixtures/core/run_options.h"
#include "fixtures/core/torch_version.h"
#ifdef TORCHSTONE_HAS_DIAGNOSE
#include "fixtures/diagnose/diagnose_case.h"
#endif
#include "fixtures/isolate/case_server.h"
#include "fixtures/isolate/signals.h"
#include "fixtures/measure/gpus.h"
#include "models/core/registration.h"
#include "models/formats/model_file.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/console/listener.h"
#include "reports/console/progress.h"
#include "reports/record/results_folder/case_records.h"
#include "reports/record/run_facts.h"

namespace torchstone {
namespace {

/// Runs once GoogleTest knows the selected tests. Writes the plan, so that a killed run has a row for every case, and
/// starts compiling ahead.
class Preparation : public testing::Environment {
 public:
  Preparation(Session& session, const RunInfo& run, const judge::Baseline* baseline, std::vector<Result>& planned)
      : session_(session), run_(run), baseline_(baseline), planned_(planned) {}

  void SetUp() override {
    const auto selected = selected_cases(session_);
    planned_.clear();
    for (const size_t index : selected) planned_.push_back(row_of(session_.cases[index], session_));
    if (baseline_ != nullptr) require_baseline();
    if (const auto fault = python_fault(session_.cases, selected, session_.flags.run))
      end_before_cases(session_.flags, run_, ExitCode::infrastructure, *fault);
    session_.unwritten.attempt("the plan", [&] { results_folder::write_plan(session_.flags.run.out, run_, planned_); });
    if (!session_.flags.operator_log.empty()) log_operator_inputs(session_, selected);
    plan_cases(session_, selected);
  }

 private:
  void require_baseline() const try {
    require_matching(*baseline_, planned_);
  } catch (const ReportError& error) {  // otherwise GoogleTest would report a failed test
    end_before_cases(session_.flags, run_, ExitCode::usage_error, error.what());
  }

  Session& session_;
  const RunInfo& run_;
  const judge::Baseline* baseline_;
  std::vector<Result>& planned_;
};

/// Returns the cases that --gtest_filter keeps, over all shards, so that each shard accepts a flag that any needs.
std::vector<Case> cases_in_filter(const std::vector<Case>& cases) {
  std::vector<Case> kept;
  std::ranges::copy_if(cases, std::back_inserter(kept),
                       [](const Case& c) { return filter_keeps(GTEST_FLAG_GET(filter), name_of(c)); });
  return kept;
}

/// Warns about threads that run before the first child process. A fork copies their locks but not the threads.
void warn_of_threads(const flags::Flags& flags) {
  print_error(fmt::format(
      "warning: {} threads run before the first case (plug-ins: {}). A forked process could wait forever for a lock "
      "of theirs. Each case therefore starts the program again, which takes seconds, and nothing is compiled ahead",
      isolate::threads_of_this_process(),
      flags.plugins.empty() ? "none" : fmt::format("{}", fmt::join(flags.plugins, ", "))));
}

/// Throws if a device that a flag names is missing. A missing device in a suite only makes its cases unsupported.
void require_devices(const flags::Flags& flags) {
  auto devices = config::texts_of(flags.axes.devices, &config::Choice<std::string>::value);
  for (const int gpu : flags.gpus) devices.push_back(fmt::format("cuda:{}", gpu));
  const auto reasons = isolate::unusable_devices(devices);
  if (!reasons.empty()) throw std::invalid_argument("--torchstone_devices: " + reasons.front());
}

/// Returns the findings of the comparison that GoogleTest's closing lines should show. Returns none after Ctrl-C,
/// because interrupted cases are not worse.
console::ClosingFindings closing_findings(const Ending& ending) {
  if (isolate::interrupted()) return {};
  console::ClosingFindings found{{}, ending.baseline_fault};
  for (const auto& result : ending.report.results)
    if (result.is_red_by_baseline()) found.red.push_back(result.name);
  return found;
}

int run_tests(Session& session, const ExpectedRun& expected, const BaselineScope& scope, RunInfo& run) {
  const flags::Flags& flags = session.flags;
  if (const auto words = untested_torch_words(); !words.empty()) print_error("warning: " + words);
  for (const auto& warning : expected.warnings) print_error("warning: " + warning);
  if (const auto warning = flags::cache_warning(flags); !warning.empty()) print_error("warning: " + warning);
  if (!flags.unused_twins.empty())
    print_error(fmt::format("note: no case of this run depends on {}", fmt::join(flags.unused_twins, ", ")));
  const auto baseline = read_baseline(flags);  // before the results folder is emptied, which may hold the baseline
  const auto comparison = baseline_options(flags);
  console::ListenerOptions options;
  options.earlier = earlier_durations(flags);
  prepare_outputs(flags);
  session.origin = prepare_results(flags, run.id);
  run.build = build_facts();
  run.tag = without_secret(flags.tag);
  session.diagnoses = diagnosis_budget_of(flags.run);
  if (session.runner.children_restart_program() && flags.run.isolate != Isolation::off) warn_of_threads(flags);
  register_cases(session);
  std::vector<Result> planned;
  testing::AddGlobalTestEnvironment(new Preparation(session, run, baseline ? &*baseline : nullptr, planned));
  isolate::catch_interrupts();

  const ClosingFacts closing{flags,   expected,         baseline ? &*baseline : nullptr, comparison, scope,
                             planned, session.unwritten};
  std::optional<Ending> ending;
  bool failed = false;  // in any repetition
  options.color = settle_color(flags);
  if (output_is_terminal()) options.width = terminal_width;
  console::progress().set_heartbeat(flags.heartbeat_s);
  options.interrupted = isolate::interrupted;
  options.take_result = [&](const std::string& name) { return session.take(name); };
  options.on_result = [&](Result result) { session.finish(std::move(result)); };
  options.findings = [&] {
    failed = failed || testing::UnitTest::GetInstance()->Failed();
    ending = end_run(closing, run, session.results, failed);
    // A later repetition does not undo an earlier finding, as with GoogleTest's own failures.
    for (size_t i = 0; i < session.results.size(); ++i)
      session.results[i].baseline = ending->report.results.at(i).baseline;
    return closing_findings(*ending);
  };
  options.at_end = [&] {
    if (!isolate::interrupted() || GTEST_FLAG_GET(repeat) == 1) return;
    session.runner.end_processes();
    std::exit(close_run(closing, *ending));  // otherwise GoogleTest would start the next repetition
  };
  console::ResultListener& listener = install_listener(options);
  session.print_row = [&](const Result& result) { listener.print_early(result); };
  const bool any_failed = RUN_ALL_TESTS() != 0;
  if (!ending || any_failed != failed) ending = end_run(closing, run, session.results, any_failed);
  return close_run(closing, *ending);
}

/// Registers the models of --torchstone_only that the program lacks: files, models of packages and Python modules.
/// Replaces packages and modules in the flag by the name or file of the registered model. Returns the dtypes of
/// their cases, by model.
std::map<std::string, selection::OwnDtype> register_only_models(flags::Flags& flags) {
  std::map<std::string, selection::OwnDtype> dtypes;
  std::map<std::string, std::string> files;  // by model name
  for (auto& only : flags.only) {
    const std::string given = only.value;
    if (register_python_model(only, flags)) {
      flags.only_models[given] = only.value;
      dtypes[only.value] = {DType::as_written, DType::float32};
      continue;
    }
    const bool of_package = is_named_model(only.value);
    const bool failed = of_package && export_named_model(only, flags);
    flags.only_models[given] = selection::only_model(only.value);
    if (of_package) flags.package_models.insert(selection::only_model(only.value));
    if (failed || !selection::only_is_file(only.value)) continue;
    const auto [named, is_first] = files.try_emplace(formats::model_name_of(only.value), only.value);
    if (!is_first && named->second != only.value)
      fail(only.place, fmt::format("{} and {} both make a model {} (expected files with different names)",
                                   named->second, only.value, named->first));
    if (const auto own = register_own_model(only, flags)) dtypes[selection::only_model(only.value)] = *own;
  }
  return dtypes;
}

int run(int argc, char** argv) {
  RunInfo run_info = begin_run(argc, argv, flags::environment_names());  // before parsing removes flags from argv
  flags::Flags flags = flags::parse_flags(&argc, argv);
  if (flags.version) {
    std::cout << fmt::format("torchstone {} (LibTorch {})\n", version(), build_facts().at("torch"));
    return ExitCode::success;
  }
  for (const auto& warning : flags::environment_warnings()) print_error("warning: " + warning);
#ifdef TORCHSTONE_HAS_DIAGNOSE
  checks::register_diagnosis(diagnose::diagnose_case);
#endif
  if (!flags.help) {
    if (checks::registered_diagnosis() == nullptr) flags::turn_off_diagnosis(flags);
    flags::refuse_flags_without_effect(flags);
    require_shards();
  }
  for (const auto& library : flags.libraries) formats::load_operator_library(library);
  for (const auto& plugin : flags.plugins) load_plugin(plugin);
  if (flags.tournament && !flags.help) selection::select_tournament(flags);
  std::map<std::string, selection::OwnDtype> own_dtypes;
  if (!flags.help) own_dtypes = register_only_models(flags);
  const std::vector<std::string> arguments(argv, argv + argc);
  const bool lists_tests = std::ranges::any_of(
      arguments, [](const std::string& argument) { return argument.starts_with("--gtest_list_tests"); });
  testing::InitGoogleTest(&argc, argv);
  if (flags.help) {
    std::cout << "\n" << flags::flags_help();
    return ExitCode::success;
  }
  if (argc > 1) {
    print_error(fmt::format(
        "torchstone: unknown argument {} (flags are --torchstone_NAME=value and --gtest_NAME=value; see --help)",
        argv[1]));
    return ExitCode::usage_error;
  }
  require_gtest_flags(flags, arguments);
  require_printable(flags);
  auto suites = suite::read_suites(flags.suites_folder);
  prepare_models(suites, flags);
  selection::Known known = selection::known_here();
  known.dtypes = std::move(own_dtypes);
  selection::Expansion expansion = expand(suites, known, flags);
  flags.facts.operator_suites = suite::operator_suites(suites);
  flags::refuse_flags_without_cases(flags, cases_in_filter(expansion.cases));
  const ExpectedRun expected = expect(suites, known, flags, expansion.cases);
  if (flags.list != flags::Listing::none) {
    std::cout << listing::listing(flags, suites, expansion, known, mini_parameters);
    return ExitCode::success;
  }
  require_cases(expansion);
  if (!flags.explain.empty()) {
    std::cout << listing::explanation(expansion.cases, flags.explain);
    return ExitCode::success;
  }
  const auto options = std::make_shared<const RunOptions>(flags.run);
  for (Case& c : expansion.cases) c.run = options;
  if (!lists_tests && isolate::serve_if_child(expansion.cases)) return ExitCode::success;
  Session session{flags, expansion.cases, suites,
                  isolate::CaseRunner(expansion.cases, flags.run, {console::show_progress, console::tick_progress})};
  if (lists_tests) {
    register_cases(session);
    return RUN_ALL_TESTS();
  }
  require_devices(flags);
  measure::choose_gpus(flags.gpus);
  if (flags.print_program) print_programs(session);
  if (flags.tournament) run_tournament(session, run_info);
  const auto scope = flags.baseline.empty() ? BaselineScope() : BaselineScope(flags, suites, expansion);
  return run_tests(session, expected, scope, run_info);
}

}  // namespace
}  // namespace torchstone

int main(int argc, char** argv) {
  try {
    torchstone::open_standard_descriptors();
    return torchstone::run(argc, argv);
  } catch (const torchstone::selection::NothingSelected& e) {
    torchstone::print_error(fmt::format("torchstone: {}", e.what()));
    return torchstone::ExitCode::nothing_judged;
  } catch (const std::exception& e) {
    torchstone::print_error(fmt::format("torchstone: {}", e.what()));
    return torchstone::ExitCode::usage_error;
  }
}
