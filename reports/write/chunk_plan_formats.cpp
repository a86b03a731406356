#include "reports/write/chunk_plan_formats.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reports/base/files.h"
#include "reports/base/process.h"

namespace torchstone::write {
namespace {

using nlohmann::ordered_json;

/// Part of a chunk's time limit for starting the program and writing reports. The rest of the limit is twice the
/// expected duration, because durations vary.
constexpr int minutes_of_start = 10;
int limit_minutes(const Chunk& chunk) { return static_cast<int>(std::ceil(2 * chunk.seconds / 60)) + minutes_of_start; }

constexpr int attempts_after_first = 2;  ///< retries of a chunk whose infrastructure failed
constexpr size_t most_github_jobs = 256;

ordered_json gitlab_job(const Chunk& chunk, size_t number) {
  return {{"extends", ".chunk"},
          {"timeout", fmt::format("{} minutes", limit_minutes(chunk))},
          {"variables", {{"GTEST_FILTER", filter_of(chunk)}, {"TORCHSTONE_OUT", fmt::format("results/{}", number)}}}};
}

constexpr const char* results_claim = "torchstone-results";
constexpr size_t config_map_limit = mebibyte;

ordered_json config_map(const std::string& name, const std::vector<Chunk>& chunks) {
  ordered_json files = ordered_json::object();
  size_t bytes = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const std::string flags = fmt::format("--gtest_filter={}\n", filter_of(chunks[i]));
    bytes += flags.size();
    files[std::to_string(i)] = flags;
  }
  if (bytes > config_map_limit)
    throw ReportError(
        fmt::format("the names of the cases of {} take {} bytes (a ConfigMap holds at most {}): plan a part "
                    "of the cases, such as one suite",
                    name, bytes, config_map_limit));
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}, {"data", files}};
}

/// Returns an affinity rule that keeps other pods of these jobs off the node, so that they do not disturb timings.
ordered_json node_for_itself() {
  return {{"podAntiAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution",
             {{{"topologyKey", "kubernetes.io/hostname"},
               {"labelSelector", {{"matchLabels", {{"app", "torchstone"}}}}}}}}}}};
}

ordered_json pod(const std::string& name, const std::string& image, bool timed) {
  ordered_json spec = {
      {"restartPolicy", "Never"},
      {"containers",
       {{{"name", "torchstone"},
         {"image", image},
         {"command", {"torchstone"}},
         {"args",
          {"--gtest_flagfile=/chunks/$(JOB_COMPLETION_INDEX)",
           fmt::format("--torchstone_out=/results/{}/$(JOB_COMPLETION_INDEX)", name)}},
         {"volumeMounts",
          {{{"name", "chunks"}, {"mountPath", "/chunks"}}, {{"name", "results"}, {"mountPath", "/results"}}}}}}},
      {"volumes",
       {{{"name", "chunks"}, {"configMap", {{"name", name}}}},
        {{"name", "results"}, {"persistentVolumeClaim", {{"claimName", results_claim}}}}}}};
  if (timed) spec["affinity"] = node_for_itself();
  return spec;
}

/// Retries exit code 4 (infrastructure) only. A pod that is lost with its node does not count as an attempt.
ordered_json failure_policy() {
  const ordered_json lost = {{"action", "Ignore"},
                             {"onPodConditions", {{{"type", "DisruptionTarget"}, {"status", "True"}}}}};
  const ordered_json final_code = {{"action", "FailIndex"},
                                   {"onExitCodes",
                                    {{"containerName", "torchstone"},
                                     {"operator", "NotIn"},
                                     {"values", ordered_json::array({static_cast<int>(ExitCode::infrastructure)})}}}};
  return {{"rules", ordered_json::array({lost, final_code})}};
}

ordered_json indexed_job(const std::string& name, const std::string& image, const std::vector<Chunk>& chunks) {
  return {
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata", {{"name", name}}},
      {"spec",
       {{"completionMode", "Indexed"},
        {"completions", chunks.size()},
        {"parallelism", chunks.size()},
        {"backoffLimitPerIndex", attempts_after_first},
        {"podFailurePolicy", failure_policy()},
        {"template",
         {{"metadata", {{"labels", {{"app", "torchstone"}}}}}, {"spec", pod(name, image, chunks.front().timed)}}}}}};
}

std::vector<Chunk> chunks_of_kind(const ChunkPlan& plan, bool timed) {
  std::vector<Chunk> chunks;
  for (const auto& chunk : plan.chunks)
    if (chunk.timed == timed) chunks.push_back(chunk);
  return chunks;
}

}  // namespace

std::string plan_text(const ChunkPlan& plan) {
  std::string text = fmt::format("{:>6}  {:<6}  {:>6}  {:>9}\n", "chunk", "kind", "cases", "seconds");
  double total = 0;
  size_t cases = 0;
  for (size_t i = 0; i < plan.chunks.size(); ++i) {
    const Chunk& chunk = plan.chunks[i];
    text += fmt::format("{:>6}  {:<6}  {:>6}  {:>9.1f}\n", i, kind_of(chunk), chunk.cases.size(), chunk.seconds);
    total += chunk.seconds;
    cases += chunk.cases.size();
  }
  text += fmt::format("{} cases in {} chunks of at most {:g} s, {:.1f} s in all\n", cases, plan.chunks.size(),
                      plan.length_s, total);
  if (!plan.assumed.empty())
    text += fmt::format("Without a recorded duration:\n  {}\n", fmt::join(plan.assumed, "\n  "));
  return text;
}

std::string plan_json(const ChunkPlan& plan) {
  ordered_json json = {{"schema", "torchstone/plan/1"},
                       {"length_s", plan.length_s},
                       {"assumed", plan.assumed},
                       {"chunks", ordered_json::array()}};
  for (const auto& chunk : plan.chunks)
    json["chunks"].push_back({{"kind", kind_of(chunk)}, {"seconds", chunk.seconds}, {"cases", chunk.cases}});
  return json.dump(1) + "\n";
}

std::string plan_github(const ChunkPlan& plan) {
  if (plan.chunks.size() > most_github_jobs)
    throw ReportError(
        fmt::format("{} chunks (a matrix of GitHub Actions has at most {} jobs): make them longer (--length)",
                    plan.chunks.size(), most_github_jobs));
  ordered_json rows = ordered_json::array();
  for (size_t i = 0; i < plan.chunks.size(); ++i)
    rows.push_back({{"chunk", i},
                    {"kind", kind_of(plan.chunks[i])},
                    {"minutes", limit_minutes(plan.chunks[i])},
                    {"filter", filter_of(plan.chunks[i])}});
  return ordered_json{{"include", rows}}.dump() + "\n";
}

std::string plan_gitlab(const ChunkPlan& plan, const std::string& image) {
  const ordered_json kept = {{"when", "always"}, {"paths", {"results/"}}};
  ordered_json json = {{"stages", {"chunks", "merge"}},
                       {".chunk",
                        {{"stage", "chunks"},
                         {"script", {"torchstone"}},
                         {"artifacts", kept},
                         {"retry",
                          {{"max", attempts_after_first},
                           {"exit_codes", ordered_json::array({static_cast<int>(ExitCode::infrastructure)})}}}}}};
  for (size_t i = 0; i < plan.chunks.size(); ++i)
    json[fmt::format("{} {}", kind_of(plan.chunks[i]), i)] = gitlab_job(plan.chunks[i], i);
  json["merge"] = {
      {"stage", "merge"},
      {"when", "always"},
      {"script", {"torchstone-report merge --exit-code results/* -o merged"}},
      {"artifacts", {{"when", "always"}, {"paths", {"merged/"}}, {"reports", {{"junit", "merged/junit.xml"}}}}}};
  if (!image.empty()) json["default"] = {{"image", image}};
  return json.dump(1) + "\n";
}

std::string plan_k8s(const ChunkPlan& plan, const std::string& image) {
  ordered_json items = ordered_json::array();
  for (const bool timed : {false, true}) {
    const auto chunks = chunks_of_kind(plan, timed);
    if (chunks.empty()) continue;
    const std::string name = "torchstone-" + kind_of(chunks.front());
    items.push_back(config_map(name, chunks));
    items.push_back(indexed_job(name, image, chunks));
  }
  return ordered_json{{"apiVersion", "v1"}, {"kind", "List"}, {"items", items}}.dump(1) + "\n";
}

}  // namespace torchstone::write
