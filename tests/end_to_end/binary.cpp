#include "tests/end_to_end/binary.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <pty.h>
#include <sstream>
#include <stdexcept>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <gtest/gtest.h>

namespace torchstone {
namespace {

/// Reads once and appends to `text`. Returns false at the end of the stream.
bool drain(int fd, std::string& text) {
  std::array<char, 8192> chunk;
  const ssize_t n = read(fd, chunk.data(), chunk.size());
  if (n > 0) text.append(chunk.data(), static_cast<size_t>(n));
  return n > 0;
}

/// Appends everything that can be read now. Waits up to `patience_ms` for the first bytes.
void read_available(int fd, std::string& text, int patience_ms) {
  pollfd ready{fd, POLLIN, 0};
  while (poll(&ready, 1, patience_ms) > 0 && drain(fd, text)) patience_ms = 0;
}

/// Returns the lines that remain visible. A carriage return moves the cursor to the start of the line, and ESC [ K
/// erases the text to its right. Colours and all other escape sequences are invisible.
std::vector<std::string> screen_of(const std::string& raw) {
  std::vector<std::string> screen(1);
  size_t column = 0;
  for (size_t i = 0; i < raw.size(); ++i) {
    std::string& line = screen.back();
    if (raw[i] == '\n') {
      screen.emplace_back();  // a terminal gets \r\n
    } else if (raw[i] == '\r') {
      column = 0;
    } else if (raw[i] == '\033') {
      i = raw.find_first_of("ABCDHJKhlm", i);
      if (i == std::string::npos) break;
      if (raw[i] == 'K') line.resize(std::min(column, line.size()));
    } else {
      line.resize(std::max(line.size(), column));
      line.replace(column++, 1, 1, raw[i]);
    }
  }
  return screen;
}

}  // namespace

void become_program(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment) {
  closefrom(STDERR_FILENO + 1);  // a misbehaving case could write to the test runner's pipes
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

ProgramRun run_program(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment,
                       const std::string& interrupt_when) {
  std::array<int, 2> out{}, err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    become_program(arguments, environment);
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

TerminalRun run_in_terminal(const std::vector<std::string>& arguments, std::map<std::string, std::string> environment,
                            unsigned short columns, const std::vector<std::string>& press_when) {
  // The environment of the tests must not decide about colours. An empty variable counts as unset.
  environment.insert({{"TERM", "xterm"}, {"NO_COLOR", ""}, {"CLICOLOR_FORCE", ""}, {"FORCE_COLOR", ""}});
  int master = -1, slave = -1;
  winsize size{};
  size.ws_row = 24;
  size.ws_col = columns;
  if (openpty(&master, &slave, nullptr, nullptr, &size) != 0) throw std::runtime_error("openpty");
  termios before{}, after{};
  tcgetattr(slave, &before);
  const pid_t pid = fork();
  if (pid == 0) {
    close(master);
    login_tty(dup(slave));
    close(slave);
    become_program(arguments, environment);
  }
  TerminalRun run;
  size_t pressed = 0, seen = 0;
  int status = 0;
  auto last_press = std::chrono::steady_clock::now();
  while (waitpid(pid, &status, WNOHANG) == 0) {
    read_available(master, run.raw, /*patience_ms=*/20);
    if (pressed == press_when.size()) continue;
    const size_t found = run.raw.find(press_when[pressed], seen);
    const auto now = std::chrono::steady_clock::now();
    if (found == std::string::npos || (pressed > 0 && now - last_press < std::chrono::milliseconds(1200))) continue;
    seen = found + press_when[pressed++].size();
    last_press = now;
    [[maybe_unused]] const ssize_t typed = write(master, "\x03", 1);
  }
  read_available(master, run.raw, 0);
  run.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  tcgetattr(slave, &after);
  run.restored = before.c_iflag == after.c_iflag && before.c_oflag == after.c_oflag && before.c_lflag == after.c_lflag;
  close(slave);
  close(master);
  run.screen = screen_of(run.raw);
  return run;
}

Torchstone::Torchstone() { std::ofstream(out_ + "/.torchstone_results") << "torchstone results folder, format 1\n"; }

ProgramRun Torchstone::run(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment,
                           const std::string& interrupt_when) const {
  arguments.insert(arguments.begin(), {TORCHSTONE_BINARY, "--torchstone_out=" + out_});
  return run_program(arguments, environment, interrupt_when);
}

ProgramRun Torchstone::run_faults(const std::string& filter, std::vector<std::string> arguments,
                                  const std::string& interrupt_when) const {
  return run_program(faults_command(filter, std::move(arguments)), {}, interrupt_when);
}

std::vector<std::string> Torchstone::faults_command(const std::string& filter,
                                                    std::vector<std::string> arguments) const {
  arguments.insert(
      arguments.begin(),
      {TORCHSTONE_BINARY, "--torchstone_out=" + out_, std::string("--torchstone_plugin=") + TORCHSTONE_FAULTS,
       std::string("--torchstone_suites=") + TORCHSTONE_SOURCE_DIR + "/tests/faults/faults.yaml",
       "--gtest_filter=" + filter});
  return arguments;
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
