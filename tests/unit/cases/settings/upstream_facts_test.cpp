#include <algorithm>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <torch/torch.h>
#include <torchstone/model.h>

#include "cases/settings/policy.h"
#include "cases/settings/suite.h"
#include "fixtures/checks/subject/model_preparation.h"
#include "models/core/model_registry.h"
#include "tests/unit/cases/support.h"

// Compares every registered row with tests/upstream/facts.json, which collect_facts.py makes from upstream's files.

namespace torchstone::policy {
namespace {

using nlohmann::json;

const json& upstream_facts() {
  static const json facts = json::parse(std::ifstream(TORCHSTONE_TEST_DIR "/upstream/facts.json"));
  return facts;
}

/// A registered model of one of upstream's suites, and upstream's facts about it.
struct RegisteredRow {
  const ModelInfo* info;
  std::string suite;
  const json* facts;  ///< nullptr: upstream has no such model

  std::string name() const { return suite + "/" + info->name; }
  json otherwise() const { return upstream_facts().at("otherwise").value(info->name, json::object()); }
  json lists() const { return facts->at("lists"); }
  Conditions conditions(Mode mode) const {
    Conditions conditions;
    conditions.model = info->name;
    conditions.mode = mode;
    conditions.preset = Preset::full;
    conditions.check = "performance";
    return conditions;
  }
};

const Policy& policy_of(const std::string& suite) {
  static std::map<std::string, Policy> policies;
  const auto known = policies.find(suite);
  if (known != policies.end()) return known->second;
  const std::string file = TORCHSTONE_SOURCE_DIR "/cases/policies/" + suite + ".yaml";
  return policies.emplace(suite, read_policy(file, suite)).first->second;
}

const std::vector<RegisteredRow>& registered_rows() {
  static const std::vector<RegisteredRow> all = [] {
    std::vector<RegisteredRow> found;
    const json& models = upstream_facts().at("models");
    for (const auto* info : all_models()) {
      const auto suite = std::find_if(info->suites.begin(), info->suites.end(),
                                      [&](const std::string& name) { return models.contains(name); });
      if (suite == info->suites.end()) continue;
      const json place = upstream_facts().at("names").value(info->name, json{*suite, info->name});
      const json& of_suite = models.at(place.at(0).get<std::string>());
      const auto facts = of_suite.find(place.at(1).get<std::string>());
      found.push_back({info, *suite, facts == of_suite.end() ? nullptr : &*facts});
    }
    return found;
  }();
  return all;
}

std::vector<RegisteredRow> rows_upstream_has() {
  std::vector<RegisteredRow> found;
  for (const auto& row : registered_rows())
    if (row.facts) found.push_back(row);
  return found;
}

TEST(UpstreamFacts, KnowEveryRowOrNameItAsOurOwn) {
  std::vector<std::string> own;
  for (const auto& row : registered_rows())
    if (!row.facts) own.push_back(row.info->name);
  EXPECT_EQ(own, upstream_facts().at("own").get<std::vector<std::string>>());
  EXPECT_EQ(rows_upstream_has().size(), 149U);
}

TEST(UpstreamFacts, HoldTheBatchSizesOfFull) {
  for (const auto& row : rows_upstream_has())
    for (const auto& [key, mode] : {std::pair("inference", Mode::inference), std::pair("training", Mode::training)}) {
      if (!row.facts->contains(key)) continue;
      const BatchSize batch = batch_size_of(policy_of(row.suite), row.conditions(mode), *row.info);
      EXPECT_EQ(batch.size, row.facts->at(key).get<int64_t>()) << row.name() << " in " << key << ", " << batch.origin;
    }
}

TEST(UpstreamFacts, HoldWhichBatchSizesAreFixed) {
  for (const auto& row : rows_upstream_has())
    EXPECT_EQ(row.info->fixed_batch, row.facts->value("fixed", false)) << row.name();
}

/// Returns true for keys whose facts are not under `lists`. Other tests compare them.
bool is_of_another_test(const std::string& key) {
  return key.starts_with("optimizer.") || key.starts_with("own_batch_size.") || key == "models_without_batch_size" ||
         key == "fixed_batch_size";
}

TEST(UpstreamFacts, HoldEveryListOfThePolicies) {
  for (const auto& row : rows_upstream_has())
    for (const auto& key : policy_schema()) {
      if (is_of_another_test(key.path) || row.otherwise().contains(key.path)) continue;
      const Mention* mention = policy_of(row.suite).find(key.path, row.info->name);
      EXPECT_EQ(mention ? mention->value : 0, row.lists().value(key.path, 0.0)) << row.name() << " in " << key.path;
    }
}

TEST(UpstreamFacts, HoldTheSidesOfTimmsImages) {
  const checks::SkipInit no_draws;
  int larger = 0;
  for (const auto& row : registered_rows()) {
    constexpr int64_t most_parameters = 500'000'000;  // more do not fit into a small machine's memory
    if (row.suite != "timm" || row.info->parameters > most_parameters) continue;
    const json& sides =
        row.facts ? row.facts->at("image_side") : upstream_facts().at("image_sides_of_own").at(row.info->name);
    larger += sides.at("inference") > sides.at("training") ? 1 : 0;
    for (const auto& [key, mode] : {std::pair("inference", Mode::inference), std::pair("training", Mode::training)}) {
      const ModelOptions options{.preset = Preset::full, .mode = mode, .batch_size = 1};
      const auto side = sides.at(key).get<int64_t>();
      EXPECT_EQ(row.info->make(options)->example_inputs(options).at(0).sizes(), (torch::IntArrayRef{1, 3, side, side}))
          << row.name() << " in " << key;
    }
  }
  EXPECT_EQ(larger, 7);
}

/// A suite's settings for a model are applied after the policy, so the other tests here do not see them.
TEST(UpstreamFacts, StateWhatASuiteSetsForAModelOfUpstreams) {
  const std::set<std::string> judges_nothing{"expected", "reason", "time_limit"};
  std::set<std::string> set, stated;
  for (const auto& row : rows_upstream_has()) {
    const auto otherwise = row.otherwise();
    for (const auto& [key, why] : otherwise.items())
      if (key.starts_with("suite.")) stated.insert(row.name() + " " + key);
  }
  for (const auto& row : rows_upstream_has()) {
    const auto file = suite::read_suite(TORCHSTONE_SOURCE_DIR "/cases/suites/" + row.suite + ".yaml");
    for (const auto& model : file.models)
      for (const auto& [key, value] : model.settings)
        if (model.name == row.info->name && !judges_nothing.contains(key)) set.insert(row.name() + " suite." + key);
  }
  EXPECT_EQ(set, stated);
}

TEST(UpstreamFacts, HoldTheOptimizers) {
  const std::map<OptimizerKind, std::string> names{
      {OptimizerKind::none, "none"}, {OptimizerKind::sgd, "sgd"}, {OptimizerKind::adam, "adam"}};
  for (const auto& row : rows_upstream_has()) {
    if (row.otherwise().contains("optimizer")) continue;
    Conditions conditions = row.conditions(Mode::training);
    const std::string plain = row.facts->at("optimizer");
    EXPECT_EQ(names.at(optimizer_of(policy_of(row.suite), conditions).kind), plain) << row.name();
    conditions.check = "accuracy";
    conditions.device = "cuda";
    conditions.inductor = true;
    EXPECT_EQ(names.at(optimizer_of(policy_of(row.suite), conditions).kind),
              row.facts->value("optimizer_with_inductor", plain))
        << row.name() << " in accuracy with inductor on cuda";
  }
}

}  // namespace
}  // namespace torchstone::policy
