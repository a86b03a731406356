#include "cases/settings/operator_logs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <torchstone/model_info.h>

#include "cases/settings/yaml.h"

namespace torchstone::suite {
namespace fs = std::filesystem;
namespace {

/// Upstream's suites, and the folders that operator_inp_utils.py reads for them.
const std::map<std::string, std::string>& folders_of_suites() {
  static const std::map<std::string, std::string> folders{
      {"torchbench", "torchbench_train"}, {"timm", "timm_train"}, {"huggingface", "hf_train"}};
  return folders;
}

/// Tells whether a folder has upstream's logs of any suite.
bool has_logs_of_upstream(const fs::path& folder) {
  std::error_code error;
  return std::ranges::any_of(folders_of_suites(),
                             [&](const auto& suite) { return fs::is_directory(folder / suite.second, error); });
}

/// Returns the model that a log was recorded from: its file is MODEL_inference.txt or MODEL_training.txt.
std::string model_of(const fs::path& log) {
  std::string name = log.stem().string();
  for (const std::string_view mode : {"_inference", "_training"})
    if (name.ends_with(mode)) return name.substr(0, name.size() - mode.size());
  return name;
}

using IsWanted = std::function<bool(const std::string& model)>;

/// Adds the logs of a folder whose models are wanted; none for a folder that does not exist.
void add_logs(const fs::path& folder, const IsWanted& is_wanted, std::vector<std::string>& logs) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".txt" && is_wanted(model_of(entry.path()))) logs.push_back(entry.path().string());
  std::ranges::sort(logs);
}

bool has_suite(const std::string& model, const std::string& suite) {
  const ModelInfo* info = find_model(model);
  return info != nullptr && std::ranges::count(info->suites, suite) > 0;
}

std::vector<std::string> logs_of_suite(const std::string& suite, const std::string& folder,
                                       const OperatorLogFolders& folders) {
  std::vector<std::string> logs;
  if (!folders.upstream.empty())
    add_logs(
        folders.upstream / folder, [](const std::string&) { return true; }, logs);
  if (logs.empty())
    add_logs(
        folders.own, [&](const std::string& model) { return has_suite(model, suite); }, logs);
  return logs;
}

std::vector<std::string> logs_of_model(const std::string& name, const OperatorLogFolders& folders) {
  std::vector<std::string> logs;
  const IsWanted is_it = [&](const std::string& model) { return model == name; };
  if (!folders.upstream.empty())
    for (const auto& [suite, folder] : folders_of_suites()) add_logs(folders.upstream / folder, is_it, logs);
  if (logs.empty()) add_logs(folders.own, is_it, logs);
  const ModelInfo* info = find_model(name);
  const IsWanted is_of_family = [&](const std::string& model) {
    const ModelInfo* other = find_model(model);
    return other != nullptr && other->family == info->family;
  };
  if (logs.empty() && info != nullptr) add_logs(folders.own, is_of_family, logs);
  return logs;
}

}  // namespace

std::vector<std::string> operator_logs_of(const config::Choice<std::string>& name, const OperatorLogFolders& folders) {
  if (!folders.upstream.empty() && !has_logs_of_upstream(folders.upstream))
    config::fail({"--torchstone_operator_log_folder"},
                 fmt::format("{}: no folder timm_train, hf_train or torchbench_train in it (expected PyTorch's "
                             "benchmarks/dynamo/microbenchmarks/operator_inp_logs)",
                             folders.upstream.string()));
  const auto suite = folders_of_suites().find(name.value);
  auto logs = suite == folders_of_suites().end() ? logs_of_model(name.value, folders)
                                                 : logs_of_suite(suite->first, suite->second, folders);
  if (!logs.empty()) return logs;
  fail(name.place,
       fmt::format("no log of the operators of {} in {} (expected torchbench, timm, huggingface or a model; "
                   "--torchstone_only={} --torchstone_log_operator_inputs=FILE records one)",
                   name.value, folders.own.string(), name.value));
}

}  // namespace torchstone::suite
