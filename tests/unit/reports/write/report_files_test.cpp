#include "reports/write/report_files.h"

#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "models/core/registration.h"
#include "reports/base/files.h"
#include "reports/record/results_folder/ownership.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::write {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

TEST(Reports, AreAllWrittenAndListed) {
  const TemporaryFolder folder;
  const auto [paths, faults] = write_reports({sample_run(), sample_results()}, folder.path() / "out");
  EXPECT_TRUE(faults.empty());
  EXPECT_EQ(names_in(folder.path() / "out"), (std::set<std::string>{"results.json", "report.html", "results.csv",
                                                                    "junit.xml", "summary.csv", "summary.txt", "csv"}));
  EXPECT_EQ(paths.front(), (folder.path() / "out/results.json").string());
  for (const auto& path : paths) EXPECT_FALSE(read_text(path).empty()) << path;
  EXPECT_EQ(paths.size(), 6 + names_in(folder.path() / "out/csv").size());
}

/// Returns a writer with these files. Like a plug-in's, it is registered after the writers of the program.
ReportWriter writer(const char* name, const std::function<NamedTexts(const Report&, const WriteOptions&)>& files) {
  return {.name = name, .help = "a test's", .files = files};
}

TEST(ReportWriters, AreWrittenByOrderAndName) {
  std::vector<std::string> names;
  for (const auto* one : report_writers())
    if (one->order < 1000) names.push_back(one->name);
  EXPECT_EQ(names, (std::vector<std::string>{"json", "html", "junit", "csv", "summary_csv", "upstream", "dynamo",
                                             "batch_sizes", "operatorbench", "fastrnns"}));
  EXPECT_EQ(report_writers().back()->name, "summary");
}

TEST(ReportWriters, AreRefusedWithWords) {
  const auto error = [](ReportWriter incomplete) {
    const CollectRegistrations collect;
    EXPECT_FALSE(register_report_writer(std::move(incomplete), "here.cpp", 7));
    return collect.registrations().errors.at(0);
  };
  const auto none = [](const Report&, const WriteOptions&) { return NamedTexts{}; };
  EXPECT_THAT(error(writer("junit", none)), HasSubstr("here.cpp:7: report writer junit is already registered at "));
  EXPECT_EQ(error(writer("new", nullptr)), "here.cpp:7: report writer new needs either .text or .files");
  EXPECT_EQ(error({.name = "new", .files = none}), "here.cpp:7: report writer new has no .help");
}

TEST(ReportWriters, ThatFailCostTheirOwnFilesAndSaySo) {
  static const char* outside = "../outside.txt";
  static bool on = true;
  const auto of_test = [](const char* name, const auto& make) {
    register_report_writer(
        writer(name, [make](const Report&, const WriteOptions&) { return on ? make() : NamedTexts{}; }), __FILE__,
        __LINE__);
  };
  of_test("zz_fine", [] { return NamedTexts{{"tables/fine.txt", "fine"}, {"tables/empty.txt", ""}}; });
  of_test("zz_outside", [] { return NamedTexts{{outside, "no"}}; });
  of_test("zz_throws", []() -> NamedTexts { throw std::runtime_error("no words"); });
  of_test("zz_twice", [] { return NamedTexts{{"junit.xml", "mine"}}; });
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "out";
  const Written written = write_reports({sample_run(), sample_results()}, out);
  EXPECT_THAT(
      written.faults,
      testing::ElementsAre(testing::StartsWith("report writer zz_outside: no report may be called \"../outside.txt\""),
                           "report writer zz_throws: no words",
                           "report writer zz_twice: the file \"junit.xml\" is also written by junit"));
  EXPECT_EQ(read_text(out / "tables/fine.txt"), "fine");
  EXPECT_EQ(written.paths.back(), (out / "summary.txt").string());
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"out"});
  std::ofstream(out / "tables/mine.txt") << "not of a run";
  results_folder::empty_results(out);
  EXPECT_EQ(names_in(out), std::set<std::string>{"tables"});
  EXPECT_EQ(names_in(out / "tables"), std::set<std::string>{"mine.txt"});
  on = false;
}

TEST(ReportWriters, AFileThatCannotBeWrittenCostsNoOther) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "csv") << "no folder";
  fs::create_directories(folder.path() / "junit.xml/taken");
  const Written written = write_reports({sample_run(), sample_results()}, folder.path());
  EXPECT_THAT(written.faults, testing::UnorderedElementsAre(testing::StartsWith("report writer upstream: cannot make"),
                                                            testing::StartsWith("report writer junit: cannot rename")));
  for (const char* name : {"results.json", "results.csv", "summary.txt"})
    EXPECT_THAT(written.paths, testing::Contains((folder.path() / name).string()));
  EXPECT_THAT(written.paths, testing::Not(testing::Contains((folder.path() / "junit.xml").string())));
}

}  // namespace
}  // namespace torchstone::write
