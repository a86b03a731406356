#pragma once
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/temporary_folder.h"

namespace torchstone {

/// How a program ended and what it printed.
struct ProgramRun {
  int exit_code = -1;  ///< 128 + signal when it was killed
  std::string out, err;
};

/// Runs a program without a shell. `interrupt_when`: sends SIGINT once this text has appeared on its output.
ProgramRun run_program(const std::vector<std::string>& arguments,
                       const std::map<std::string, std::string>& environment = {},
                       const std::string& interrupt_when = "");

/// Executes a program in place of this process, which a test has forked: with its stdin, stdout and stderr alone,
/// because other descriptors of what runs the tests are nothing for it.
[[noreturn]] void become_program(const std::vector<std::string>& arguments,
                                 const std::map<std::string, std::string>& environment = {});

/// What a program left on a terminal.
struct TerminalRun {
  int exit_code = -1;
  std::string raw;                  ///< every byte it wrote
  std::vector<std::string> screen;  ///< the lines that are left of it, whole however wide
  bool restored = false;            ///< the terminal's settings are what they were
};

/// Runs a program on a terminal of its own, `columns` wide. `press_when`: Ctrl-C is typed when the first of these texts
/// has appeared, and again when the next has after it (a terminal shows a typed Ctrl-C as ^C), more than a second
/// later: sooner it would count as the same.
TerminalRun run_in_terminal(const std::vector<std::string>& arguments,
                            std::map<std::string, std::string> environment = {}, unsigned short columns = 80,
                            const std::vector<std::string>& press_when = {});

/// The built torchstone with a results folder of its own, which is removed at the end. It is marked as one, so that
/// tests may put their files there.
class Torchstone {
 public:
  Torchstone();
  ProgramRun run(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment = {},
                 const std::string& interrupt_when = "") const;
  /// The same on the planted faults: their plug-in and suite, no policy, short limits.
  ProgramRun run_faults(const std::string& filter, std::vector<std::string> arguments = {},
                        const std::string& interrupt_when = "") const;
  /// The command line of run_faults.
  std::vector<std::string> faults_command(const std::string& filter, std::vector<std::string> arguments = {}) const;

  const std::string& out() const { return out_; }
  /// results.json; the test fails when there is none.
  nlohmann::json results() const;
  /// The one row whose name contains `part`.
  nlohmann::json row(const std::string& part) const;

 private:
  TemporaryFolder folder_;
  const std::string out_ = folder_.path();
};

std::string read_file(const std::string& path);

}  // namespace torchstone
