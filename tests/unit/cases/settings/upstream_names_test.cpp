#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cases/settings/policy.h"
#include "cases/settings/suite.h"
#include "tests/unit/cases/support.h"

// Compares every name of upstream's suites that is loaded from a file or by Python with tests/upstream/facts.json.
// upstream_facts_test.cpp does so for the models of the zoo.

namespace torchstone::policy {
namespace {

using nlohmann::json;
using Names = std::map<std::string, std::vector<std::string>>;

const json& facts() {
  static const json all = json::parse(std::ifstream(TORCHSTONE_TEST_DIR "/upstream/facts.json"));
  return all;
}

/// Returns the names in tests/coverage/upstream_models.txt, by suite.
const Names& upstream_names() {
  static const Names all = [] {
    Names found;
    std::string suite, line;
    for (std::ifstream lines(TORCHSTONE_TEST_DIR "/coverage/upstream_models.txt"); std::getline(lines, line);) {
      if (line.starts_with("["))
        suite = line.substr(1, line.size() - 2);
      else if (!suite.empty() && !line.empty() && !line.starts_with("#") && !line.starts_with("@"))
        found[suite].push_back(line.substr(0, std::min(line.find(": "), line.find(" = "))));
    }
    return found;
  }();
  return all;
}

suite::Suite shipped_suite(const std::string& name) {
  return suite::read_suite(TORCHSTONE_SOURCE_DIR "/cases/suites/" + name + ".yaml");
}

/// Returns a model of upstream's that a Python package makes. No registration states its batch size.
ModelInfo made_by_package(const std::string& suite, const std::string& name) {
  ModelInfo info = test::fake("some_name", 0, 0);
  info.upstream = UpstreamModel{suite, name};
  return info;
}

struct NamedModel {
  std::string suite, name;
  const Policy* policy;
  json of_upstream;  ///< null for a name that is newer than the facts

  json otherwise() const { return facts().at("otherwise").value(name, json::object()); }
  Conditions conditions(Mode mode) const {
    Conditions conditions;
    conditions.model = name;
    conditions.mode = mode;
    conditions.preset = Preset::full;
    conditions.check = "performance";
    return conditions;
  }
};

std::vector<NamedModel> named_models() {
  static const suite::Suite modules = shipped_suite("python");
  std::vector<NamedModel> all;
  for (const auto& [suite, names] : upstream_names())
    for (const auto& name : names)
      all.push_back({suite, name, &modules.policy_of(made_by_package(suite, name)),
                     facts().at("models").at(suite).value(name, json())});
  return all;
}

TEST(UpstreamNames, Are226AndHaveThePolicyOfTheirSuiteHoweverTheyAreLoaded) {
  EXPECT_EQ(named_models().size(), 226U);
  for (const char* loader : {"own", "python"}) {
    const suite::Suite suite = shipped_suite(loader);
    for (const auto& model : named_models()) {
      const Policy& by_suite = suite.policy_of(made_by_package(model.suite, model.name));
      EXPECT_THAT(by_suite.file, testing::EndsWith("/" + model.suite + ".yaml")) << model.name;
      EXPECT_EQ(&suite.policy_of(made_by_package("", model.name)), &by_suite) << "upstream:" << model.name;
    }
    EXPECT_EQ(&suite.policy_of(test::fake("timm_model", 0, 0)), &suite.policy) << "no model of upstream's";
    EXPECT_EQ(&suite.policy_of(made_by_package("", "resnet_of_nobody")), &suite.policy);
  }
}

TEST(UpstreamNames, HaveEveryListOfUpstreams) {
  const std::set<std::string> of_other_tests{"own_batch_size.inference", "own_batch_size.training",
                                             "models_without_batch_size", "fixed_batch_size"};
  for (const auto& model : named_models()) {
    const json lists = model.of_upstream.is_null() ? json::object() : model.of_upstream.at("lists");
    for (const auto& key : policy_schema()) {
      if (key.path.starts_with("optimizer.") || of_other_tests.contains(key.path)) continue;
      if (model.otherwise().contains(key.path)) continue;
      const Mention* mention = model.policy->find(key.path, model.name);
      EXPECT_EQ(mention ? mention->value : 0, lists.value(key.path, 0.0)) << model.name << " in " << key.path;
    }
  }
}

TEST(UpstreamNames, HaveUpstreamsBatchSizes) {
  for (const auto& model : named_models()) {
    if (model.of_upstream.is_null()) continue;
    const ModelInfo info = made_by_package(model.suite, model.name);
    EXPECT_EQ(batch_is_fixed(*model.policy, info), model.of_upstream.value("fixed", false)) << model.name;
    for (const auto& [key, mode] : {std::pair("inference", Mode::inference), std::pair("training", Mode::training)})
      if (model.of_upstream.contains(key)) {
        const BatchSize batch = batch_size_of(*model.policy, model.conditions(mode), info);
        EXPECT_EQ(batch.size, model.of_upstream.at(key).get<int64_t>()) << model.name << " in " << key;
      }
  }
}

TEST(UpstreamNames, HaveUpstreamsOptimizers) {
  const std::map<OptimizerKind, std::string> words{
      {OptimizerKind::none, "none"}, {OptimizerKind::sgd, "sgd"}, {OptimizerKind::adam, "adam"}};
  for (const auto& model : named_models()) {
    if (model.of_upstream.is_null() || model.otherwise().contains("optimizer")) continue;
    EXPECT_EQ(words.at(optimizer_of(*model.policy, model.conditions(Mode::training)).kind),
              model.of_upstream.at("optimizer").get<std::string>())
        << model.name;
  }
}

/// Returns entries of upstream's lists for models that upstream's suites do not have.
const std::map<std::string, std::set<std::string>>& entries_without_model() {
  static const std::map<std::string, std::set<std::string>> all{
      {"torchbench",
       {"DALLE2_pytorch", "attention_is_all_you_need_pytorch", "phi_1_5", "pytorch_struct", "shufflenetv2_x1_0",
        "stable_diffusion"}},
      {"timm", {"gluon_xception65"}},
      {"huggingface", {"Wav2Vec2ForCTC", "Wav2Vec2ForPreTraining"}},
  };
  return all;
}

TEST(UpstreamNames, AreInEveryListOfThePoliciesButKnownExceptions) {
  const suite::Suite modules = shipped_suite("python");
  for (const auto& [suite, policy] : modules.upstream_policies) {
    std::set<std::string> of_the_zoo, unknown;
    for (const auto& [ours, upstream] : policy.upstream_names) of_the_zoo.insert(upstream);  // llama in huggingface
    for (const auto& [key, entries] : policy.mentions)
      for (const auto& [name, mention] : entries)
        if (!policy.lists(name) && !of_the_zoo.contains(name)) unknown.insert(name);
    EXPECT_EQ(unknown, entries_without_model().at(suite)) << "no model of " << suite << "'s in own_batch_size or "
                                                          << "models_without_batch_size";
    for (const char* key : {"own_batch_size.inference", "own_batch_size.training", "models_without_batch_size"}) {
      const auto entries = policy.mentions.find(key);
      if (entries == policy.mentions.end()) continue;
      for (const auto& [name, mention] : entries->second)
        EXPECT_TRUE(name == "Reformer" || std::ranges::count(upstream_names().at(suite), name) == 1 ||
                    facts().at("models").at(suite).contains(name))
            << name << " is in no list of upstream's";
    }
  }
}

}  // namespace
}  // namespace torchstone::policy
