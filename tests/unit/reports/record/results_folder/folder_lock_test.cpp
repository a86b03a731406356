#include "reports/record/results_folder/folder_lock.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "tests/unit/reports/sample.h"

namespace torchstone::results_folder {
namespace {

/// Child process with this command line. It waits until the object is destroyed.
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
    EXPECT_EQ(read(started[0], &byte, 1), 0);  // exec closes the other end of the pipe
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

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Child process that calls `body`, reports that, and waits until it is killed.
class Child {
 public:
  explicit Child(const std::function<void()>& body) {
    std::array<int, 2> done{};
    if (pipe(done.data()) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ == 0) {
      body();
      [[maybe_unused]] const ssize_t said = ::write(done[1], "x", 1);
      for (;;) pause();
    }
    char said = 0;
    close(done[1]);
    ready_ = read(done[0], &said, 1) == 1;
    close(done[0]);
  }
  ~Child() { end(); }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }
  bool ready() const { return ready_; }

 private:
  pid_t pid_ = 0;
  bool ready_ = false;
};

Holder shard(int index, int count) {
  Holder holder = this_process(Holder::Kind::shard);
  holder.shard = index;
  holder.shards = count;
  return holder;
}

/// Returns the message of a refused hold on the folder, or an empty string if the hold is granted.
std::string refusal(const fs::path& folder, const Holder& holder) {
  try {
    const Hold hold(folder, holder);
  } catch (const FolderHeld& held) {
    return held.what();
  }
  return "";
}

Holder a_run() {
  Holder holder = this_process(Holder::Kind::run);
  holder.kind = Holder::Kind::run;  // also if this program runs as a shard itself
  return holder;
}
Holder a_part() { return this_process(Holder::Kind::part); }

TEST(AHold, KeepsAnotherRunOutAndSaysWhoHasTheFolder) {
  const TemporaryFolder folder;
  const Child other([&] { new Hold(folder.path(), a_run()); });
  ASSERT_TRUE(other.ready());
  const auto facts = process_facts(other.pid());
  ASSERT_TRUE(facts);
  EXPECT_THAT(refusal(folder.path(), a_run()),
              AllOf(HasSubstr(folder.path().string()), HasSubstr("process " + std::to_string(other.pid())),
                    HasSubstr("since 20"), HasSubstr(facts->command)));
  EXPECT_NE(refusal(folder.path(), a_part()), "");
  EXPECT_NE(refusal(folder.path(), shard(0, 2)), "");
}

TEST(AHold, OfAKilledProcessStopsNobodyAndLeavesNothing) {
  const TemporaryFolder folder;
  Child other([&] { new Hold(folder.path(), a_run()); });
  ASSERT_TRUE(other.ready());
  other.end();
  EXPECT_THAT(folder.files(), SizeIs(1));
  EXPECT_EQ(refusal(folder.path(), a_run()), "");
  EXPECT_THAT(folder.files(), IsEmpty());
}

TEST(AHold, IsNotHandedOnToChildren) {
  const TemporaryFolder folder;
  pid_t grandchild = 0;
  std::array<int, 2> told{};
  ASSERT_EQ(pipe(told.data()), 0);
  Child other([&] {
    new Hold(folder.path(), a_run());
    const pid_t pid = fork();
    if (pid == 0)
      for (;;) pause();
    [[maybe_unused]] const ssize_t said = ::write(told[1], &pid, sizeof pid);
  });
  ASSERT_TRUE(other.ready());
  ASSERT_EQ(read(told[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof grandchild));
  EXPECT_NE(refusal(folder.path(), a_run()), "");
  other.end();
  EXPECT_EQ(kill(grandchild, 0), 0) << "it should outlive its parent";
  EXPECT_EQ(refusal(folder.path(), a_run()), "");
  kill(grandchild, SIGKILL);
}

TEST(AHold, IsNotGivenBackByAForkedChildThatEnds) {
  const TemporaryFolder folder;
  const Hold hold(folder.path(), a_run());
  const pid_t pid = fork();
  if (pid == 0) {
    hold.~Hold();  // as std::exit() in a child would do for a static object
    _exit(0);
  }
  waitpid(pid, nullptr, 0);
  EXPECT_THAT(folder.files(), SizeIs(1));
}

TEST(AHold, EmptiesTheFolderOnlyWhenAlone) {
  const TemporaryFolder folder;
  int emptied = 0;
  const auto count = [&] { ++emptied; };
  { const Hold alone(folder.path(), shard(0, 2), count); }
  EXPECT_EQ(emptied, 1);
  const Child other([&] { new Hold(folder.path(), shard(0, 2)); });
  ASSERT_TRUE(other.ready());
  { const Hold beside(folder.path(), shard(1, 2), count); }
  EXPECT_EQ(emptied, 1);
  EXPECT_THROW(Hold(folder.path(), a_run(), count), FolderHeld);
  EXPECT_EQ(emptied, 1);
}

TEST(AHold, IsSharedByShardsAsManyAndByParts) {
  const TemporaryFolder shards, parts;
  const Child first([&] { new Hold(shards.path(), shard(0, 2)); });
  const Child part([&] { new Hold(parts.path(), a_part()); });
  ASSERT_TRUE(first.ready() && part.ready());
  EXPECT_EQ(refusal(shards.path(), shard(1, 2)), "");
  EXPECT_NE(refusal(shards.path(), shard(0, 2)), "");
  EXPECT_NE(refusal(shards.path(), shard(1, 3)), "");
  EXPECT_NE(refusal(shards.path(), a_part()), "");
  EXPECT_EQ(refusal(parts.path(), a_part()), "");
  EXPECT_NE(refusal(parts.path(), a_run()), "");
  EXPECT_NE(refusal(parts.path(), parent_process()), "");
}

TEST(AHold, OfAGroupIsForWhatItStartsAndEndsWithIt) {
  const TemporaryFolder folder;
  Child ctest([&] {
    if (fork() == 0) {
      { const Hold claim(folder.path(), parent_process()); }
      _exit(refusal(folder.path(), a_part()).empty() && refusal(folder.path(), parent_process()).empty() &&
                    !refusal(folder.path(), a_run()).empty()
                ? 0
                : 1);
    }
    int status = 0;
    wait(&status);
    if (status != 0) _exit(1);
  });
  ASSERT_TRUE(ctest.ready()) << "its part was refused, or another run was let in";
  EXPECT_THAT(refusal(folder.path(), a_run()), HasSubstr("process " + std::to_string(ctest.pid())));
  EXPECT_NE(refusal(folder.path(), a_part()), "") << "this process was not started by the holder";
  ctest.end();
  EXPECT_EQ(refusal(folder.path(), a_run()), "");
}

TEST(AHold, OfSomebodyWhoseWordsCannotBeReadIsAHoldAllTheSame) {
  const TemporaryFolder folder;
  const Child other([&] { new Hold(folder.path(), a_part()); });
  ASSERT_TRUE(other.ready());
  std::ofstream(folder.path() / folder.files().front()) << "{";
  EXPECT_NE(refusal(folder.path(), a_part()), "");
}

TEST(AHolder, IsReadBackAsItWasWritten) {
  Holder holder = shard(1, 4);
  holder.command = "torchstone --gtest_filter=\"*\" Zürich";
  const Holder read = parse_holder(to_json(holder));
  EXPECT_EQ(to_json(read), to_json(holder));
  EXPECT_EQ(read.kind, Holder::Kind::shard);
  EXPECT_EQ(parse_holder("[]").kind, Holder::Kind::run);
  EXPECT_EQ(parse_holder(R"({"kind": "part"})").kind, Holder::Kind::run);
}

TEST(ProcessFacts, KnowParentsAndNotTheDead) {
  EXPECT_EQ(process_facts(getpid())->parent, getppid());
  EXPECT_TRUE(descends_from(getppid()));
  EXPECT_FALSE(descends_from(getpid()));
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT);
  EXPECT_FALSE(process_facts(pid)) << "a zombie has no facts";
  waitpid(pid, nullptr, 0);
  EXPECT_FALSE(process_facts(pid));
}

}  // namespace
}  // namespace torchstone::results_folder
