#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "reports/record/tables/upstream_suites.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::tables {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Result timed(const std::string& model, const std::string& backend, const std::string& mode = "training") {
  Result result = simple_result("fastrnns/" + model + backend + mode, Status::pass, "performance");
  result.suite = "fastrnns";
  result.model = model;
  result.backend = backend;
  result.mode = mode;
  result.outcome.samples = {{"eager_s", {9}}, {"compiled_s", {9}}};  // blocks, which the table must not use
  if (mode != "training") return result;
  result.outcome.samples["eager_forward_s"] = {0.001, 0.003};
  result.outcome.samples["compiled_forward_s"] = {0.004, 0.004};
  result.outcome.samples["eager_backward_s"] = {0.007, 0.008};
  result.outcome.samples["compiled_backward_s"] = {0.02};
  return result;
}

std::vector<Result> results() {
  return {timed("lstm_jit", "eager"), timed("lstm_jit", "eager", "inference"), timed("vl_py", "eager"),
          timed("resnet18", "torchscript"), timed("resnet18", "eager")};
}

TEST(Fastrnns, NamesAndSidesAreUpstreams) {
  const auto runners = runner_times(results());
  ASSERT_THAT(runners, SizeIs(4));
  EXPECT_EQ(runners[0].group + " " + runners[0].name, "lstm jit");
  EXPECT_THAT(runners[0].forward, ElementsAre(1.0, 3.0));
  EXPECT_THAT(runners[0].backward, ElementsAre(7.0, 8.0));
  EXPECT_EQ(runners[1].name, "resnet18");
  EXPECT_EQ(runners[2].name, "resnet18_jit");
  EXPECT_THAT(runners[2].forward, ElementsAre(4.0, 4.0));
  EXPECT_THAT(runners[2].backward, ElementsAre(20.0));
  EXPECT_EQ(runners[3].group, "vl_lstm");
}

TEST(Fastrnns, InferenceIsNotInTheTable) {
  EXPECT_THAT(runner_times({timed("lstm_jit", "eager", "inference")}), IsEmpty());
}

TEST(Fastrnns, TheLowerBoundOfAnLstmWithLayerNormHasNoBackward) {
  const auto runners = runner_times({timed("lstm_cudnn_layernorm", "eager")});
  ASSERT_THAT(runners, SizeIs(1));
  EXPECT_THAT(runners[0].forward, SizeIs(2));
  EXPECT_THAT(runners[0].backward, IsEmpty());
}

TEST(Fastrnns, TheTableHasUpstreamsColumns) {
  EXPECT_EQ(fastrnns_table({{"lstm", "jit_premul", {1.0, 3.0}, {7.5}}}),
            "            name         avg_fwd         std_fwd        info_fwd         avg_bwd         std_bwd        "
            "info_bwd\n"
            "      jit_premul               2           1.414            None             7.5             nan          "
            "  None\n");
}

TEST(Fastrnns, OssIsOneObjectOfGroups) {
  const auto groups = nlohmann::json::parse(fastrnns_oss(runner_times(results())));
  EXPECT_EQ(groups.at("lstm").at("jit"), 2.0);
  EXPECT_EQ(groups.at("lstm-backward").at("jit"), 7.5);
  EXPECT_EQ(groups.at("resnet").at("resnet18_jit"), 4.0);
  EXPECT_EQ(groups.at("resnet-backward").at("resnet18_jit"), 20.0);
}

TEST(Fastrnns, PepHasALineForEachValue) {
  EXPECT_EQ(fastrnns_pep({{"lstm", "jit", {1.5, 2.0}, {7.5}}}),
            "Caffe2Observer {\"type\":\"NET\",\"metric\":\"lstm-jit\",\"unit\":\"ms\",\"value\":\"1.5\"}\n"
            "Caffe2Observer {\"type\":\"NET\",\"metric\":\"lstm-jit\",\"unit\":\"ms\",\"value\":\"2\"}\n"
            "Caffe2Observer {\"type\":\"NET\",\"metric\":\"lstm-backward-jit\",\"unit\":\"ms\",\"value\":\"7.5\"}\n");
}

TEST(Fastrnns, FailedRunnersAndOtherSuitesAreLeftOut) {
  Result failed = timed("lstm_jit", "eager"), other = timed("resnet18", "eager");
  failed.outcome.samples.clear();
  other.suite = "torchbench";
  EXPECT_THAT(write_fastrnns({failed, other}), IsEmpty());
  EXPECT_THAT(write_fastrnns(results()), SizeIs(3));
}

}  // namespace
}  // namespace torchstone::tables
