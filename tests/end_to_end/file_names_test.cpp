// Names of files, on the real programs: long names lose nothing, and nothing in a results.json becomes a path.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory()) files.push_back(entry.path().lexically_relative(folder));
  return files;
}

/// A backend with a dozen options: longer than a file name may be.
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
  EXPECT_THAT(run.out, HasSubstr("1 of 1 cases as expected"));
  EXPECT_GT(torchstone.row("/healthy_").at("name").get<std::string>().size(), 300u);
  for (const char* folder : {"cases", "logs", "csv"}) {
    const auto files = files_below(torchstone.out() + "/" + folder);
    ASSERT_EQ(files.size(), 1u) << folder;
    EXPECT_LE(files[0].string().size(), 255u);
  }
  const Torchstone merged;
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "merge", torchstone.out(), "-o", merged.out()}).exit_code, 0);
  EXPECT_EQ(merged.row("/healthy_").at("outcome").at("status"), "pass");
}

}  // namespace
}  // namespace torchstone
