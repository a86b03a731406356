// torchstone: the test runner. Own flags first, then GoogleTest's; what it runs comes from the suites.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cases/checks.h"
#include "cases/expand.h"
#include "cases/flags.h"
#include "cases/listing.h"
#include "cases/own_model.h"
#include "fixtures/build_facts.h"
#include "fixtures/isolate/interrupt.h"
#include "models/plugin.h"
#include "reports/files.h"
#include "reports/listener.h"
#include "reports/progress.h"
#include "reports/side_files.h"
#include "reports/summary.h"
#include "reports/terminal.h"

namespace torchstone {
namespace {

constexpr int usage_error = 2, nothing_selected = 3, infrastructure = 4;

/// Compiles ahead, when GoogleTest knows what is selected.
class CompileAhead : public testing::Environment {
 public:
  explicit CompileAhead(Session& session) : session_(session) {}
  void SetUp() override { compile_selected(session_); }

 private:
  Session& session_;
};

/// The results folder, empty of an earlier run's cases; one shared with other processes (a ctest run) is left as it is.
void prepare_results(const Flags& flags) {
  const std::filesystem::path out = flags.run.out;
  if (flags.report) std::filesystem::remove_all(out / "cases");
  std::filesystem::create_directories(out / "cases");
  std::filesystem::create_directories(out / "logs");
  write_atomically(out / "cases" / ".writable", "");  // said now, not after the first hour
  std::filesystem::remove(out / "cases" / ".writable");
}

bool wants_list(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]).starts_with("--gtest_list_tests")) return true;
  return false;
}

int run_tests(const Flags& flags, const std::vector<Case>& cases, RunInfo& run) {
  prepare_results(flags);
  run_options() = flags.run;
  run.build = build_facts();
  Session session{flags, cases, CaseRunner(cases)};
  register_cases(session);
  testing::AddGlobalTestEnvironment(new CompileAhead(session));
  catch_interrupts();

  ResultListener* listener = nullptr;
  ListenerOptions options;
  options.color = use_color(*parse_color(flags.color));
  options.on_result = [&](const Result& result) {
    write_case(flags.run.out, result);
    if (flags.run.npy) write_samples(flags.run.out, result);
  };
  options.before_closing = [&] {
    if (!flags.report || listener->results().empty()) return;
    run.exit_reason = interrupted() ? "interrupted" : "finished";
    run.duration_s = testing::UnitTest::GetInstance()->elapsed_time() / 1e3;
    const auto paths = write_reports(listener->results(), run, flags.run.out, JUnitOptions{flags.junit_properties});
    std::cout << write_summary(listener->results(), run, paths) << std::flush;
  };
  listener = install_listener(options);
  const int failed = RUN_ALL_TESTS();
  if (interrupted()) return 130;
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::cerr << "torchstone: nothing selected: no case matches --gtest_filter=" << testing::GTEST_FLAG(filter) << "\n";
    return nothing_selected;
  }
  const int code = exit_code_of(listener->results(), flags.strict_undecided);
  return code == 0 && failed != 0 ? 1 : code;
}

int run(int argc, char** argv) {
  Flags flags = parse_flags(&argc, argv);
  for (const auto& plugin : flags.plugins) load_plugin(plugin);
  if (only_is_file(flags)) register_own_model(flags);
  RunInfo run_info = begin_run(argc, argv);
  const bool lists_tests = wants_list(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  if (flags.help) {
    std::cout << "\n" << flags_help();
    return 0;
  }
  if (argc > 1) {
    std::cerr << fmt::format(
        "torchstone: unknown argument {} (flags are --torchstone_NAME=value and --gtest_NAME=value; see --help)\n",
        argv[1]);
    return usage_error;
  }
  const Known known = known_here();
  const auto suites = read_suites(flags.suites_folder);
  const Expansion expansion = expand(suites, known, flags);
  if (flags.list != Listing::none) {
    std::cout << listing(flags, suites, expansion, known, mini_parameters);
    return 0;
  }
  require_cases(expansion);
  if (!flags.explain.empty()) {
    std::cout << explanation(expansion.cases, flags.explain);
    return 0;
  }
  if (lists_tests) {
    Session session{flags, expansion.cases, CaseRunner(expansion.cases)};
    register_cases(session);
    return RUN_ALL_TESTS();
  }
  return run_tests(flags, expansion.cases, run_info);
}

}  // namespace
}  // namespace torchstone

int main(int argc, char** argv) {
  // cuBLAS is deterministic only with a workspace fixed before its first handle.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  try {
    return torchstone::run(argc, argv);
  } catch (const torchstone::NothingSelected& e) {
    std::cerr << "torchstone: " << e.what() << "\n";
    return torchstone::nothing_selected;
  } catch (const std::exception& e) {
    std::cerr << "torchstone: " << e.what() << "\n";
    return torchstone::usage_error;
  }
}
