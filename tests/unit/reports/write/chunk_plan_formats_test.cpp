#include "reports/write/chunk_plan_formats.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "reports/base/files.h"

namespace torchstone::write {
namespace {

using nlohmann::json;
using testing::HasSubstr;

ChunkPlan sample_plan() {
  return {120, {{false, 100, {"s/A.C/a", "s/A.C/b"}}, {false, 20, {"s/A.C/c"}}, {true, 60, {"s/P.C/a"}}}, {"s/A.C/c"}};
}

TEST(ChunkPlanFormats, TextNamesAssumedDurations) {
  EXPECT_THAT(plan_text(sample_plan()), HasSubstr("4 cases in 3 chunks of at most 120 s, 180.0 s in all\n"
                                                  "Without a recorded duration:\n  s/A.C/c\n"));
}

TEST(ChunkPlanFormats, Json) {
  const json plan = json::parse(plan_json(sample_plan()));
  EXPECT_EQ(plan["schema"], "torchstone/plan/1");
  EXPECT_EQ(plan["assumed"], json({"s/A.C/c"}));
  EXPECT_EQ(plan["chunks"].size(), 3u);
  EXPECT_EQ(plan["chunks"][0]["cases"], json({"s/A.C/a", "s/A.C/b"}));
  EXPECT_EQ(plan["chunks"][2]["kind"], "timed");
}

TEST(ChunkPlanFormats, GithubMatrixIsOneLine) {
  const std::string text = plan_github(sample_plan());
  EXPECT_EQ(text.find('\n'), text.size() - 1) << "a line of $GITHUB_OUTPUT";
  const json matrix = json::parse(text);
  EXPECT_EQ(matrix["include"].size(), 3u);
  EXPECT_EQ(matrix["include"][0],
            json({{"chunk", 0}, {"kind", "judged"}, {"minutes", 14}, {"filter", "s/A.C/a:s/A.C/b"}}));
  ChunkPlan many{1, std::vector<Chunk>(257, Chunk{false, 1, {"a"}}), {}};
  EXPECT_THROW(plan_github(many), ReportError);
  many.chunks.pop_back();
  EXPECT_EQ(json::parse(plan_github(many))["include"].size(), 256u);
}

// GitLab's schema requires that a job has a script, its own or an inherited one, and a stage from the list.
TEST(ChunkPlanFormats, GitlabPipelineRetriesInfrastructureAndMerges) {
  const json pipeline = json::parse(plan_gitlab(sample_plan(), "torchstone:1"));
  EXPECT_EQ(pipeline["default"]["image"], "torchstone:1");
  EXPECT_EQ(pipeline[".chunk"]["script"], json({"torchstone"}));
  EXPECT_EQ(pipeline[".chunk"]["retry"], json({{"max", 2}, {"exit_codes", json::array({4})}}));
  EXPECT_EQ(pipeline[".chunk"]["artifacts"]["when"], "always");
  const json& timed = pipeline["timed 2"];
  EXPECT_EQ(timed["extends"], ".chunk");
  EXPECT_EQ(timed["variables"], json({{"GTEST_FILTER", "s/P.C/a"}, {"TORCHSTONE_OUT", "results/2"}}));
  EXPECT_EQ(pipeline["merge"]["when"], "always");
  for (const auto& [name, job] : pipeline.items()) {
    if (!job.contains("stage")) continue;
    EXPECT_THAT(pipeline["stages"], testing::Contains(job["stage"])) << name;
  }
  EXPECT_FALSE(json::parse(plan_gitlab(sample_plan(), "")).contains("default"));
}

json item_of(const json& list, const std::string& kind, const std::string& name) {
  for (const auto& item : list["items"])
    if (item["kind"] == kind && item["metadata"]["name"] == name) return item;
  ADD_FAILURE() << kind << " " << name;
  return {};
}

// Checks what Kubernetes requires of an Indexed Job with backoffLimitPerIndex and podFailurePolicy.
TEST(ChunkPlanFormats, KubernetesHasAnIndexedJobForEachKind) {
  const json list = json::parse(plan_k8s(sample_plan(), "torchstone:1"));
  EXPECT_EQ(list["kind"], "List");
  EXPECT_EQ(list["items"].size(), 4u);
  const json judged = item_of(list, "Job", "torchstone-judged")["spec"];
  EXPECT_EQ(judged["completionMode"], "Indexed");
  EXPECT_EQ(judged["completions"], 2);
  EXPECT_EQ(judged["backoffLimitPerIndex"], 2);
  const json& pod = judged["template"]["spec"];
  EXPECT_EQ(pod["restartPolicy"], "Never") << "podFailurePolicy requires it";
  EXPECT_EQ(pod["containers"].size(), 1u);
  EXPECT_EQ(pod["containers"][0]["image"], "torchstone:1");
  const json& rules = judged["podFailurePolicy"]["rules"];
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0], json({{"action", "Ignore"},
                            {"onPodConditions", json::array({{{"type", "DisruptionTarget"}, {"status", "True"}}})}}));
  EXPECT_EQ(rules[1]["action"], "FailIndex");
  EXPECT_EQ(
      rules[1]["onExitCodes"],
      json({{"containerName", pod["containers"][0]["name"]}, {"operator", "NotIn"}, {"values", json::array({4})}}));
  // The filter of an index is a file in the ConfigMap that the pod mounts.
  const json map = item_of(list, "ConfigMap", "torchstone-judged");
  EXPECT_EQ(map["data"]["1"], "--gtest_filter=s/A.C/c\n");
  EXPECT_EQ(pod["volumes"][0]["configMap"]["name"], map["metadata"]["name"]);
  EXPECT_EQ(pod["containers"][0]["args"][0], "--gtest_flagfile=/chunks/$(JOB_COMPLETION_INDEX)");
  // A timed pod shares no node with pods of either job.
  EXPECT_FALSE(pod.contains("affinity"));
  const json timed = item_of(list, "Job", "torchstone-timed")["spec"]["template"];
  const json& rule = timed["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0];
  EXPECT_EQ(rule["labelSelector"]["matchLabels"], timed["metadata"]["labels"]);
  EXPECT_EQ(judged["template"]["metadata"]["labels"], timed["metadata"]["labels"]);
}

TEST(ChunkPlanFormats, KubernetesRefusesMoreThanAConfigMapHolds) {
  ChunkPlan plan{1, std::vector<Chunk>(12, Chunk{false, 1, {std::string(99'000, 'a')}}), {}};
  EXPECT_THROW(plan_k8s(plan, "i"), ReportError);
  plan.chunks.resize(10);
  EXPECT_EQ(json::parse(plan_k8s(plan, "i"))["items"].size(), 2u);
}

}  // namespace
}  // namespace torchstone::write
