// Dynamic sizes by the real program: planted faults are red and name the batch; files and page hold what was judged.
#include <gmock/gmock.h>

#include "reports/base/csv_read.h"
#include "reports/base/text.h"
#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

TEST(DynamicSizes, OfPlantedFaultsAreRedAndNameTheBatch) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults("*/healthy_*_dynamic_batch",
                                               {"--torchstone_isolate=shared", "--torchstone_checks=accuracy"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const auto expect = [&](const std::string& backend, const std::string& status, const std::string& reason) {
    const auto row = torchstone.row("healthy_inference_float32_" + backend + "_cpu_dynamic_batch");
    EXPECT_EQ(row.at("dynamic"), "batch") << row.dump(1);
    EXPECT_EQ(row.at("outcome").at("status"), status) << row.dump(1);
    EXPECT_THAT(row.at("outcome").at("reason").get<std::string>(), HasSubstr(reason));
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

}  // namespace
}  // namespace torchstone
