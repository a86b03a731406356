// Records with timestamps from a clock that was set back. Torchstone orders records by the order in which they were
// written, not by their timestamps.
#include <filesystem>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;

const char* const one_healthy = "*healthy_*_torchscript_*";

/// Applies a change to every JSON file in a folder.
void edit_files(const fs::path& folder, const std::function<void(nlohmann::json&)>& change) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    auto json = nlohmann::json::parse(read_file(entry.path()));
    change(json);
    std::ofstream(entry.path()) << json.dump();
  }
}

std::string merged_status_of(const Torchstone& torchstone, int exit_code) {
  const Torchstone merged;
  const ProgramRun merge = run_program({TORCHSTONE_REPORT, "merge", torchstone.out(), "-o", merged.out()});
  EXPECT_EQ(merge.exit_code, exit_code) << merge.out << merge.err;
  return merged.row("healthy_").at("outcome").at("status");
}

TEST(AClock, SetBackDuringARunLosesNoResult) {
  const Torchstone torchstone;
  ASSERT_EQ(torchstone.run_faults(one_healthy).exit_code, 0);
  edit_files(torchstone.out() + "/cases", [](auto& json) { json["result"]["recorded"] = "2001-01-01T00:00:00.000Z"; });
  fs::remove(torchstone.out() + "/results.json");  // as if the run had been killed before its end
  EXPECT_EQ(merged_status_of(torchstone, 0), "pass");
}

TEST(AClock, SetBackBetweenTwoRunsDoesNotBringTheFirstOneBack) {
  const Torchstone torchstone;
  ASSERT_EQ(torchstone.run_faults(one_healthy).exit_code, 0);
  auto first = torchstone.results();
  first["results"][0]["recorded"] = "2099-01-01T00:00:00.000Z";
  first["results"][0]["outcome"]["status"] = "fail_accuracy";
  ASSERT_EQ(torchstone.run_faults(one_healthy).exit_code, 0);
  std::ofstream(torchstone.out() + "/results.json") << first.dump();  // the second run was killed before its end
  EXPECT_EQ(merged_status_of(torchstone, 0), "pass");
}

TEST(AClock, DecidesAloneBetweenRecordsOfVersionsWithoutAnOrder) {
  const Torchstone torchstone;
  ASSERT_EQ(torchstone.run_faults(one_healthy).exit_code, 0);
  const auto forget = [](nlohmann::json& result) { result.erase("origin"); };
  edit_files(torchstone.out() + "/cases", [&](auto& json) { forget(json["result"]); });
  edit_files(torchstone.out() + "/runs", [&](auto& json) { forget(json["results"][0]); });
  fs::remove(torchstone.out() + "/results.json");
  EXPECT_EQ(merged_status_of(torchstone, 0), "pass");
}

}  // namespace
}  // namespace torchstone
