#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cases/suite/suite.h"

namespace torchstone::suite {
namespace fs = std::filesystem;

// An installed program (PREFIX/lib/torchstone/torchstone) has its suites in PREFIX/share, wherever PREFIX was moved,
// and never those of a source tree that happens to be there; a built one has the source tree's.
fs::path own_suites() {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const fs::path suites = folder.filename() == "torchstone"
                              ? folder.parent_path().parent_path() / "share/torchstone/suites"
                              : fs::path(TORCHSTONE_SUITES_FOLDER);
  if (fs::is_directory(suites, ignored)) return suites;
  config::fail({"--torchstone_suites"},
               fmt::format("the program's own suites are missing: no folder {} (install anew, or give "
                           "a folder by --torchstone_suites)",
                           suites.string()));
}

std::vector<Suite> read_suites(const std::string& folder_or_file) {
  const fs::path path = folder_or_file.empty() ? own_suites() : fs::path(folder_or_file);
  std::error_code error;
  std::vector<std::string> files;
  if (fs::is_directory(path, error)) {
    for (const auto& entry : fs::directory_iterator(path, error))
      if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    if (files.empty()) config::fail({path.string()}, "the folder holds no *.yaml (expected suites)");
  } else {
    files.push_back(path.string());
  }
  std::vector<Suite> suites;
  for (const auto& file : files) {
    suites.push_back(read_suite(file));
    for (size_t i = 0; i + 1 < suites.size(); ++i)
      if (suites[i].name == suites.back().name)
        config::fail(suites.back().place,
                     fmt::format("the suite {} is already in {}", suites.back().name, suites[i].place.file));
  }
  return suites;
}

}  // namespace torchstone::suite
