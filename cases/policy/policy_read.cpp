#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "cases/config/nearest.h"
#include "cases/config/yaml.h"
#include "cases/policy/policy.h"

namespace torchstone::policy {
namespace {

const PolicyKey* schema_of(const std::string& path) {
  for (const auto& key : policy_schema())
    if (key.path == path) return &key;
  return nullptr;
}

// The keys that may stand below `path`, which is empty for the top of the file.
std::vector<std::string> keys_below(const std::string& path) {
  const std::string prefix = path.empty() ? "" : path + ".";
  std::set<std::string> names;
  for (const auto& key : policy_schema())
    if (key.path.starts_with(prefix))
      names.insert(key.path.substr(prefix.size(), key.path.find('.', prefix.size()) - prefix.size()));
  return {names.begin(), names.end()};
}

void read_models(const config::Yaml& node, std::map<std::string, Mention>& models) {
  for (const auto& item : list_of(node)) models.emplace(text_of(item), Mention{origin_of(item)});
}

void read_numbers(const config::Yaml& node, std::map<std::string, Mention>& models) {
  if (node.kind == config::Yaml::Kind::null) return;
  require_map(node);
  for (const auto& [model, value] : node.entries) {
    const bool share = node.path == "tolerance.iou_thresholds";
    const double number = share ? number_of(value, 0, 1) : static_cast<double>(integer_of(value, 1, 1'000'000'000));
    models.emplace(model, Mention{origin_of(value), number});
  }
}

void read_keys(const config::Yaml& map, Policy& policy) {
  const auto known = keys_below(map.path);
  for (const auto& [name, value] : map.entries) {
    if (map.path.empty() && (name == "tolerance_rule" || name == "upstream_names")) continue;
    if (std::find(known.begin(), known.end(), name) == known.end())
      fail(value, fmt::format("unknown key ({})", config::expected_one_of(name, known)));
    const PolicyKey* key = schema_of(value.path);
    const bool group = !keys_below(value.path).empty();
    if (value.kind == config::Yaml::Kind::null) continue;  // `skip:` with everything below it commented out
    if (group && (!key || value.kind == config::Yaml::Kind::map)) {
      require_map(value);
      read_keys(value, policy);
    } else if (key->kind == PolicyKey::Kind::models) {
      read_models(value, policy.mentions[key->path]);
    } else {
      read_numbers(value, policy.mentions[key->path]);
    }
  }
}

}  // namespace

const Mention* Policy::find(const std::string& key, const std::string& model) const {
  const auto models = mentions.find(key);
  if (models == mentions.end()) return nullptr;
  const auto mention = models->second.find(model);
  if (mention != models->second.end()) return &mention->second;
  const auto renamed = upstream_names.find(model);
  const auto upstream = renamed == upstream_names.end() ? models->second.end() : models->second.find(renamed->second);
  return upstream == models->second.end() ? nullptr : &upstream->second;
}

std::string rule_of_suite(const std::string& suite) {
  return suite == "timm" || suite == "timm_models" ? "timm" : suite == "huggingface" ? suite : "torchbench";
}

Policy read_policy(const std::string& file, const std::string& suite) {
  const config::Yaml root = config::read_yaml(file);
  require_map(root);
  Policy policy;
  policy.file = file;
  policy.rule = rule_of_suite(suite);
  if (const config::Yaml* rule = root.find("tolerance_rule")) {
    static const std::vector<std::string> rules{"torchbench", "timm", "huggingface"};
    policy.rule = text_of(*rule);
    if (std::find(rules.begin(), rules.end(), policy.rule) == rules.end())
      fail(*rule, fmt::format("'{}' is no rule ({})", policy.rule, config::expected_one_of(policy.rule, rules)));
  }
  if (const config::Yaml* names = root.find("upstream_names")) {
    require_map(*names);
    for (const auto& [ours, upstream] : names->entries) policy.upstream_names.emplace(ours, text_of(upstream));
  }
  read_keys(root, policy);
  return policy;
}

}  // namespace torchstone::policy
