#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torchstone/report_writer.h>

#include "reports/base/csv_format.h"
#include "reports/record/detection.h"
#include "reports/record/noise.h"
#include "reports/record/summary.h"
#include "reports/write/csv.h"

namespace torchstone::write {
namespace {

std::vector<std::string> group_of(const Result& r) {
  return {r.suite, r.backend, r.dtype, r.mode, r.device, r.preset, r.dynamic};
}

/// How many passes have a detection limit, the median and the worst one, and how many are weak.
std::vector<std::string> limit_cells(const std::vector<Result>& members) {
  const Detection found = detection_of(members);
  const auto cell = [&](double limit) { return found.n == 0 ? "" : fmt::format("{:.6f}", limit); };
  return {std::to_string(found.n), cell(found.median), cell(found.worst), std::to_string(found.weak.size())};
}

}  // namespace

std::string write_summary_csv(const std::vector<Result>& results) {
  std::vector<std::pair<std::vector<std::string>, std::vector<Result>>> groups;  // in the order they come
  std::map<std::vector<std::string>, size_t> places;                             // in groups
  for (const auto& result : results) {
    const auto [place, is_new] = places.emplace(group_of(result), groups.size());
    if (is_new) groups.push_back({place->first, {}});
    groups[place->second].second.push_back(result);
  }
  std::string text = csv_line({"suite",
                               "backend",
                               "dtype",
                               "mode",
                               "device",
                               "preset",
                               "dynamic",
                               "accuracy_cases",
                               "pass_rate",
                               "speedup_cases",
                               "geomean_speedup",
                               "compile_cases",
                               "mean_compilation_latency",
                               "compression_cases",
                               "mean_compression_ratio",
                               "left_out",
                               "noisy_cases",
                               "detection_limits",
                               "median_detection_limit",
                               "worst_detection_limit",
                               "weak_passes"});
  for (const auto& [key, members] : groups) {
    auto cells = key;
    std::vector<std::string> left_out;
    for (const auto& [name, average] : {std::pair{"accuracy", pass_rate_of(members)},
                                        {"speed-up", geomean_of(members)},
                                        {"compile", mean_of(members, "compile_s")},
                                        {"compression", mean_of(members, "compression_ratio")}}) {
      cells.push_back(std::to_string(average.n));
      cells.push_back(average.n == 0 ? "" : fmt::format("{:.6f}", average.value));
      if (!average.left_out.empty()) left_out.push_back(fmt::format("{}: {}", name, left_out_words(average)));
    }
    cells.push_back(fmt::format("{}", fmt::join(left_out, "; ")));
    const auto limits = limit_cells(members);
    cells.push_back(std::to_string(std::ranges::count_if(members, is_noisy)));
    cells.insert(cells.end(), limits.begin(), limits.end());
    text += csv_line(cells);
  }
  return text;
}

TORCHSTONE_REPORT_WRITER(
    summary_csv, .help = "Pass rates and averages of each suite, backend, dtype, mode and device", .order = 500,
    .file = "summary.csv", .text = [](const Report& report, const auto&) { return write_summary_csv(report.results); });

}  // namespace torchstone::write
