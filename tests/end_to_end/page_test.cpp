// torchstone-report html with valid and invalid input. page/page_test.py tests the page itself.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"
#include "tests/temporary_folder.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Page : testing::Test {
  const TemporaryFolder temporary;
  const fs::path& folder = temporary.path();

  /// Writes this text to results.json and makes a page from it.
  ProgramRun make(const std::string& text, const std::vector<std::string>& further = {}) const {
    std::ofstream(folder / "results.json") << text;
    std::vector<std::string> arguments = {TORCHSTONE_REPORT, "html", folder.string(), "-o", page()};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return run_program(arguments);
  }
  std::string page() const { return (folder / "report.html").string(); }
  const std::string results = read_file(std::string(TORCHSTONE_TEST_DIR) + "/unit/reports/golden/results.json");
};

TEST_F(Page, IsMadeOfARunAndNamed) {
  const ProgramRun run = make(results);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, page() + "\n");
  EXPECT_THAT(read_file(page()), HasSubstr("<title>Torchstone: 10 of 37 cases as expected"));
}

TEST_F(Page, IsMadeOfResultsWithUnknownMembers) {
  std::string newer = results;
  newer.insert(newer.find('{') + 1, "\"from_a_later_version\": [1],");
  EXPECT_EQ(make(newer).exit_code, 0);
}

TEST_F(Page, IsRefusedForAnOtherSchemaATruncatedFileAndNothing) {
  std::string older = results;
  older.replace(older.find("result/2"), 8, "result/0");
  const ProgramRun of_older = make(older), of_half = make(results.substr(0, results.size() / 2));
  EXPECT_EQ(of_older.exit_code, 2);
  EXPECT_THAT(of_older.err, HasSubstr("results.json: schema: expected \"torchstone/result/2\""));
  EXPECT_EQ(of_half.exit_code, 2);
  EXPECT_THAT(of_half.err, HasSubstr("results.json: not JSON: "));
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "html", (folder / "absent").string()}).exit_code, 2);
  fs::remove(folder / "results.json");
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "html", folder.string()}).exit_code, 3);
  EXPECT_FALSE(fs::exists(page()));
}

TEST_F(Page, IsRefusedForAnUnusableBaselineOrHistory) {
  EXPECT_EQ(make(results, {"--baseline", (folder / "absent").string()}).exit_code, 2);
  EXPECT_EQ(make(results, {"--history", (folder / "absent.jsonl").string()}).exit_code, 2);
  std::ofstream(folder / "history.jsonl") << "no json\n{}\n";
  const ProgramRun run = make(results, {"--history", (folder / "history.jsonl").string()});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("history.jsonl"));
}

}  // namespace
}  // namespace torchstone
