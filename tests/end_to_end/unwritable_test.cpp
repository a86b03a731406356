// Records and reports that cannot be written. The run continues, reports the failure, and ends with the exit code for
// infrastructure faults.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The second case is a timed one and runs long enough to remove its folder meanwhile.
const char* const quick_and_timed = "*Accuracy*/healthy_*:*Performance*/waits_*";

bool has_record(const Torchstone& torchstone, const std::string& part) {
  std::error_code none;
  return std::ranges::any_of(fs::directory_iterator(torchstone.out() + "/cases", none), [&](const auto& entry) {
    return entry.path().extension() == ".json" && entry.path().filename().string().find(part) != std::string::npos;
  });
}

/// Replaces a folder with a file. This blocks writes even for root, as a full disk would.
void occupy(const Torchstone& torchstone, const std::string& folder) {
  const fs::path path = torchstone.out() + "/" + folder;
  if (fs::exists(path)) fs::rename(path, path.string() + ".before");
  std::ofstream(path) << "no folder";
}

/// Runs two cases, and replaces these folders with files once the second case has begun.
ProgramRun run_and_occupy(const Torchstone& torchstone, const std::vector<std::string>& folders) {
  auto running = std::async(std::launch::async, [&] {
    return torchstone.run_faults(quick_and_timed,
                                 {"--torchstone_checks=accuracy,performance", "--torchstone_backends=fault_none",
                                  "--torchstone_measure_budget=1", "--torchstone_npy"});
  });
  while (!has_record(torchstone, "waits_") && running.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (const auto& folder : folders) occupy(torchstone, folder);
  return running.get();
}

TEST(ARecordThatCannotBeWritten, CostsTheRunNothingButItsExitCode) {
  const Torchstone torchstone;
  const ProgramRun run = run_and_occupy(torchstone, {"cases"});
  EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("warning: faults/Performance"), HasSubstr("the run goes on"),
                             HasSubstr("1 record could not be written: faults/Performance"), HasSubstr("waits_")));
  EXPECT_THAT(run.err, Not(HasSubstr("C++ exception")));
  EXPECT_THAT(run.out, AllOf(HasSubstr("2 of 2 cases as expected"), HasSubstr("report.html")));
  EXPECT_EQ(torchstone.row("waits_").at("outcome").at("status"), "pass");
}

TEST(ReportsThatCannotBeWritten, LeaveTheOthersAndTheSummary) {
  const Torchstone torchstone;
  const ProgramRun run = run_and_occupy(torchstone, {"csv", "samples", "runs"});
  EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("report writer upstream: "), HasSubstr("/csv"), HasSubstr("waits_"),
                             HasSubstr("/samples")));
  EXPECT_THAT(run.out, AllOf(HasSubstr("2 of 2 cases as expected"), HasSubstr("report.html")));
  for (const char* file : {"results.json", "junit.xml", "results.csv"})
    EXPECT_THAT(read_file(torchstone.out() + "/" + file), HasSubstr("waits_")) << file;
}

TEST(Merge, WritesTheOtherReportsWhereOneCannotBeWritten) {
  const Torchstone torchstone, merged;
  ASSERT_EQ(torchstone.run_faults("*healthy_*_torchscript_*").exit_code, 0);
  occupy(merged, "csv");
  const ProgramRun merge = run_program({TORCHSTONE_REPORT, "merge", torchstone.out(), "-o", merged.out()});
  EXPECT_EQ(merge.exit_code, 4) << merge.out << merge.err;
  EXPECT_THAT(merge.err, HasSubstr("report writer upstream: "));
  EXPECT_EQ(merged.row("healthy_").at("outcome").at("status"), "pass");
}

}  // namespace
}  // namespace torchstone
