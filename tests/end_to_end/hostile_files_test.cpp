// Input files whose texts contain terminal sequences, formulas and workflow commands. The programs never print them
// unescaped.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"
#include "tests/temporary_folder.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

const std::string hostile =
    "::error::planted \x1b[2J\x1b]0;planted\x07 \u202eplanted ##[error]planted\n::error::planted";

std::string control_in(const std::string& text) {
  for (const char c : text)
    if ((c >= 0 && c < ' ' && c != '\n') || c == '\x7f')
      return "a control character in " + testing::PrintToString(text);
  return text.find("\u202e") == std::string::npos ? "" : "a direction in " + text;
}

/// Returns the first sequence that a terminal or a CI service would execute; empty if there is none.
std::string obeyed_in(const std::string& text) {
  if (auto control = control_in(text); !control.empty()) return control;
  if (text.find("##[") != std::string::npos) return "a command in " + text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos && line.compare(first, 2, "::") == 0) return "a workflow command: " + line;
  }
  return "";
}

struct HostileFiles : testing::Test {
  TemporaryFolder folder;
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder.path() / name) << text;
    return folder.path() / name;
  }
};

TEST_F(HostileFiles, AreQuotedSafelyByTheRunner) {
  const std::string sizes = write("sizes.txt", "\x1b[2J\x07planted\n");
  const std::string suite = write("suite.yaml", R"(suite: planted
"\e[2J\aplanted": 1
)");
  for (const std::string& flag : {"--torchstone_batch_size_file=" + sizes, "--torchstone_suites=" + suite}) {
    const auto run = run_program({TORCHSTONE_BINARY, "--torchstone_list=cases", flag});
    EXPECT_EQ(run.exit_code, 2) << flag;
    EXPECT_THAT(run.err, HasSubstr("planted"));
    EXPECT_EQ(obeyed_in(run.out + run.err), "") << flag;
  }
}

TEST_F(HostileFiles, AreShownSafelyByTheReportTool) {
  nlohmann::json result = {{"line", 1}, {"batch_size", 1}, {"finished", true}};
  for (const char* key :
       {"name", "suite", "model", "mode", "dtype", "device", "backend", "preset", "expected", "reproduce", "file"})
    result[key] = hostile;
  result["check"] = "accuracy";
  result["outcome"] = {{"status", "fail_accuracy"},
                       {"reason", hostile},
                       {"detail", hostile},
                       {"phase", hostile},
                       {"metrics", {{hostile, 1.5}, {"speedup", 1.5}}},
                       {"notes", {{hostile, hostile}}}};
  const nlohmann::json report = {
      {"schema", "torchstone/result/1"}, {"run", {{"id", hostile}, {"exit_reason", hostile}}}, {"results", {result}}};
  const std::string results = write("results.json", report.dump()), out = folder.path() / "out";
  const std::string damaged = write("damaged.json", R"({"schema": ")"
                                                    "\\u001b[2Jplanted\"}");
  const std::string table =
      write("table.csv", "dev,name,batch_size,accuracy\ncpu,\"" + hostile + "\",1,\"" + hostile + "\"\n");
  const std::vector<std::vector<std::string>> commands = {{"merge", results, "-o", out},
                                                          {"summary", results},
                                                          {"history", results},
                                                          {"compare", results, results, "--all"},
                                                          {"gate", "accuracy", "-f", table},
                                                          {"merge", damaged, "-o", out},
                                                          {"markdown", results},
                                                          {"openmetrics", results},
                                                          {"compare", results, results, "--format", "csv"}};
  for (auto command : commands) {
    command.insert(command.begin(), TORCHSTONE_REPORT);
    const auto run = run_program(command);
    EXPECT_FALSE((run.out + run.err).empty()) << command[1];
    const bool data =
        command[1] == "markdown" || command[1] == "openmetrics" || command.back() == "csv";  // not a CI log
    EXPECT_EQ(data ? control_in(run.out + run.err) : obeyed_in(run.out + run.err), "") << command[1];
  }
}

}  // namespace
}  // namespace torchstone
