// Runs that end prematurely. No result is lost, and missing cases are listed by name.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const char* const three = "*healthy_*_torchscript_*:*hangs_*_torchscript_*:*branches_*_torchscript_*";

std::string status_of(const Torchstone& torchstone, const std::string& part) {
  const auto row = torchstone.row(part);
  return row.is_null() ? "no row" : row.at("outcome").at("status").get<std::string>();
}

bool has_begun(const Torchstone& torchstone, const std::string& part) {
  const fs::path cases = torchstone.out() + "/cases";
  return fs::exists(cases) && std::ranges::any_of(fs::directory_iterator(cases), [&](const auto& entry) {
           return entry.path().extension() == ".json" &&
                  entry.path().filename().string().find(part) != std::string::npos;
         });
}

/// Runs the planted faults in a new process group, and kills the group once the case has begun.
void run_and_kill_in(const std::string& part, const Torchstone& torchstone) {
  std::vector<std::string> words = torchstone.faults_command(three, {"--torchstone_tag=nightly"});
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  while (!has_begun(torchstone, part)) {
    ASSERT_EQ(waitpid(pid, &status, WNOHANG), 0) << "ended before " << part << " began: " << status;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);  // in case the child has not created its group yet
  waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
}

TEST(AKilledRun, NamesTheCaseItWasInAndThoseItDidNotReach) {
  const Torchstone killed, merged;
  ASSERT_NO_FATAL_FAILURE(run_and_kill_in("hangs_", killed));
  EXPECT_FALSE(fs::exists(killed.out() + "/results.json"));
  const ProgramRun merge = run_program({TORCHSTONE_REPORT, "merge", killed.out(), "-o", merged.out()});
  ASSERT_EQ(merge.exit_code, 130) << merge.out << merge.err;
  EXPECT_EQ(status_of(merged, "healthy_"), "pass");
  EXPECT_EQ(status_of(merged, "hangs_"), "crash");
  EXPECT_EQ(status_of(merged, "branches_"), "interrupted");
  EXPECT_THAT(merged.row("branches_").at("outcome").at("reason"), HasSubstr("not run"));
  EXPECT_THAT(merged.row("branches_").at("reproduce"), HasSubstr("branches_"));
  EXPECT_EQ(merged.results().at("run").at("tag"), "nightly");
  EXPECT_FALSE(merged.results().at("machine").empty());
  EXPECT_THAT(merge.out, HasSubstr("branches_"));
  for (const char* file : {"results.csv", "junit.xml", "summary.txt"})
    EXPECT_THAT(read_file(merged.out() + "/" + file), HasSubstr("branches_")) << file;
}

TEST(AKilledRun, IsReadInSpiteOfDamagedFiles) {
  const Torchstone whole;
  ASSERT_NE(whole.run_faults(three, {"--torchstone_isolate=fresh"}).exit_code, 2);
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(whole.out() + "/cases")) cases.push_back(entry.path());
  std::sort(cases.begin(), cases.end());  // branches, hangs, healthy
  ASSERT_EQ(cases.size(), 3u);
  fs::resize_file(cases[0], fs::file_size(cases[0]) / 2);
  fs::resize_file(cases[1], 0);
  fs::resize_file(whole.out() + "/results.json", 100);
  const ProgramRun merge = run_program({TORCHSTONE_REPORT, "merge", whole.out(), "-o", whole.out()});
  EXPECT_THAT(merge.err, testing::AllOf(HasSubstr(cases[0].string()), HasSubstr(cases[1].string()),
                                        HasSubstr("results.json: not JSON")));
  EXPECT_EQ(status_of(whole, "branches_"), "crash");
  EXPECT_EQ(status_of(whole, "hangs_"), "crash");
  EXPECT_EQ(status_of(whole, "healthy_"), "pass");
  EXPECT_EQ(whole.row("hangs_").at("model"), "hangs");
}

TEST(AnInterruptedRun, HasARowForEveryCaseInItsOwnReports) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults(three, {}, "healthy_inference");
  EXPECT_EQ(run.exit_code, 130) << run.out << run.err;
  EXPECT_EQ(torchstone.results().at("results").size(), 3u);
  EXPECT_EQ(status_of(torchstone, "branches_"), "interrupted");
}

}  // namespace
}  // namespace torchstone
