#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

#include "cases/selection/expected_status.h"
#include "cases/settings/flags.h"
#include "cases/settings/policy.h"
#include "cases/settings/suite.h"
#include "cases/settings/yaml.h"
#include "fixtures/compile/compile_worker.h"
#include "fixtures/isolate/job.h"
#include "reports/base/files.h"
#include "tests/fuzz/target.h"
#include "tests/temporary_folder.h"

namespace torchstone::fuzz {
namespace {

template <typename Read>
void taken_or_refused(Read read) {
  try {
    read();
  } catch (const config::ConfigError&) {  // refused
  }
}

/// Writes the bytes to a file and returns its path, for parsers that take a path instead of text.
std::string file_of(const std::string& name, const std::string& bytes) {
  static const TemporaryFolder folder;
  const auto path = folder.path() / name;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path.string();
}

/// Parses each line as one command-line argument.
void read_flags(const std::string& bytes) {
  std::vector<std::string> arguments{"torchstone"};
  std::istringstream lines(bytes);
  for (std::string line; std::getline(lines, line);)
    if (!line.ends_with(".so") && line.find("help") == std::string::npos) arguments.push_back(line);
  flags::parse_flags(arguments);
}

}  // namespace

const std::vector<Target>& cases_targets() {
  static const std::vector<Target> table = {
      {"yaml", [](const std::string& bytes) { taken_or_refused([&] { config::parse_yaml(bytes, "a.yaml"); }); }},
      {"suite",
       [](const std::string& bytes) { taken_or_refused([&] { suite::read_suites(file_of("suite.yaml", bytes)); }); }},
      {"policy",
       [](const std::string& bytes) {
         taken_or_refused([&] { policy::read_policy(file_of("policy.yaml", bytes), "torchbench"); });
       }},
      {"expected_yaml",
       [](const std::string& bytes) {
         taken_or_refused([&] { expected_status::parse_expected(bytes, "expected.yaml", ""); });
       }},
      {"expected_csv",
       [](const std::string& bytes) {
         taken_or_refused([&] { expected_status::parse_expected(bytes, "expected.csv", ""); });
       }},
      {"batch_sizes",
       [](const std::string& bytes) { taken_or_refused([&] { flags::parse_batch_sizes(bytes, "sizes.txt"); }); }},
      {"flags", [](const std::string& bytes) { taken_or_refused([&] { read_flags(bytes); }); }},
      {"backend",
       [](const std::string& bytes) {
         try {
           to_string(parse_backend(bytes));
         } catch (const std::invalid_argument&) {  // refused
         }
       }},
      {"child_answer",
       [](const std::string& bytes) {
         isolate::Job job;
         job.name = "case";
         job.attempt = 1;
         isolate::answer_in(bytes, job);
         isolate::compile_answer_in(bytes, 3);
         isolate::ahead_progress_in(bytes, 3);
       }},
      {"worker_reply", [](const std::string& bytes) { compile::parse_worker_reply(bytes); }},
  };
  return table;
}

}  // namespace torchstone::fuzz
