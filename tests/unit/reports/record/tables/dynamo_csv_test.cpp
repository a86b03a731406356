// Rows of Python modules in every output.
#include "reports/record/tables/dynamo_csv.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "reports/base/csv_format.h"
#include "reports/record/report_json.h"
#include "reports/record/results_folder/ownership.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/write/formats.h"
#include "reports/write/html/page.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::tables {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result python_row(const std::string& model, const std::string& check = "performance") {
  Result r = simple_result("python/Performance.CompiledIsFaster/" + model + "_" + check, Status::pass, check);
  r.suite = "python";
  r.model = model;
  r.backend = "torch_compile";
  r.device = "cuda:1";
  r.outcome.metrics = {{"speedup", 1.5},
                       {"graph_breaks", 2},
                       {"recompiles", 3},
                       {"unique_graphs", 4},
                       {"calls_captured", 17},
                       {"cudagraph_skips", 1},
                       {"guard_overhead_us", 48.25},
                       {"phase_backend_compile_s", 0.5}};
  r.outcome.notes = {{"subject", "python"}, {"graph_breaks", "print, here (net.py:12) ×2"}};
  r.outcome.dynamo = DynamoFacts{
      {{"print, \"here\"\nwhy",
        {"<FrameSummary file /a/net.py, line 8 in forward>", "<FrameSummary file /a/net.py, line 12 in f>"},
        2}},
      {{"backend_compile", 0.5}, {"_compile.compile_inner", 0.75}},
      {{{"co_name", "forward"}, {"guard_count", "7"}}, {{"co_name", "f"}, {"recompile_reason", "size, of x"}}}};
  return r;
}

std::string file_of(const NamedTexts& files, const std::string& name) {
  for (const auto& [file, text] : files)
    if (file == name) return text;
  return "no file " + name;
}

constexpr const char* stem = "torch_compile_python_float32_inference_cuda_";

TEST(DynamoTables, OfGraphBreaksHaveUpstreamsColumnsAndFrames) {
  const auto files = write_dynamo_csvs({python_row("Net"), python_row("Net", "accuracy")});
  const std::string expected =
      "model,reason,user_stack\n"
      "Net,\"print, \"\"here\"\"\nwhy\",\"<FrameSummary file /a/net.py, line 8 in forward>, "
      "<FrameSummary file /a/net.py, line 12 in f>\"\n";
  EXPECT_EQ(file_of(files, std::string(stem) + "performance_graph_breaks.csv"), expected);
  EXPECT_EQ(file_of(files, std::string(stem) + "accuracy_graph_breaks.csv"), expected);
}

TEST(DynamoTables, OfPhasesHaveARowForEachTimedCase) {
  Result other = python_row("Other");
  other.outcome.dynamo->phases_s = {{"backend_compile", 0.25}, {"inductor", 1}};
  const auto files = write_dynamo_csvs({python_row("Net"), other, python_row("Net", "accuracy")});
  EXPECT_EQ(file_of(files, std::string(stem) + "performance_compilation_metrics.csv"),
            "dev,name,batch_size,_compile.compile_inner,backend_compile,inductor\n"
            "cuda,Net,4,0.750000,0.500000,0.000000\n"
            "cuda,Other,4,0.000000,0.250000,1.000000\n");
  EXPECT_THAT(file_of(files, std::string(stem) + "accuracy_compilation_metrics.csv"), HasSubstr("no file"))
      << "upstream writes it with timings";
}

TEST(DynamoTables, OfFramesHaveARowForEachCompile) {
  const auto files = write_dynamo_csvs({python_row("Net")});
  EXPECT_EQ(file_of(files, std::string(stem) + "performance_compiled_frames.csv"),
            "model,co_name,guard_count,recompile_reason\nNet,forward,7,\nNet,f,,\"size, of x\"\n");
}

TEST(DynamoTables, AreNoneWithoutWhatTheyHold) {
  EXPECT_TRUE(write_dynamo_csvs(sample_results()).empty());
  Result whole = python_row("Net");
  whole.outcome.dynamo->graph_breaks.clear();
  std::vector<std::string> names;
  for (const auto& [name, text] : write_dynamo_csvs({whole})) names.push_back(name);
  EXPECT_THAT(names, ElementsAre(std::string(stem) + "performance_compilation_metrics.csv",
                                 std::string(stem) + "performance_compiled_frames.csv"));
}

TEST(DynamoTables, AreNamedLikeTheTableOfTheSameCases) {
  std::vector<Result> results{python_row("Net"), python_row("Net")};
  results[1].preset = "full";
  results[1].name += "_full";
  std::vector<std::string> tables;
  for (const auto& [name, text] : write_upstream_csvs(results)) tables.push_back(name.substr(0, name.size() - 4));
  ASSERT_EQ(tables.size(), 2u);
  for (const auto& table : tables)
    EXPECT_THAT(file_of(write_dynamo_csvs(results), table + "_graph_breaks.csv"), HasSubstr("Net")) << table;
  for (const auto& [name, text] : write_dynamo_csvs(results))
    EXPECT_TRUE(results_folder::has_own_name("csv", name)) << name << " is removed by the next run";
}

TEST(PythonRow, HasItsMetricsInEachOutput) {
  const std::vector<Result> results{python_row("Net")};
  const CsvTable wide = parse_csv(write::write_wide_csv(results), "results.csv");
  for (const auto& [column, cell] : {std::pair{"graph_breaks", "2"},
                                     {"recompiles", "3"},
                                     {"unique_graphs", "4"},
                                     {"cudagraph_skips", "1"},
                                     {"guard_overhead_us", "48.25"}})
    EXPECT_EQ(wide.cell(wide.rows.at(0), column), cell) << column;
  const std::string junit = write::write_junit(results, sample_run());
  for (const char* property : {R"(name="recompiles" value="3")", R"(name="guard_overhead_us" value="48.25")",
                               R"(name="metric_phase_backend_compile_s" value="0.5")", R"(name="note_subject")"})
    EXPECT_THAT(junit, HasSubstr(property));
  const std::string page = write::write_html({sample_run(), results});
  for (const char* part : {"<th>recompiles<td>3", "<th>graph breaks<td>2", "<td>48.2 us", "(net.py:12)"})
    EXPECT_THAT(page, HasSubstr(part));
  const auto json = nlohmann::json::parse(write_json(results, sample_run())).at("results").at(0).at("outcome");
  EXPECT_EQ(json.at("metrics").at("recompiles"), 3);
  EXPECT_EQ(json.at("dynamo").at("graph_breaks").at(0).at("count"), 2);
  const auto upstream = write_upstream_csvs(results);
  const CsvTable table = parse_csv(upstream.at(0).second, upstream.at(0).first);
  EXPECT_EQ(table.cell(table.rows.at(0), "graph_breaks"), "2");
  EXPECT_EQ(table.cell(table.rows.at(0), "cudagraph_skips"), "1");
}

}  // namespace
}  // namespace torchstone::tables
