#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cases/suite.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;

// An installed program finds what was installed with it, wherever the tree was moved; a built one the source tree's.
fs::path own_suites() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  for (const fs::path& folder :
       {program.parent_path().parent_path() / "share/torchstone/suites", fs::path(TORCHSTONE_SUITES_FOLDER)})
    if (fs::is_directory(folder, ignored)) return folder;
  fail({"--torchstone_suites"},
       fmt::format("the suites are neither beside {} nor in {}", program.string(), TORCHSTONE_SUITES_FOLDER));
}

}  // namespace

std::vector<Suite> read_suites(const std::string& folder_or_file) {
  const fs::path path = folder_or_file.empty() ? own_suites() : fs::path(folder_or_file);
  std::error_code error;
  std::vector<std::string> files;
  if (fs::is_directory(path, error)) {
    for (const auto& entry : fs::directory_iterator(path, error))
      if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    if (files.empty()) fail({path.string()}, "the folder holds no *.yaml (expected suites)");
  } else {
    files.push_back(path.string());
  }
  std::vector<Suite> suites;
  for (const auto& file : files) {
    suites.push_back(read_suite(file));
    for (size_t i = 0; i + 1 < suites.size(); ++i)
      if (suites[i].name == suites.back().name)
        fail(suites.back().place,
             fmt::format("the suite {} is already in {}", suites.back().name, suites[i].place.file));
  }
  return suites;
}

}  // namespace torchstone
