#include "reports/merge.h"

#include <map>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "reports/files.h"

namespace torchstone {
namespace fs = std::filesystem;
namespace {

Report read_report(const fs::path& path) {
  try {
    return parse_json(read_text(path), path.string());
  } catch (const std::system_error& error) {
    throw ReportError(error.what());
  }
}

/// What both runs agree on; a fact that differs names both.
void unite(Facts& facts, const Facts& others) {
  for (const auto& [key, value] : others) {
    auto& fact = facts[key];
    if (fact.empty())
      fact = value;
    else if (fact != value && fact.find(value) == std::string::npos)
      fact += " | " + value;
  }
}

void unite(RunInfo& run, const RunInfo& other) {
  if (run.started.empty() || (!other.started.empty() && other.started < run.started)) {
    run.started = other.started;
    run.id = other.id;
    run.argv = other.argv;
    run.directory = other.directory;
  }
  run.duration_s += other.duration_s;
  unite(run.machine, other.machine);
  unite(run.build, other.build);
  unite(run.policy, other.policy);
}

}  // namespace

Merged merge_results(const std::vector<fs::path>& inputs) {
  Merged merged;
  auto& results = merged.report.results;
  std::map<std::string, size_t> places;
  const auto add = [&](const Result& result) {
    const auto [place, is_new] = places.emplace(result.name, results.size());
    if (is_new)
      results.push_back(result);
    else if (results[place->second].recorded <= result.recorded)
      results[place->second] = result;
  };
  for (const auto& input : inputs) {
    const bool folder = fs::is_directory(input);
    if (!folder && !fs::is_regular_file(input)) {
      throw ReportError(input.string() + ": expected a results folder or a results.json, found nothing");
    }
    const fs::path file = folder ? input / "results.json" : input;
    if (fs::exists(file)) {
      const Report report = read_report(file);
      unite(merged.report.run, report.run);
      merged.report.run.exit_reason = report.run.exit_reason;
      for (const auto& result : report.results) add(result);
    }
    if (!folder) continue;
    const CaseFiles cases = read_cases(input);
    for (const auto& result : cases.results) add(result);
    merged.warnings.insert(merged.warnings.end(), cases.errors.begin(), cases.errors.end());
  }
  if (inputs.size() != 1) merged.report.run.exit_reason = fmt::format("merged from {} inputs", inputs.size());
  return merged;
}

}  // namespace torchstone
