// Dynamic sizes in the real program. Planted faults are red and name the batch size. The files and the page list the
// judged sizes.
#include <algorithm>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

ProgramRun run_dynamic(const Torchstone& torchstone, const std::string& filter, std::vector<std::string> flags) {
  flags.push_back(std::string("--torchstone_suites=") + TORCHSTONE_SOURCE_DIR + "/tests/faults/dynamic.yaml");
  return torchstone.run_faults(filter, flags);
}

struct Rows {
  std::string model, dynamic;
};

void expect_row(const Torchstone& torchstone, const Rows& rows, const std::string& backend, const std::string& status,
                const std::string& reason) {
  const auto row = torchstone.row(rows.model + "_inference_float32_" + backend + "_cpu_dynamic_" + rows.dynamic);
  EXPECT_EQ(row.at("dynamic"), rows.dynamic) << row.dump(1);
  EXPECT_EQ(row.at("outcome").at("status"), status) << row.dump(1);
  EXPECT_THAT(row.at("outcome").at("reason").get<std::string>(), HasSubstr(reason));
}

TEST(DynamicSizes, OfPlantedFaultsAreRedAndNameTheBatch) {
  const Torchstone torchstone;
  const ProgramRun run = run_dynamic(torchstone, "*/healthy_*_dynamic_batch",
                                     {"--torchstone_isolate=shared", "--torchstone_checks=accuracy"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const auto expect = [&](const std::string& backend, const std::string& status, const std::string& reason) {
    expect_row(torchstone, {"healthy", "batch"}, backend, status, reason);
  };
  expect("eager", "pass", "");
  expect("torchscript", "unsupported", "torchscript compiles for the sizes that it is given");
  expect("fault_dynamic_none", "pass", "");
  expect("fault_dynamic_baked", "fail_accuracy", "; wrong at 2, 11, 15, 16, 17, 64");
  expect("fault_dynamic_misfit", "fail_accuracy", "batch 64: ");
  expect("fault_dynamic_one_size", "fail_to_run", "batch 2: planted: compiled for 4 alone");
  expect("fault_dynamic_unbounded", "fail_accuracy", "a batch of 1 was answered with a number");
  const auto passed = torchstone.row("_fault_dynamic_none_").at("outcome");
  EXPECT_EQ(passed.at("metrics").at("dynamic_sizes"), 7);
  EXPECT_EQ(passed.at("notes").at("dynamic_judged"), "2, 4, 11, 15, 16, 17, 64");
}

TEST(DynamicSizes, OfAllDimensionsAreRedForOneThatIsKeptOrNotRefused) {
  const Torchstone torchstone;
  const ProgramRun run = run_dynamic(torchstone, "*/texts_*", {"--torchstone_isolate=shared"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const auto expect = [&](const std::string& backend, const std::string& status, const std::string& reason) {
    expect_row(torchstone, {"texts", "all"}, backend, status, reason);
  };
  expect("fault_dynamic_lengths", "pass", "");
  expect("fault_dynamic_none", "fail_accuracy",
         "a length of 3 was answered with a number: the program is for batch 2 to 64, length 4 to 32");
  expect("fault_dynamic_baked", "fail_accuracy", "batch 2 and length 4: ");
  expect("fault_dynamic_baked_length", "fail_accuracy", "batch 2 and length 4: ");
  const auto passed = torchstone.row("_fault_dynamic_lengths_").at("outcome");
  EXPECT_THAT(passed.at("notes").at("dynamic_judged").get<std::string>(), HasSubstr("batch 64 and length 4, "));
  EXPECT_THAT(passed.at("notes").at("dynamic_refused").get<std::string>(), HasSubstr("a length of 3, a length of 33"));
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

/// Returns the cell of a column in the first row of results.csv. Works for all columns but the last ones, whose text
/// may contain commas.
std::string cell_of(const Torchstone& torchstone, const std::string& column) {
  std::ifstream file(torchstone.out() + "/results.csv");
  std::string head, row;
  std::getline(file, head);
  std::getline(file, row);
  const auto columns = split(head), cells = split(row);
  const auto found = std::ranges::find(columns, column);
  const auto place = static_cast<size_t>(found - columns.begin());
  return found == columns.end() || place >= cells.size() ? "no cell" : cells[place];
}

TEST(DynamicSizes, AreTimedAtThreeBatchesAndFilesAndPageSayWhatTheyCost) {
  const Torchstone torchstone;
  const ProgramRun run =
      run_dynamic(torchstone, "*/healthy_*_fault_dynamic_none_cpu_dynamic_batch",
                  {"--torchstone_checks=performance", "--torchstone_repeat=20", "--torchstone_iterations_per_run=5",
                   "--torchstone_processes=1", "--torchstone_dynamic_range=3..9"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto row = torchstone.row("fault_dynamic_none");
  const auto& outcome = row.at("outcome");
  EXPECT_EQ(outcome.at("status"), "pass") << row.dump(1);
  EXPECT_EQ(outcome.at("samples").at("dynamic_batch"), (nlohmann::json{3.0, 4.0, 9.0}));
  EXPECT_EQ(outcome.at("notes").at("dynamic_range"), "batch 3 to 9");
  for (const char* metric : {"speedup", "dynamic_cost", "dynamic_cost_low", "dynamic_cost_high", "static_compile_s"})
    EXPECT_GT(std::stod(cell_of(torchstone, metric)), 0) << metric;
  EXPECT_EQ(cell_of(torchstone, "dynamic"), "batch");
  EXPECT_THAT(read_file(torchstone.out() + "/junit.xml"), HasSubstr("<property name=\"dynamic\" value=\"batch\"/>"));
  const std::string page = read_file(torchstone.out() + "/report.html");
  for (const char* text : {"<figcaption>Speed-up by batch", "Cost of being dynamic", "geometric mean of compile time"})
    EXPECT_THAT(page, HasSubstr(text));
}

TEST(DynamicSizes, AreNotTimedWithAWrongAnswer) {
  const Torchstone torchstone;
  const ProgramRun run =
      run_dynamic(torchstone, "*/healthy_*_fault_dynamic_misfit_cpu_dynamic_batch",
                  {"--torchstone_checks=performance", "--torchstone_repeat=10", "--torchstone_processes=1"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const auto outcome = torchstone.row("fault_dynamic_misfit").at("outcome");
  EXPECT_EQ(outcome.at("status"), "fail_accuracy") << outcome.dump(1);
  EXPECT_THAT(outcome.at("reason").get<std::string>(),
              HasSubstr("batch 64: not timed, because the answer of the dynamic"));
}

}  // namespace
}  // namespace torchstone
