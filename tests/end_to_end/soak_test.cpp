// Repeats misbehaving cases in random order in one run. Every status is right each time, and no descriptors, processes
// or memory leak. TORCHSTONE_SOAK_CASES sets the number of cases (docs/tests.md).
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;

constexpr int default_cases = 40;
// Size of the longest line that the program buffers when a case floods its pipe. The allocator may keep such a buffer.
constexpr int longest_line_mb = 64;
// Environment variable that marks the program and all its descendants.
constexpr const char* mark = "TORCHSTONE_SOAK_MARK";

struct Usage {
  std::ptrdiff_t descriptors = 0, children = 0, resident_mb = 0;
};

std::ptrdiff_t entries_of(const fs::path& folder) {
  std::error_code none;
  return std::distance(fs::directory_iterator(folder, none), {});
}

std::vector<pid_t> processes() {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) found.push_back(std::stoi(name));
  }
  return found;
}

std::string proc_file(pid_t pid, const char* name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

pid_t parent_of(pid_t pid) {
  const std::string stat = proc_file(pid, "stat");
  const size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos ? 0 : std::atoi(stat.c_str() + name_end + 4);
}

Usage usage_of(pid_t pid) {
  Usage usage{entries_of("/proc/" + std::to_string(pid) + "/fd")};
  for (const pid_t other : processes()) usage.children += parent_of(other) == pid;
  std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
  long pages = 0;
  statm >> pages >> pages;
  usage.resident_mb = pages * sysconf(_SC_PAGESIZE) >> 20;
  return usage;
}

std::vector<pid_t> marked_processes(const std::string& value) {
  const std::string marked = std::string(mark) + "=" + value;
  std::vector<pid_t> found;
  for (const pid_t pid : processes())
    if (pid != getpid() && proc_file(pid, "environ").find(marked) != std::string::npos) found.push_back(pid);
  return found;
}

/// A running program. Its output is read line by line, and its stderr goes to the file `errors`.
class Running {
 public:
  Running(const std::vector<std::string>& words, const std::string& errors) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      dup2(open(errors.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), STDERR_FILENO);
      become_program(words);
    }
    close(ends[1]);
    output_ = fdopen(ends[0], "r");
  }
  ~Running() {
    fclose(output_);
    std::free(line_);
  }
  Running(const Running&) = delete;

  pid_t pid() const { return pid_; }
  std::optional<std::string> line() {
    const ssize_t n = getline(&line_, &size_, output_);
    return n < 0 ? std::nullopt : std::optional(std::string(line_, static_cast<size_t>(n)));
  }
  int exit_code() const {
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t pid_ = -1;
  FILE* output_ = nullptr;
  char* line_ = nullptr;
  size_t size_ = 0;
};

int cases_wanted() {
  const char* given = std::getenv("TORCHSTONE_SOAK_CASES");
  return given == nullptr ? default_cases : std::atoi(given);
}

/// Returns 21 for "[==========] Running 21 tests from 2 test suites."
int count_in(const std::string& line) { return std::atoi(line.c_str() + line.find("Running ") + 8); }

class Soak : public testing::TestWithParam<const char*> {};

TEST_P(Soak, EveryStatusIsRightAndNothingIsLeft) {
  const TemporaryFolder folder;
  const std::string value = std::to_string(getpid()) + GetParam();
  setenv(mark, value.c_str(), 1);
  const std::vector<std::string> command = {
      TORCHSTONE_BINARY,
      "--torchstone_out=" + (folder.path() / "out").string(),
      std::string("--torchstone_plugin=") + TORCHSTONE_FAULTS,
      std::string("--torchstone_suites=") + TORCHSTONE_SOURCE_DIR + "/tests/faults/soak.yaml",
      std::string("--torchstone_isolate=") + GetParam(),
      "--torchstone_memory_limit=3",
      "--gtest_shuffle",
      "--gtest_repeat=-1"};
  Running program(command, folder.path() / "errors");
  unsetenv(mark);
  std::vector<Usage> seen;
  std::string failures, verdict;
  int cases = 0, of_an_iteration = 0;
  while (const auto line = program.line()) {
    if (line->starts_with("[==========] Running")) of_an_iteration = count_in(*line);
    if (line->find("] ! ") != std::string::npos || line->find("] * ") != std::string::npos) failures += *line;
    if (!line->starts_with("Repeating all tests")) continue;
    seen.push_back(usage_of(program.pid()));
    cases += seen.size() > 1 ? of_an_iteration : 0;
    if (cases >= cases_wanted()) kill(program.pid(), SIGINT);
  }
  EXPECT_EQ(program.exit_code(), 130);
  EXPECT_EQ(failures, "");
  ASSERT_GE(cases, cases_wanted());
  // Compares the second half with the first. Anything that a case leaks would accumulate over the repetitions.
  const auto middle = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() / 2);
  const auto most = [](auto begin, auto end, auto member) {
    std::ptrdiff_t found = 0;
    for (auto usage = begin; usage != end; ++usage) found = std::max(found, (*usage).*member);
    return found;
  };
  const auto growth = [&](auto member) {
    return most(middle, seen.end(), member) - most(seen.begin(), middle, member);
  };
  std::cout << cases << " cases, " << seen.size()
            << " iterations; in the second half more than in the first: " << growth(&Usage::descriptors)
            << " descriptors, " << growth(&Usage::children) << " processes, " << growth(&Usage::resident_mb) << " MB\n";
  constexpr int at_one_moment = 2;  // one child that runs cases and one that compiles
  EXPECT_LE(growth(&Usage::descriptors), 4 * at_one_moment);
  EXPECT_LE(growth(&Usage::children), at_one_moment);
  EXPECT_LE(growth(&Usage::resident_mb), 2 * longest_line_mb);
  EXPECT_THAT(marked_processes(value), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Isolation, Soak, testing::Values("fresh", "shared"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace torchstone
