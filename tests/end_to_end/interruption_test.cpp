// Several signals that belong to one interruption. timeout(1) signals both the program and its group, and supervisors
// do so too.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

struct Signal {
  int number;
  milliseconds after{0};  ///< delay after the previous signal
};

bool has_record(const std::string& out) {
  std::error_code none;
  return std::ranges::any_of(fs::directory_iterator(out + "/cases", none),
                             [](const auto& entry) { return entry.path().extension() == ".json"; });
}

/// Runs a case that never ends, sends the signals while it runs, and returns the exit code. Returns -1 if the case did
/// not begin.
int run_with_signals(const Torchstone& torchstone, const std::vector<Signal>& signals,
                     std::vector<std::string> arguments = {}) {
  arguments.emplace_back("--torchstone_time_limit=600");
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    become_program(torchstone.faults_command("*hangs_*_torchscript_*", arguments));
  }
  int status = 0;
  while (!has_record(torchstone.out()) && waitpid(pid, &status, WNOHANG) == 0)
    std::this_thread::sleep_for(milliseconds(10));
  if (!has_record(torchstone.out())) return -1;
  std::this_thread::sleep_for(milliseconds(300));
  for (const Signal& signal : signals) {
    std::this_thread::sleep_for(signal.after);
    kill(pid, signal.number);
  }
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(AnInterruption, OfSeveralSignalsIsReported) {
  for (const std::vector<Signal>& signals :
       std::vector<std::vector<Signal>>{{{SIGTERM}, {SIGTERM, milliseconds(1)}},
                                        {{SIGINT}, {SIGTERM, milliseconds(20)}, {SIGINT, milliseconds(5)}}}) {
    const Torchstone torchstone;
    EXPECT_EQ(run_with_signals(torchstone, signals), 130);
    EXPECT_EQ(torchstone.row("hangs_").at("outcome").at("status"), "interrupted");
  }
}

TEST(AnInterruption, IsOverAtOnceWhenASecondOneComesLater) {
  const Torchstone torchstone;
  EXPECT_EQ(run_with_signals(torchstone, {{SIGINT}, {SIGTERM, milliseconds(1200)}}, {"--torchstone_isolate=off"}),
            128 + SIGTERM);
}

}  // namespace
}  // namespace torchstone
