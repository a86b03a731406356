#include "reports/results_folder/empty_results.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace torchstone::results_folder {
namespace fs = std::filesystem;
namespace {

bool is_of_a_run(const std::string& name) {
  static constexpr std::array names = {"cases",          "runs",         "logs",          "csv",
                                       "samples",        "traces",       "memory",        "results.json",
                                       "report.html",    "junit.xml",    "results.csv",   "summary.csv",
                                       "summary.txt",    "fastrnns.txt", "fastrnns.json", "fastrnns_pep.txt",
                                       "batch_sizes.txt"};
  const bool written_aside = name.starts_with('.') && name.ends_with(".tmp");  // by a run that was killed
  return written_aside || std::ranges::find(names, name) != names.end();
}

}  // namespace

void empty_results(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (is_of_a_run(entry.path().filename().string())) found.push_back(entry.path());
  for (const auto& path : found) fs::remove_all(path);
}

}  // namespace torchstone::results_folder
