#include "reports/base/csv_format.h"

#include <random>

#include <gmock/gmock.h>

#include "reports/record/report_json.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/write/formats.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

using testing::ElementsAre;

std::string csv_error(const std::string& text) {
  try {
    parse_csv(text, "a.csv");
    return "";
  } catch (const ReportError& error) {
    return error.what();
  }
}

TEST(CsvRead, TakesQuotesBlankLinesAndTheBreaksOfEverySystem) {
  const CsvTable table =
      parse_csv("\xef\xbb\xbfname,accuracy\r\n\n\n\na,pass\r\n\"b,\"\"c\"\"\nd\",fail\n\nlast", "a.csv");
  EXPECT_THAT(table.columns, ElementsAre("name", "accuracy"));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_THAT(table.rows[0].cells, ElementsAre("a", "pass"));
  EXPECT_THAT(table.rows[1].cells, ElementsAre("b,\"c\"\nd", "fail"));
  EXPECT_THAT(table.rows[2].cells, ElementsAre("last", ""));
  EXPECT_EQ(table.rows[0].line, 5);
  EXPECT_EQ(table.rows[1].line, 6);
  EXPECT_EQ(table.rows[1].last_line, 7);
  EXPECT_EQ(table.rows[2].line, 9);
}

TEST(CsvRead, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(csv_error(""), "a.csv: the file is empty (expected a line of column names)");
  EXPECT_EQ(csv_error("a,b\n1,2,3\n"), "a.csv:2: 3 cells (expected at most 2, one a column)");
  EXPECT_EQ(csv_error("a,b\n\n\"1,2\n3\n"), "a.csv:3: a quoted cell without an end (expected a closing \")");
  EXPECT_EQ(csv_error("a,b\n\"1\"2,3\n"),
            "a.csv:2: something follows a quoted cell (expected a comma or the end of the line)");
  EXPECT_EQ(csv_error("a,a\n"), "a.csv:1: the column a is there twice");
  EXPECT_EQ(csv_error(std::string("a,b\n1\0,2\n", 9)), "a.csv:2: a NUL byte (expected text)");
  EXPECT_THROW(parse_csv("dev,name\n", "a.csv").require_column("accuracy"), ReportError);
}

TEST(CsvRead, ReadsWhatTheWritersWrite) {
  for (const auto& [name, text] : tables::write_upstream_csvs(sample_results())) {
    const CsvTable table = parse_csv(text, name);
    std::string again = csv_line(table.columns);
    for (const auto& row : table.rows) again += csv_line(row.cells);
    EXPECT_EQ(again, text) << name;
  }
}

TEST(CsvRead, EndsInATableOrAnErrorWhateverComes) {
  std::mt19937 random(1);
  const std::string pieces = "\",\r\n;ab \xff";
  int tables = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = "name,accuracy\na,pass\n";
    for (int n = 0; n < 4; ++n) text.insert(random() % (text.size() + 1), 1, pieces[random() % pieces.size()]);
    try {
      for (const auto& row : parse_csv(text, "a.csv").rows) ASSERT_GE(row.cells.size(), 1u);
      ++tables;
    } catch (const ReportError& error) {
      EXPECT_EQ(std::string(error.what()).rfind("a.csv", 0), 0u) << error.what();
    }
  }
  EXPECT_GT(tables, 100);
  EXPECT_LT(tables, 3000);
}

}  // namespace
}  // namespace torchstone
