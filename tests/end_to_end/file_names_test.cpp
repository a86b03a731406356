// File names in the real programs. Long names lose no information, and no text in a results.json becomes a path.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<fs::path> names_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory()) files.push_back(entry.path().lexically_relative(folder));
  return files;
}

/// Returns a backend with twelve options, whose name is too long for a file name.
std::string long_backend() {
  std::string backend = "fault_none";
  for (int i = 0; i < 12; ++i) backend += ":a_long_option_number_" + std::to_string(i) + "=some_value";
  return backend;
}

TEST(ALongName, HasItsRecordLogTableAndSummary) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run_faults("*/healthy_*", {"--torchstone_backends=" + long_backend(), "--torchstone_checks=accuracy"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, HasSubstr("1 of 1 case as expected"));
  EXPECT_GT(torchstone.row("/healthy_").at("name").get<std::string>().size(), 300u);
  for (const char* folder : {"cases", "logs", "csv"}) {
    const auto files = names_below(torchstone.out() + "/" + folder);
    ASSERT_EQ(files.size(), 1u) << folder;
    EXPECT_LE(files[0].string().size(), 255u);
  }
  const Torchstone merged;
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "merge", torchstone.out(), "-o", merged.out()}).exit_code, 0);
  EXPECT_EQ(merged.row("/healthy_").at("outcome").at("status"), "pass");
}

nlohmann::json hostile_result(const std::string& text, bool is_operator) {
  nlohmann::json result{{"name", text + (is_operator ? "o" : "m")}, {"check", is_operator ? "performance" : text}};
  for (const char* key : {"suite", "model", "mode", "dtype", "device", "backend", "preset"}) result[key] = text;
  result["outcome"] = {{"status", "pass"}, {"metrics", {{"speedup", 2}, {"largest_batch", 4}}}};
  if (is_operator) result["outcome"]["notes"]["operator"] = text;
  return result;
}

/// Writes a results.json in which every text tries to escape the output folder.
void write_hostile_report(const std::string& path) {
  nlohmann::json report{{"schema", "torchstone/result/1"}, {"run", {{"id", "../../run"}, {"tag", "../../tag"}}}};
  for (const std::string& text :
       {std::string("../../x"), std::string("/etc/x"), std::string("a\0/../../b", 10), std::string("a\nb"),
        std::string(".."), std::string(5000, 'y'), std::string(""), std::string("../../../../z")})
    for (const bool is_operator : {false, true}) report["results"].push_back(hostile_result(text, is_operator));
  std::ofstream(path) << report.dump();
}

TEST(AHostileReport, WritesNothingOutsideByAnyCommand) {
  const TemporaryFolder folder;
  const std::string report = folder.path() / "in.json";
  write_hostile_report(report);
  const fs::path out = folder.path() / "a/b/c/out";
  fs::create_directories(out);
  const auto run = [&](const std::string& command, const std::string& file) {
    const ProgramRun done = run_program({TORCHSTONE_REPORT, command, report, "-o", (out / file).string()});
    EXPECT_EQ(done.exit_code, 0) << command << ": " << done.err.substr(0, 500);
    EXPECT_FALSE(names_below(out).empty()) << command;
    for (const auto& path : names_below(folder.path()))
      EXPECT_TRUE(path == "in.json" || path.string().starts_with("a/b/c/out/")) << command << ": " << path;
  };
  for (const char* command : {"merge", "csv", "upstream", "operatorbench"}) run(command, "");
  EXPECT_GE(names_below(out / "csv").size(), 8u);
  for (const char* command : {"html", "history", "markdown", "json", "junit", "openmetrics", "batch_sizes"})
    run(command, std::string(command) + ".text");
}

}  // namespace
}  // namespace torchstone
