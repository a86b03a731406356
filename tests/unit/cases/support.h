#pragma once
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cases/selection/expand.h"
#include "tests/temporary_folder.h"

namespace torchstone::test {

namespace fs = std::filesystem;

/// Temporary folder that writes text files by name.
class Folder {
 public:
  std::string write(const std::string& name, const std::string& text) const {
    const fs::path file = folder_.path() / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }
  std::string path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

/// Returns the message of the ConfigError that `action` throws, without the folder of the file.
/// Returns an empty string if it throws none.
template <typename Action>
std::string error_of(const Action& action, const std::string& folder = "") {
  try {
    action();
    return "";
  } catch (const config::ConfigError& error) {
    std::string text = error.what();
    for (size_t at; !folder.empty() && (at = text.find(folder + "/")) != std::string::npos;)
      text.erase(at, folder.size() + 1);
    return text;
  }
}

inline flags::Flags flags_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "/opt/torchstone");
  return flags::parse_flags(arguments);
}

/// Returns a model without a factory. Tests read only its facts.
inline ModelInfo fake(const std::string& name, int64_t train_batch, int64_t eval_batch, bool fixed = false) {
  ModelInfo info;
  info.name = name;
  info.family = name + "_family";
  info.suites = {"small"};
  info.train_batch = train_batch;
  info.eval_batch = eval_batch;
  info.fixed_batch = fixed;
  info.file = "zoo.cpp";
  info.line = 7;
  return info;
}

/// Returns the backends eager, inductor and torchscript, and three models. Their batch sizes in training and inference
/// are: first 16 and 8, second 64 and 4, third.v2 4 and 1 (fixed).
inline const selection::Known& fake_known() {
  static const std::vector<ModelInfo> models{fake("first", 16, 8), fake("second", 64, 4), fake("third.v2", 4, 1, true)};
  static const selection::Known known{{&models[0], &models[1], &models[2]}, {"eager", "inductor", "torchscript"}};
  return known;
}

inline std::vector<std::string> names_of(const std::vector<Case>& cases) {
  std::vector<std::string> names;
  for (const auto& c : cases) names.push_back(name_of(c));
  return names;
}

}  // namespace torchstone::test
