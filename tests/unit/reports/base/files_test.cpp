#include "reports/base/files.h"

#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/temporary_folder.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(WriteAtomically, MakesFoldersReplacesAndLeavesNothingAside) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a/b/file.txt";
  write_atomically(path, "old");
  write_atomically(path, std::string("new\0!", 5));
  EXPECT_EQ(read_text(path), std::string("new\0!", 5));
  EXPECT_TRUE(fs::exists(path));
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1);
}

TEST(ReadAtMost, RefusesWhatIsNoFile) {
  EXPECT_THROW(read_at_most("/no/such/file.csv", mebibyte), ReportError);
  EXPECT_THROW(read_at_most("/", mebibyte), ReportError);
}

TEST(WriteAtomically, NamesPathAndCauseAndKeepsTheOldFile) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "taken/inside");
  try {
    write_atomically(folder.path() / "taken", "text");
    FAIL() << "a folder was overwritten";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr((folder.path() / "taken").string()));
    EXPECT_THAT(error.what(), HasSubstr("directory"));
  }
  EXPECT_EQ(folder.files(), std::vector<std::string>{"taken"});
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_THROW(write_atomically(folder.path() / "file/below", "text"), std::system_error);
}

TEST(WriteAtomically, TakesAnotherNameForItsTemporaryFileWhereOneIsTaken) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "first", "text");
  // Covers all numbers that the counter of temporary names may have in this process.
  for (int i = 0; i < 1000; ++i) std::ofstream(folder.path() / fmt::format(".{}.{}.tmp", getpid(), i)) << "of another";
  write_atomically(folder.path() / "second", "text");
  EXPECT_EQ(read_text(folder.path() / "second"), "text");
  EXPECT_EQ(read_text(folder.path() / fmt::format(".{}.999.tmp", getpid())), "of another");
}

TEST(WriteAtomically, GivesTheFileTheModeLessTheUmask) {
  const TemporaryFolder folder;
  const mode_t mask = umask(022);
  write_atomically(folder.path() / "report", "text");
  write_atomically(folder.path() / "private", "text", Durability::until_reboot, 0600);
  umask(mask);
  EXPECT_EQ(fs::status(folder.path() / "report").permissions(), fs::perms(0644));
  EXPECT_EQ(fs::status(folder.path() / "private").permissions(), fs::perms(0600));
}

TEST(ReadFile, NamesWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_text(folder.path() / "absent"), std::system_error);
  EXPECT_THROW(read_text(folder.path()), std::system_error);
}

TEST(CaseFileName, IsSafeAndDifferentForDifferentNames) {
  EXPECT_EQ(case_file_name("torchbench/Accuracy.A/resnet18_float32"), "torchbench+Accuracy.A+resnet18_float32");
  EXPECT_EQ(case_file_name("torchbench/Accuracy.A/resnet18", '.'), "torchbench.Accuracy.A.resnet18");
  EXPECT_EQ(case_file_name("../x"), "%2E.+x");
  EXPECT_EQ(case_file_name("../x", '.'), "%2E..x");
  EXPECT_EQ(case_file_name("a+b%ß"), "a%2Bb%25%C3%9F");
  const std::string long_name(1000, 'a');
  EXPECT_LT(case_file_name(long_name + "b").size(), 230u);
  EXPECT_NE(case_file_name(long_name + "b"), case_file_name(long_name + "c"));
}

TEST(FirstLine, IsOfARegularFileAlone) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "file.txt";
  EXPECT_EQ(read_first_line(path), std::nullopt);
  EXPECT_EQ(read_first_line(folder.path()), std::nullopt);
  write_atomically(path, "one\ntwo\n");
  EXPECT_EQ(read_first_line(path), "one");
  write_atomically(path, "");
  EXPECT_EQ(read_first_line(path), "");
  fs::create_symlink(path, folder.path() / "link.txt");
  EXPECT_EQ(read_first_line(folder.path() / "link.txt"), std::nullopt);
}

}  // namespace
}  // namespace torchstone
