#include "reports/write/reports.h"

#include <fstream>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <gmock/gmock.h>

#include "models/core/registration.h"
#include "reports/base/files.h"
#include "reports/results_folder/case_files.h"
#include "reports/results_folder/empty_results.h"
#include "reports/results_folder/merge.h"
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

TEST(WriteAtomically, MakesFoldersReplacesAndLeavesNothingAside) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a/b/file.txt";
  write_atomically(path, "old");
  write_atomically(path, std::string("new\0!", 5));
  EXPECT_EQ(read_text(path), std::string("new\0!", 5));
  EXPECT_EQ(names_in(path.parent_path()), std::set<std::string>{"file.txt"});
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
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"taken"});
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_THROW(write_atomically(folder.path() / "file/below", "text"), std::system_error);
}

TEST(ReadFile, NamesWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_text(folder.path() / "absent"), std::system_error);
  EXPECT_THROW(read_text(folder.path()), std::system_error);
}

TEST(CaseFileName, IsSafeAndDifferentForDifferentNames) {
  EXPECT_EQ(case_file_name("torchbench/Accuracy.A/resnet18_float32"), "torchbench+Accuracy.A+resnet18_float32");
  EXPECT_EQ(case_file_name("../x"), "%2E.+x");
  EXPECT_EQ(case_file_name("a+b%ß"), "a%2Bb%25%C3%9F");
  const std::string long_name(1000, 'a');
  EXPECT_LT(case_file_name(long_name + "b").size(), 230u);
  EXPECT_NE(case_file_name(long_name + "b"), case_file_name(long_name + "c"));
}

TEST(Cases, ComeBackInTheOrderTheyWereRecorded) {
  const TemporaryFolder folder;
  Result late = simple_result("a/late", Status::pass), early = simple_result("z/early", Status::fail_accuracy);
  late.recorded = "2026-01-31T12:00:02.000Z";
  early.recorded = "2026-01-31T12:00:01.000Z";
  results_folder::write_case(folder.path(), late);
  results_folder::write_case(folder.path(), early);
  const results_folder::CaseFiles cases = results_folder::read_cases(folder.path());
  ASSERT_EQ(cases.results.size(), 2u);
  EXPECT_EQ(cases.results[0].name, "z/early");
  EXPECT_EQ(cases.results[1].name, "a/late");
  EXPECT_TRUE(cases.errors.empty());
}

TEST(Cases, AreStampedWhenWritten) {
  const TemporaryFolder folder;
  Result result = simple_result("a", Status::pass);
  result.recorded = "";
  results_folder::write_case(folder.path(), result);
  EXPECT_EQ(results_folder::read_cases(folder.path()).results.at(0).recorded.size(),
            std::string("2026-01-31T12:00:00.000Z").size());
}

TEST(Cases, StartedAndNeverFinishedIsACrash) {
  const TemporaryFolder folder;
  Result result = simple_result("a", Status::pass);
  result.finished = false;
  results_folder::write_case(folder.path(), result);
  const auto cases = results_folder::read_cases(folder.path());
  ASSERT_EQ(cases.results.size(), 1u);
  EXPECT_EQ(cases.results[0].outcome.status, Status::crash);
  EXPECT_EQ(cases.results[0].outcome.reason, "started, never finished");
  EXPECT_TRUE(cases.results[0].finished);
  EXPECT_TRUE(cases.errors.empty());
}

TEST(Cases, ADamagedFileIsARowThatNamesIt) {
  const TemporaryFolder folder;
  const fs::path path = results_folder::write_case(folder.path(), simple_result("suite/Check.A/b", Status::pass));
  results_folder::write_case(folder.path(), simple_result("whole", Status::pass));
  fs::resize_file(path, fs::file_size(path) / 2);
  const auto cases = results_folder::read_cases(folder.path());
  ASSERT_EQ(cases.results.size(), 2u);
  ASSERT_EQ(cases.errors.size(), 1u);
  EXPECT_THAT(cases.errors[0], HasSubstr(path.string()));
  const Result& row = cases.results[0].name == "whole" ? cases.results[1] : cases.results[0];
  EXPECT_EQ(row.name, "suite/Check.A/b");
  EXPECT_EQ(row.outcome.status, Status::crash);
  EXPECT_THAT(row.outcome.reason, testing::StartsWith("damaged result file: " + path.string()));
}

TEST(Cases, OfNoFolderAreNone) { EXPECT_TRUE(results_folder::read_cases("/no/such/folder").results.empty()); }

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

/// Registered after the writers of the program, as a plug-in is.
ReportWriter writer(const char* name, const std::function<NamedTexts(const Report&, const WriteOptions&)>& files) {
  return {.name = name, .help = "a test's", .files = files};
}

TEST(ReportWriters, AreWrittenByOrderAndName) {
  std::vector<std::string> names;
  for (const auto* one : report_writers())
    if (one->order < 1000) names.push_back(one->name);
  EXPECT_EQ(names, (std::vector<std::string>{"json", "html", "junit", "csv", "summary_csv", "upstream", "batch_sizes",
                                             "operatorbench", "fastrnns"}));
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
      testing::ElementsAre("report writer zz_outside: the file \"../outside.txt\" is outside of the results folder",
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

struct Shards {
  TemporaryFolder folder;
  fs::path one = folder.path() / "one", two = folder.path() / "two";
};

Result recorded(const std::string& name, Status status, const std::string& when) {
  Result result = simple_result(name, status);
  result.recorded = when;
  return result;
}

TEST(Merge, TakesTheNewestRecordOfAName) {
  const Shards shards;
  write_reports({sample_run(), {recorded("a", Status::crash, "1"), recorded("b", Status::pass, "9")}}, shards.one);
  results_folder::write_case(shards.two, recorded("a", Status::pass, "2"));
  results_folder::write_case(shards.two, recorded("b", Status::crash, "3"));
  results_folder::write_case(shards.two, recorded("c", Status::vacuous, "4"));
  for (const auto& inputs : {std::vector{shards.one, shards.two}, std::vector{shards.two, shards.one}}) {
    const results_folder::Merged merged = results_folder::merge_results(inputs);
    ASSERT_EQ(merged.report.results.size(), 3u);
    for (const auto& result : merged.report.results) {
      EXPECT_EQ(result.outcome.status, result.name == "c" ? Status::vacuous : Status::pass) << result.name;
    }
  }
}

TEST(Merge, SaysWhereTheMachinesDiffer) {
  const Shards shards;
  RunInfo later = sample_run();
  later.started = "2026-02-01T00:00:00.000Z";
  later.machine["cpu"] = "Other CPU";
  write_reports({later, {simple_result("a", Status::pass)}}, shards.one);
  write_reports({sample_run(), {simple_result("b", Status::pass)}}, shards.two);
  const RunInfo run = results_folder::merge_results({shards.one, shards.two / "results.json"}).report.run;
  EXPECT_EQ(run.machine.at("cpu"), "Other CPU | Some CPU @ 3.0 GHz");
  EXPECT_EQ(run.machine.at("cores"), "8");
  EXPECT_EQ(run.started, sample_run().started);
  EXPECT_DOUBLE_EQ(run.duration_s, 2 * sample_run().duration_s);
  EXPECT_EQ(run.exit_reason, "merged from 2 inputs");
}

TEST(Merge, OfOneRunKeepsHowItEnded) {
  const Shards shards;
  write_reports({sample_run(), {simple_result("a", Status::pass)}}, shards.one);
  EXPECT_EQ(results_folder::merge_results({shards.one}).report.run.exit_reason, sample_run().exit_reason);
  results_folder::write_case(shards.two, simple_result("b", Status::pass));
  EXPECT_EQ(results_folder::merge_results({shards.two}).report.run.exit_reason,
            "");  // killed: no results.json says how
}

TEST(Merge, RefusesWhatIsMissingOrUnreadable) {
  const Shards shards;
  EXPECT_THROW(results_folder::merge_results({shards.one}), ReportError);
  fs::create_directories(shards.one);
  EXPECT_TRUE(results_folder::merge_results({shards.one}).report.results.empty());
  std::ofstream(shards.one / "results.json") << "{}";
  EXPECT_THROW(results_folder::merge_results({shards.one}), ReportError);
}

TEST(Merge, ADamagedCaseIsAWarningAndACrash) {
  const Shards shards;
  std::ofstream(results_folder::write_case(shards.one, simple_result("a", Status::pass))) << "half a fi";
  const results_folder::Merged merged = results_folder::merge_results({shards.one});
  EXPECT_EQ(merged.warnings.size(), 1u);
  EXPECT_EQ(merged.report.results.at(0).outcome.status, Status::crash);
}

}  // namespace
}  // namespace torchstone::write
