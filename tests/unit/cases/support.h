#pragma once
#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cases/expand.h"

namespace torchstone::test {

namespace fs = std::filesystem;

/// A folder of its own that is removed at the end.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "torchstone_cases_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  Folder(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((fs::path(path_) / name).parent_path());
    std::ofstream(fs::path(path_) / name) << text;
    return (fs::path(path_) / name).string();
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The message of the ConfigError that `action` throws, without the folder of the file; "" when it throws none.
template <typename Action>
std::string error_of(const Action& action, const std::string& folder = "") {
  try {
    action();
    return "";
  } catch (const ConfigError& error) {
    std::string text = error.what();
    for (size_t at; !folder.empty() && (at = text.find(folder + "/")) != std::string::npos;)
      text.erase(at, folder.size() + 1);
    return text;
  }
}

inline Flags flags_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "/opt/torchstone");
  return parse_flags(arguments);
}

/// Models that no factory builds: only their facts are read.
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

/// first (16/8), second (64/4), third.v2 (fixed, 4/1) and the backends eager, inductor and torchscript.
inline const Known& fake_known() {
  static const std::vector<ModelInfo> models{fake("first", 16, 8), fake("second", 64, 4), fake("third.v2", 4, 1, true)};
  static const Known known{{&models[0], &models[1], &models[2]}, {"eager", "inductor", "torchscript"}};
  return known;
}

inline std::vector<std::string> names_of(const std::vector<Case>& cases) {
  std::vector<std::string> names;
  for (const auto& c : cases) names.push_back(name_of(c));
  return names;
}

}  // namespace torchstone::test
