// Numbers must have a decimal point in every locale. A plug-in or a library may set a locale with a decimal comma.
#include <array>
#include <clocale>
#include <cstdio>
#include <filesystem>
#include <locale>

#include <gmock/gmock.h>
#include <torchstone/report_writer.h>

#include "reports/base/csv_format.h"
#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/judge/history.h"
#include "reports/record/report_json.h"
#include "reports/record/verdict.h"
#include "reports/write/formats.h"
#include "tests/comma_locale.h"
#include "tests/environment_variable.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

/// Sets a locale with a decimal comma for C functions and streams of this process while it exists.
class InCommaLocale {
 public:
  InCommaLocale() : path_("LOCPATH", built_.folder()) {
    if (std::setlocale(LC_ALL, CommaLocale::name().c_str()) == nullptr) throw std::runtime_error("no such locale");
    before_ = std::locale::global(std::locale(std::locale::classic(), new Comma));
    std::setlocale(LC_NUMERIC, CommaLocale::name().c_str());
  }
  ~InCommaLocale() {
    std::locale::global(before_);
    std::setlocale(LC_ALL, "C");
  }

 private:
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  CommaLocale built_;
  EnvironmentVariable path_;
  std::locale before_;
};

/// Returns all texts that are written of the sample, and texts of the reports that are read from them.
std::vector<std::string> texts_in_this_locale() {
  const Report report{sample_run(), sample_results()};
  std::vector<std::string> texts;
  for (const ReportWriter* writer : report_writers()) {
    if (writer->help == "a test's") continue;  // registered by another test of this program
    if (writer->text) texts.push_back(writer->text(report, {}));
    if (!writer->files) continue;
    for (const auto& [name, text] : writer->files(report, {})) texts.push_back(text);
  }
  for (const auto& result : report.results) texts.push_back(console_row(result, false));
  texts.push_back(write_json(parse_json(write_json(report.results, report.run), "results.json").results, report.run));
  for (const auto& result : report.results) texts.push_back(write_case_json(result));
  texts.push_back(
      judge::write_history(judge::parse_history(judge::write_history(judge::history_points(report)), "history.jsonl")));
  const CsvTable table = parse_csv(write::write_wide_csv(report.results), "results.csv");
  for (const auto& row : table.rows) {
    const auto speedup = parse_number(row.cells[table.require_column("speedup")]);
    texts.push_back(speedup ? exact(*speedup) : "");
  }
  return texts;
}

TEST(CommaLocale, ChangesNoReportAndNoReader) {
  const auto expected = texts_in_this_locale();
  std::vector<std::string> found;
  std::array<char, 16> by_c{};
  {
    const InCommaLocale comma;
    std::snprintf(by_c.data(), by_c.size(), "%g", 1.5);
    found = texts_in_this_locale();
    EXPECT_EQ(leading_number("1.5e-3, relative"), 1.5e-3);
    EXPECT_EQ(parse_number("1,5"), std::nullopt);
  }
  EXPECT_STREQ(by_c.data(), "1,5");  // the locale was in effect
  EXPECT_EQ(found, expected);
}

/// No source may call a function that depends on the locale of the process.
TEST(CommaLocale, IsObeyedByNoSource) {
  const std::string takes_it_back = "std::setlocale(LC_NUMERIC, \"C\")";
  size_t files = 0;
  for (const char* folder : {"reports", "cases", "fixtures", "models"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(TORCHSTONE_SOURCE_DIR) / folder)) {
      const auto suffix = entry.path().extension();
      if (suffix != ".cpp" && suffix != ".h") continue;
      ++files;
      std::string text = read_text(entry.path());
      if (const size_t at = text.find(takes_it_back); at != std::string::npos) text.erase(at, takes_it_back.size());
      for (const char* obeying : {"strtod(", "strtof(", "strtold(", "stod(", "stof(", "stold(", "atof(", "setlocale(",
                                  "locale::global(", "%g", "%f", "%e\"", ":L}"})
        EXPECT_EQ(text.find(obeying), std::string::npos) << entry.path() << ": " << obeying;
    }
  }
  EXPECT_GT(files, 300u);
}

}  // namespace
}  // namespace torchstone
