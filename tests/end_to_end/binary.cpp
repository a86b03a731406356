#include "tests/end_to_end/binary.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace torchstone {
namespace {

/// Adds what can be read; false at the end.
bool drain(int fd, std::string& text) {
  std::array<char, 8192> chunk;
  const ssize_t n = read(fd, chunk.data(), chunk.size());
  if (n > 0) text.append(chunk.data(), static_cast<size_t>(n));
  return n > 0;
}

[[noreturn]] void become(const std::vector<std::string>& arguments,
                         const std::map<std::string, std::string>& environment) {
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

}  // namespace

ProgramRun run_program(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment,
                       const std::string& interrupt_when) {
  std::array<int, 2> out{}, err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    become(arguments, environment);
  }
  close(out[1]);
  close(err[1]);
  ProgramRun run;
  bool signalled = interrupt_when.empty();
  std::array<pollfd, 2> ready{pollfd{out[0], POLLIN, 0}, pollfd{err[0], POLLIN, 0}};
  while (ready[0].fd >= 0 || ready[1].fd >= 0) {
    if (poll(ready.data(), ready.size(), -1) < 0) continue;
    if (ready[0].revents != 0 && !drain(out[0], run.out)) ready[0].fd = -1;
    if (ready[1].revents != 0 && !drain(err[0], run.err)) ready[1].fd = -1;
    if (!signalled && (run.out + run.err).find(interrupt_when) != std::string::npos) {
      kill(pid, SIGINT);
      signalled = true;
    }
  }
  close(out[0]);
  close(err[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  run.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return run;
}

Torchstone::Torchstone() {
  std::string pattern = (std::filesystem::temp_directory_path() / "torchstone-test-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp " + pattern);
  out_ = pattern;
}

Torchstone::~Torchstone() {
  std::error_code ignored;
  std::filesystem::permissions(out_, std::filesystem::perms::owner_all, ignored);
  std::filesystem::remove_all(out_, ignored);
}

ProgramRun Torchstone::run(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment,
                           const std::string& interrupt_when) const {
  arguments.insert(arguments.begin(), {TORCHSTONE_BINARY, "--torchstone_out=" + out_});
  return run_program(arguments, environment, interrupt_when);
}

ProgramRun Torchstone::run_faults(const std::string& filter, std::vector<std::string> arguments,
                                  const std::string& interrupt_when) const {
  arguments.insert(arguments.begin(),
                   {std::string("--torchstone_plugin=") + TORCHSTONE_FAULTS,
                    std::string("--torchstone_suites=") + TORCHSTONE_SOURCE_DIR + "/tests/faults/faults.yaml",
                    "--gtest_filter=" + filter});
  return run(arguments, {}, interrupt_when);
}

nlohmann::json Torchstone::results() const {
  const std::string text = read_file(out_ + "/results.json");
  EXPECT_FALSE(text.empty()) << "no results.json in " << out_;
  return text.empty() ? nlohmann::json{{"results", nlohmann::json::array()}} : nlohmann::json::parse(text);
}

nlohmann::json Torchstone::row(const std::string& part) const {
  nlohmann::json found;
  const auto rows = results().at("results");
  for (const auto& result : rows) {
    if (result.at("name").get<std::string>().find(part) == std::string::npos) continue;
    EXPECT_TRUE(found.is_null()) << "two rows for " << part;
    found = result;
  }
  EXPECT_FALSE(found.is_null()) << "no row for " << part;
  return found;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace torchstone
