// Two runs in one results folder. The second run ends immediately and names the first. A dead run blocks nobody.
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const char *const endless = "*hangs_*_torchscript_*", *const quick = "*healthy_*_torchscript_*";

/// A program that runs in its own process group until it is killed.
class Background {
 public:
  explicit Background(const std::vector<std::string>& words) : pid_(fork()) {
    if (pid_ != 0) return;
    setpgid(0, 0);
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    become_program(words);
  }
  ~Background() { kill_it(); }
  void kill_it() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }
  bool runs() const { return waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  pid_t pid_;
};

/// Returns whether a case has begun. The program writes a case's record first, then creates its log, then runs it.
bool has_begun(const std::string& out) {
  std::error_code none;
  return fs::directory_iterator(out + "/logs", none) != fs::directory_iterator();
}

/// A run whose only case never ends.
struct LongRun : Torchstone {
  Background program{faults_command(endless, {"--torchstone_time_limit=600", "--torchstone_tag=first"})};

  bool begun() const {
    while (!has_begun(out()) && program.runs()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return has_begun(out());
  }
  /// Returns the content of all files in the results folder by path. Logs, which the case still writes, count as empty.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> texts;
    for (const auto& entry : fs::recursive_directory_iterator(out()))
      texts[entry.path().string()] =
          entry.is_regular_file() && entry.path().extension() != ".log" ? read_file(entry.path()) : "";
    return texts;
  }
};

TEST(TwoRuns, InOneFolderDoNotMix) {
  const LongRun first;
  ASSERT_TRUE(first.begun());
  const auto before = first.files();
  for (const std::string report : {"all", "none"}) {
    const ProgramRun second = first.run_faults(quick, {"--torchstone_report=" + report});
    EXPECT_EQ(second.exit_code, 2) << second.out << second.err;
    EXPECT_THAT(second.err, AllOf(HasSubstr(first.out()), HasSubstr("process " + std::to_string(first.program.pid())),
                                  HasSubstr("since 20"), HasSubstr("--torchstone_tag=first")));
  }
  const ProgramRun merge = run_program({TORCHSTONE_REPORT, "merge", first.out(), "-o", first.out()});
  EXPECT_EQ(merge.exit_code, 2) << merge.out;
  const ProgramRun claim = run_program({TORCHSTONE_REPORT, "claim", first.out()});
  EXPECT_EQ(claim.exit_code, 2) << claim.out;
  EXPECT_EQ(first.files(), before);
  EXPECT_TRUE(first.program.runs());
  const Torchstone elsewhere;  // merging into another folder only reads the first one
  run_program({TORCHSTONE_REPORT, "merge", first.out(), "-o", elsewhere.out()});
  EXPECT_EQ(elsewhere.row("hangs_").at("outcome").at("status"), "crash") << "the case has begun but not finished";
}

TEST(TwoRuns, AreOneAfterTheOtherWhenTheFirstIsKilled) {
  LongRun first;
  ASSERT_TRUE(first.begun());
  first.program.kill_it();
  const ProgramRun second = first.run_faults(quick);
  EXPECT_EQ(second.exit_code, 0) << second.out << second.err;
  EXPECT_EQ(first.results().at("results").size(), 1u);
  for (const auto& entry : fs::directory_iterator(first.out()))
    EXPECT_THAT(entry.path().filename().string(), AllOf(Not(HasSubstr(".held")), Not(HasSubstr(".tmp"))));
}

/// Runs ctest as cmake/Cases.cmake sets it up: claim the folder, run a case, merge. Between case and merge, another run
/// tries to use the folder.
ProgramRun run_ctest(const Torchstone& torchstone) {
  const TemporaryFolder build;
  const auto line = [](const std::string& name, const std::vector<std::string>& words) {
    std::string text = "add_test(" + name;
    for (const auto& word : words) text += " [==[" + word + "]==]";
    return text + ")\n";
  };
  std::ofstream(build.path() / "CTestTestfile.cmake")
      << line("claim", {TORCHSTONE_REPORT, "claim", torchstone.out()})
      << line("case", torchstone.faults_command(quick, {"--torchstone_report=none"}))
      << line("intruder", torchstone.faults_command(quick))
      << line("merge", {TORCHSTONE_REPORT, "merge", torchstone.out(), "-o", torchstone.out()})
      << "set_tests_properties(claim PROPERTIES FIXTURES_SETUP folder)\n"
         "set_tests_properties(case intruder PROPERTIES FIXTURES_REQUIRED folder)\n"
         "set_tests_properties(intruder PROPERTIES DEPENDS case PASS_REGULAR_EXPRESSION \"another run has .*ctest\")\n"
         "set_tests_properties(merge PROPERTIES FIXTURES_CLEANUP folder)\n";
  return run_program({TORCHSTONE_CTEST, "--test-dir", build.path(), "--output-on-failure"});
}

TEST(ACtestRun, HasTheFolderToItselfFromTheFirstCaseToTheMerge) {
  const Torchstone torchstone;
  std::ofstream(torchstone.out() + "/summary.txt") << "of an earlier run";
  const ProgramRun ctest = run_ctest(torchstone);
  EXPECT_EQ(ctest.exit_code, 0) << ctest.out << ctest.err;
  EXPECT_EQ(torchstone.row("healthy_").at("outcome").at("status"), "pass");
  EXPECT_EQ(torchstone.run_faults(quick).exit_code, 0) << "the ctest run has ended and released the folder";
}

TEST(ACtestRun, TouchesNothingOfAnotherRun) {
  const LongRun first;
  ASSERT_TRUE(first.begun());
  const auto before = first.files();
  const ProgramRun ctest = run_ctest(first);
  EXPECT_NE(ctest.exit_code, 0);
  EXPECT_THAT(ctest.out, AllOf(HasSubstr("another run has this results folder"), HasSubstr("Not Run")));
  EXPECT_EQ(first.files(), before);
}

}  // namespace
}  // namespace torchstone
