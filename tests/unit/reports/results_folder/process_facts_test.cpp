#include "reports/results_folder/process_facts.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>

namespace torchstone::results_folder {
namespace {

/// A child that waits under this command line until the object ends.
class Waiting {
 public:
  explicit Waiting(std::array<const char*, 5> words) {
    std::array<int, 2> started{};
    if (pipe2(started.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      std::array<char*, 6> argv{};
      for (size_t i = 0; i < words.size(); ++i) argv[i] = const_cast<char*>(words[i]);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(started[1]);
    char byte = 0;
    EXPECT_EQ(read(started[0], &byte, 1), 0);  // the end comes when exec closes the other side
    close(started[0]);
  }
  ~Waiting() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

TEST(ProcessFacts, HideSecretsOfTheCommandLine) {
  const Waiting child({"/bin/sh", "-c", "kill -STOP $$", "--something-token=planted", "https://user:planted@host"});
  const auto facts = process_facts(child.pid());
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->command, "/bin/sh -c kill -STOP $$ --something-token=[hidden] [hidden]");
}

}  // namespace
}  // namespace torchstone::results_folder
