// Texts in pages and summaries about why a compiled program is wrong.
#include <gmock/gmock.h>

#include "reports/record/results_folder/side_files.h"
#include "reports/write/formats.h"
#include "reports/write/html/page.h"
#include "tests/unit/reports/diagnosed.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::write {
namespace {

using testing::HasSubstr;
using testing::Not;

Result wrong(const std::string& name) {
  Result r = simple_result("suite/Accuracy.C/" + name, Status::fail_accuracy);
  r.outcome.diagnosis = diagnosed("softmax");
  r.outcome.diagnosis->folder = results_folder::diagnosis_path("", r.name).string();
  return r;
}

std::string why_of(const std::string& page) {
  const auto begin = page.find("<section id=why>");
  return begin == std::string::npos ? "" : page.substr(begin, page.find("</section>", begin) - begin);
}

TEST(Why, HasAnEntryForEachDiagnosisWithLinksToItsFiles) {
  const std::string page = write_html({sample_run(), {wrong("a"), wrong("b%"), simple_result("fine", Status::pass)}});
  const std::string why = why_of(page);
  EXPECT_EQ(count_of(why, "<details class=case"), 2u);
  EXPECT_THAT(page, HasSubstr("<a href=#why>Why</a>"));
  EXPECT_LT(page.find("<section id=attention>"), page.find("<section id=why>"));
  EXPECT_LT(page.find("<section id=why>"), page.find("<section id=cases>"));
  EXPECT_THAT(why,
              HasSubstr("<tr><th>first wrong value<td>aten::softmax → v7 float32[8, 64] (in layer3.0, net.py:12)"));
  EXPECT_THAT(why, HasSubstr("<td>python reproduce.py: failed in 10 of 10 runs"));
  EXPECT_THAT(why, HasSubstr("<a href=\"./diagnosis/suite+Accuracy.C+a/issue.md\">issue.md</a>"));
  EXPECT_THAT(why, HasSubstr("<a href=\"./diagnosis/suite+Accuracy.C+b%2525/reproduce.py\">"));
  EXPECT_THAT(why, Not(HasSubstr("guilty.json")));
}

TEST(Why, LinksNothingOutsideOfTheFolderOfTheCase) {
  for (const char* folder : {"javascript:alert(1)", "https://evil.example", "/etc", "diagnosis/other", ""}) {
    Result r = wrong("a");
    r.outcome.diagnosis->folder = folder;
    const std::string why = why_of(write_html({sample_run(), {r}}));
    EXPECT_THAT(why, Not(HasSubstr("href=\""))) << folder;
    EXPECT_THAT(why, HasSubstr("Its files are not in this results folder."));
  }
  Result r = wrong("a");
  r.outcome.diagnosis->folder = "javascript:x//?\"'><b>/" + results_folder::diagnosis_path("", r.name).string();
  r.outcome.diagnosis->files = {"issue.md", "../../secret", "javascript:x"};
  const std::string why = why_of(write_html({sample_run(), {r}}));
  EXPECT_THAT(why, HasSubstr("<a href=\"./javascript%3Ax//%3F%22%27%3E%3Cb%3E/diagnosis/"));
  EXPECT_EQ(count_of(why, "href=\""), 1u);
}

TEST(Why, CountsWhatIsHealthyAndWhatWasLeftOut) {
  Result healthy = wrong("healthy"), excluded = simple_result("left", Status::fail_accuracy);
  healthy.outcome.status = Status::pass;
  healthy.outcome.diagnosis->outcome = DiagnosisOutcome::healthy;
  excluded.outcome.undiagnosed = "not diagnosed: 10 cases were (--torchstone_diagnose_max)";
  const Report report{sample_run(), {healthy, excluded}};
  const std::string why = why_of(write_html(report));
  EXPECT_THAT(why, HasSubstr("1 case that passed: no value of the compiled program is wrong."));
  EXPECT_THAT(why, HasSubstr("1 case left out, for example: not diagnosed: 10 cases were (--torchstone_diagnose_max)"));
  EXPECT_EQ(count_of(why, "<details"), 0u);
  const std::string markdown = write_markdown(report);
  EXPECT_THAT(markdown, HasSubstr("1 left out, for example: not diagnosed"));
  EXPECT_THAT(markdown, Not(HasSubstr("| case | outcome | why |")));
  EXPECT_EQ(why_of(write_html({sample_run(), {simple_result("fine", Status::pass)}})), "");
}

TEST(Why, OfManyDiagnosesTheFirstOnesAreShownAndTheRestIsCounted) {
  std::vector<Result> results;
  for (size_t i = 0; i < 1000; ++i) results.push_back(wrong(std::to_string(i)));
  const std::string page = write_html({sample_run(), results});
  EXPECT_EQ(count_of(why_of(page), "<details class=case"), 200u);
  EXPECT_THAT(why_of(page), HasSubstr("800 diagnoses more are in results.json."));
  const std::string markdown = write_markdown({sample_run(), results}, {.limit = 60000, .comparison = {}});
  EXPECT_LE(markdown.size(), 60000u);
}

TEST(Why, IsATableInMarkdownAndNoPropertyInJUnit) {
  const Report report{sample_run(), {wrong("a")}};
  EXPECT_THAT(
      write_markdown(report),
      HasSubstr(
          "| `a` | located | aten&#58;&#58;softmax (v7, layer3.0, net.py&#58;12) alone is wrong | online\\_softmax "
          "| failed in 10 of 10 runs |\n"));
  EXPECT_THAT(write_junit(report.results, report.run), Not(HasSubstr("diagnosis_record")));
}

}  // namespace
}  // namespace torchstone::write
