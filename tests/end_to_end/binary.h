#pragma once
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/temporary_folder.h"

namespace torchstone {

/// Exit code and output of a program.
struct ProgramRun {
  int exit_code = -1;  ///< 128 + signal when it was killed
  std::string out, err;
};

/// Runs a program without a shell. Sends SIGINT once the text `interrupt_when` has appeared in its output.
ProgramRun run_program(const std::vector<std::string>& arguments,
                       const std::map<std::string, std::string>& environment = {},
                       const std::string& interrupt_when = "");

/// Replaces this process, which a test has forked, with a program. The program inherits only stdin, stdout and stderr,
/// not the other descriptors of the test runner.
[[noreturn]] void become_program(const std::vector<std::string>& arguments,
                                 const std::map<std::string, std::string>& environment = {});

/// Exit code and terminal output of a program.
struct TerminalRun {
  int exit_code = -1;
  std::string raw;                  ///< every byte that the program wrote
  std::vector<std::string> screen;  ///< the lines that remain visible, never wrapped
  bool restored = false;            ///< the terminal's settings are the same as before
};

/// Runs a program on a new pseudo-terminal of `columns` columns. Types Ctrl-C, which the terminal echoes as ^C, each
/// time the next text of `press_when` appears in the output. Waits 1.2 s between two Ctrl-C, because the program takes
/// signals in quick succession for a single interruption.
TerminalRun run_in_terminal(const std::vector<std::string>& arguments,
                            std::map<std::string, std::string> environment = {}, unsigned short columns = 80,
                            const std::vector<std::string>& press_when = {});

/// The built torchstone with its own results folder, which is removed with the object. The folder has the marker of
/// results folders, so torchstone accepts it although tests put other files there.
class Torchstone {
 public:
  Torchstone();
  ProgramRun run(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment = {},
                 const std::string& interrupt_when = "") const;
  /// Runs cases of the planted faults, with their plug-in and suite.
  ProgramRun run_faults(const std::string& filter, std::vector<std::string> arguments = {},
                        const std::string& interrupt_when = "") const;
  /// Returns the command line of run_faults.
  std::vector<std::string> faults_command(const std::string& filter, std::vector<std::string> arguments = {}) const;

  const std::string& out() const { return out_; }
  /// Returns the content of results.json. The test fails if the file is missing.
  nlohmann::json results() const;
  /// Returns the only row whose name contains `part`. The test fails if no row or several rows match.
  nlohmann::json row(const std::string& part) const;

 private:
  TemporaryFolder folder_;
  const std::string out_ = folder_.path();
};

std::string read_file(const std::string& path);

}  // namespace torchstone
