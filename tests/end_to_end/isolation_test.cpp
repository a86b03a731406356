// Cases whose processes misbehave. Each gets its own verdict and does not affect the verdicts of other cases.
#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// Runs cases of tests/faults/misbehaving.yaml, selected by model name, and reads the outcome of each.
class Isolated : public testing::TestWithParam<const char*> {
 protected:
  ProgramRun run(const std::string& models, const std::string& interrupt_when = "", const std::string& devices = "cpu",
                 const std::map<std::string, std::string>& environment = {}) {
    std::string filter;
    std::istringstream names(models);
    for (std::string name; names >> name;) filter += (filter.empty() ? "*/" : ":*/") + name + "_inference*";
    return torchstone_.run(
        {std::string("--torchstone_plugin=") + TORCHSTONE_FAULTS,
         std::string("--torchstone_suites=") + TORCHSTONE_SOURCE_DIR + "/tests/faults/misbehaving.yaml",
         std::string("--torchstone_isolate=") + GetParam(), "--torchstone_heartbeat=1",
         "--torchstone_devices=" + devices, "--gtest_filter=" + filter},
        environment, interrupt_when);
  }
  nlohmann::json outcome(const std::string& model) { return torchstone_.row("/" + model + "_inference").at("outcome"); }
  std::string status(const std::string& model) { return outcome(model).at("status"); }
  std::string reason(const std::string& model) { return outcome(model).at("reason"); }
  std::string log(const std::string& model) {
    for (const auto& entry : fs::directory_iterator(torchstone_.out() + "/logs"))
      if (entry.path().filename().string().find(model) != std::string::npos) return entry.path();
    return "";
  }

  Torchstone torchstone_;
};

TEST_P(Isolated, AStrayReplyLineIsACrashAndShiftsNoOtherAnswer) {
  run("healthy writes_stray_line throws_text");
  EXPECT_EQ(status("writes_stray_line"), "crash");
  EXPECT_THAT(reason("writes_stray_line"), HasSubstr("no answer to this job"));
  EXPECT_EQ(status("throws_text"), "eager_fail_to_run");
  EXPECT_EQ(status("healthy"), "pass");
}

TEST_P(Isolated, ADoubledReplyShiftsNoOtherAnswer) {
  run("doubles_replies throws_text healthy");
  EXPECT_EQ(status("doubles_replies"), "pass");
  EXPECT_EQ(status("throws_text"), "eager_fail_to_run");
  EXPECT_EQ(status("healthy"), "pass");
}

TEST_P(Isolated, AProcessThatClosedItsDescriptorsHasItsLimitAndItsCode) {
  run("closes_and_hangs closes_and_exits");
  EXPECT_EQ(status("closes_and_hangs"), "timeout");
  EXPECT_EQ(status("closes_and_exits"), "crash");
  EXPECT_THAT(reason("closes_and_exits"), AllOf(HasSubstr("code 3"), HasSubstr("closed its reply pipe")));
}

TEST_P(Isolated, OneInterruptEndsACaseThatClosedItsDescriptors) {
  const ProgramRun ended = run("closes_and_hangs healthy", "hangs_inference_float32_torchscript_cpu: load");
  EXPECT_EQ(ended.exit_code, 130) << ended.out << ended.err;
  EXPECT_EQ(status("closes_and_hangs"), "interrupted");
}

TEST_P(Isolated, AProcessThatDiesWhenItsCaseIsOverCostsNoOtherCase) {
  run("dies_when_idle healthy reads_input leaks_thread blocks_signals");
  for (const char* model : {"dies_when_idle", "healthy", "reads_input", "leaks_thread", "blocks_signals"})
    EXPECT_EQ(status(model), "pass") << model << ": " << reason(model);
}

TEST_P(Isolated, ASignalThatOneCaseBlocksEndsTheNext) {
  run("blocks_signals traps");
  EXPECT_EQ(status("blocks_signals"), "pass");
  EXPECT_EQ(status("traps"), "crash");
}

TEST_P(Isolated, AFloodOfTheReplyPipeIsACrash) {
  run("floods healthy");
  EXPECT_EQ(status("floods"), "crash");
  EXPECT_THAT(reason("floods"), HasSubstr("without an end of line"));
  EXPECT_EQ(status("healthy"), "pass");
}

pid_t number_behind(const std::string& text, const std::string& word) {
  const size_t at = text.find(word);
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + word.size());
}

TEST_P(Isolated, ADaemonEndsWithItsCaseAndDoesNotHideItsEnd) {
  run("leaves_daemon_and_dies");
  EXPECT_EQ(status("leaves_daemon_and_dies"), "crash");
  EXPECT_THAT(reason("leaves_daemon_and_dies"), HasSubstr("SIGABRT"));
  const pid_t daemon = number_behind(read_file(log("leaves_daemon_and_dies")), "daemon ");
  ASSERT_GT(daemon, 0);
  EXPECT_NE(kill(daemon, 0), 0) << "process " << daemon << " is still alive";
}

TEST_P(Isolated, AStoppedProcessAndOneThatLeftItsGroupAreTimeouts) {
  run("stops_itself leaves_its_group");
  EXPECT_EQ(status("stops_itself"), "timeout");
  EXPECT_EQ(status("leaves_its_group"), "timeout");
}

TEST_P(Isolated, ALostGpuIsACrashAfterASecondTryAndCostsNoOtherCase) {
  for (const char* device : {"cuda:0", "cuda:1"}) {
    const TemporaryFolder folder;
    const ProgramRun ended =
        run("loses_device loses_device_once healthy", "", device, {{"TORCHSTONE_TEST_MARK", folder.path() / "mark"}});
    const bool is_missing =
        ended.exit_code == 2 && ended.err.find("device " + std::string(device)) != std::string::npos;
    if (is_missing && std::string(device) == "cuda:1") return;  // only one GPU, which has been tested
    if (is_missing) GTEST_SKIP() << ended.err;
    EXPECT_EQ(status("loses_device"), "crash") << outcome("loses_device").dump(1);
    EXPECT_THAT(reason("loses_device"), AllOf(HasSubstr(device), HasSubstr("is lost to this process: CUDA error")));
    EXPECT_THAT(outcome("loses_device").at("notes").at("first_try").get<std::string>(), HasSubstr("CUDA error"));
    EXPECT_EQ(status("loses_device_once"), "pass") << reason("loses_device_once");
    EXPECT_THAT(outcome("loses_device_once").at("notes").at("first_try").get<std::string>(), HasSubstr("CUDA error"));
    EXPECT_EQ(status("healthy"), "pass") << reason("healthy");
  }
}

TEST_P(Isolated, ALongLogIsCutInTheMiddleAndSaysSo) {
  run("prints_much");
  EXPECT_EQ(status("prints_much"), "pass");
  const std::string text = read_file(log("prints_much"));
  EXPECT_LE(text.size(), 64u << 20);
  EXPECT_THAT(text.substr(0, 100), HasSubstr("the first line\n"));
  EXPECT_THAT(text.substr(text.size() - 2000), HasSubstr("the last line\n"));
  EXPECT_NE(text.find("bytes were left out here]"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Isolation, Isolated, testing::Values("fresh", "shared"),
                         [](const auto& test) { return std::string(test.param); });

/// A forked process lacks its parent's threads and hangs on locks that they hold.
TEST(ThreadsAtLoad, AreNamedAndEveryCaseRunsInAProcessOfItsOwnStart) {
  for (const char* isolation : {"fresh", "shared"}) {
    const Torchstone torchstone;
    const ProgramRun run = torchstone.run(
        {std::string("--torchstone_plugin=") + TORCHSTONE_THREADS_AT_LOAD,
         std::string("--torchstone_suites=") + TORCHSTONE_SOURCE_DIR + "/tests/faults/plugin/threads_at_load.yaml",
         std::string("--torchstone_isolate=") + isolation});
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr("2 threads run before the first case"), HasSubstr("threads_at_load")));
    EXPECT_EQ(torchstone.row("torchscript").at("outcome").at("status"), "pass");
    EXPECT_EQ(torchstone.row("eager").at("outcome").at("status"), "pass");
  }
}

TEST(ThreadsAtLoad, ThereAreNoneWithoutAPlugin) {
  const Torchstone torchstone;
  EXPECT_THAT(torchstone.run_faults("*healthy_inference_float32_torchscript*").err,
              testing::Not(HasSubstr("threads run before")));
}

/// A closed pipe, as after `| head`, ends the output but not the run.
TEST(ClosedOutput, CostsNoReport) {
  const Torchstone torchstone;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  close(ends[0]);
  const auto words = torchstone.faults_command("*healthy_inference_float32_torchscript*");
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    std::signal(SIGPIPE, SIG_DFL);
    become_program(words);
  }
  close(ends[1]);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(torchstone.results().at("results").size(), 1u);
}

}  // namespace
}  // namespace torchstone
