#include "reports/record/tables/upstream_suites.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/base/csv_format.h"
#include "reports/base/files.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/record/summary.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/statistics/processes.h"
#include "reports/statistics/statistics.h"

namespace torchstone::tables {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

using Group = std::pair<std::string, std::string>;  ///< suite, dtype

std::map<Group, std::vector<OperatorSpeedup>> grouped(const std::vector<Result>& results) {
  std::map<Group, std::vector<OperatorSpeedup>> groups;
  for (const auto& entry : operator_speedups(results)) groups[{entry.suite, entry.dtype}].push_back(entry);
  return groups;
}

std::string csv_of(const std::vector<OperatorSpeedup>& entries) {
  std::set<std::string> backends;
  std::map<std::string, std::map<std::string, const OperatorSpeedup*>> operators;
  for (const auto& entry : entries) {
    backends.insert(entry.backend);
    operators[entry.name][entry.backend] = &entry;
  }
  constexpr size_t most_backends = 300;  // bounds the size of the table, together with the number of operators
  if (backends.size() > most_backends)
    throw ReportError(fmt::format("operators of suite {}, {}: {} backends, three columns each (expected at most {})",
                                  entries.front().suite, entries.front().dtype, backends.size(), most_backends));
  std::vector<std::string> header{"Operator"};
  for (const auto& backend : backends)
    for (const char* which : {"20th", "50th", "80th"}) header.push_back(backend + " " + which);
  std::string text = csv_line(header);
  for (const auto& [name, by_backend] : operators) {
    std::vector<std::string> row{name};
    for (const auto& backend : backends) {
      const auto found = by_backend.find(backend);
      const bool measured = found != by_backend.end() && found->second->inputs > 0;
      for (const auto member : {&Quantiles::low, &Quantiles::median, &Quantiles::high})
        row.push_back(measured ? fmt::format("{:.6f}", found->second->over_inputs.*member) : "");
    }
    text += csv_line(row);
  }
  return text;
}

std::string line_of(const OperatorSpeedup& entry) {
  const std::string failed = entry.failed == 0 ? "" : fmt::format(", {} failed", entry.failed);
  if (entry.inputs == 0) return fmt::format("{}: {} not measured{}", entry.name, entry.backend, failed);
  const auto& [low, median, high] = entry.over_inputs;
  return fmt::format("{}: {}={:.2f}x ({:.2f}-{:.2f}){}", entry.name, entry.backend, median, low, high, failed);
}

constexpr double ms = 1e3;
// cuDNN has no LSTM with LayerNorm, so upstream uses this runner as a lower bound of the forward time. It has no
// backward time.
constexpr auto lower_bound = "cudnn_layernorm";
/// Upstream's group and name of a runner, and the side that provides its time.
struct Runner {
  std::string group, name, side;
};
std::optional<Runner> runner_of(const Result& result) {
  const std::string& model = result.model;
  const bool script = result.backend.starts_with("torchscript");
  if (model.starts_with("resnet"))
    return Runner{"resnet", model + (script ? "_jit" : ""), script ? "compiled" : "eager"};
  if (model.starts_with("lstm_")) return Runner{"lstm", model.substr(5), "eager"};
  if (model.starts_with("vl_")) return Runner{"vl_lstm", model, "eager"};
  return std::nullopt;
}

double mean(const std::vector<double>& values) {
  return values.empty() ? none
                        : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Unbiased, as torch.std.
double deviation(const std::vector<double>& values) {
  return values.size() < 2 ? none : std::sqrt(statistics::moments(values).variance);
}

std::string row_of(const std::vector<std::string>& cells) {
  std::string line;
  for (const auto& cell : cells) line += fmt::format("{:>16}", terminal_line(cell));
  return line + "\n";
}

std::string digits(double value) { return fmt::format("{:.4g}", value); }

}  // namespace

bool is_of_an_operator(const Result& result) { return !result.outcome.operator_name.empty(); }

std::vector<OperatorSpeedup> operator_speedups(const std::vector<Result>& results) {
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, std::pair<std::vector<statistics::Weighted>, size_t>> found;
  for (const Result* result : one_of_each_name(results)) {
    if (result->check != "performance" || !is_of_an_operator(*result)) continue;
    const std::string backend = result->backend + on_machine(result->machine);
    auto& [speedups, failed] = found[{result->suite, result->dtype, result->outcome.operator_name, backend}];
    const double calls = metric_of(*result, "logged_calls").value_or(0);
    if (const auto speedup = metric_of(*result, "speedup"); speedup && std::isfinite(*speedup)) {
      speedups.push_back({*speedup, calls > 0 ? calls : 1});
    } else if (info_of(result->outcome.status).kind != StatusKind::skipped) {
      ++failed;
    }
  }
  std::vector<OperatorSpeedup> entries;
  for (const auto& [key, values] : found) {
    const auto& [suite, dtype, name, backend] = key;
    const auto& [speedups, failed] = values;
    OperatorSpeedup entry{
        suite, dtype, name, backend, speedups.size(), failed, 0, {none, none, none}, {none, none, none}};
    std::vector<double> once;
    for (const auto& [value, weight] : speedups) {
      once.push_back(value);
      entry.calls += weight;
    }
    if (!once.empty()) {
      entry.over_inputs = {statistics::quantile(once, 0.2), statistics::quantile(once, 0.5),
                           statistics::quantile(once, 0.8)};
      entry.over_calls = {weighted_quantile(speedups, 0.2), weighted_quantile(speedups, 0.5),
                          weighted_quantile(speedups, 0.8)};
    }
    entries.push_back(entry);
  }
  return entries;
}

NamedTexts write_operatorbench_csvs(const std::vector<Result>& results) {
  NamedTexts files;
  const auto groups = grouped(results);
  require_few_tables(groups.size());
  for (const auto& [group, entries] : groups)
    files.emplace_back(case_file_name(fmt::format("operatorbench_{}_{}", group.first, group.second)) + ".csv",
                       csv_of(entries));
  return files;
}

std::vector<std::string> operatorbench_lines(const std::vector<Result>& results) {
  std::vector<std::string> lines;
  for (const auto& [group, entries] : grouped(results)) {
    lines.push_back(fmt::format("Operators of {}, {}: speed-up, median over inputs (quantiles 0.2-0.8)", group.first,
                                group.second));
    for (const auto& entry : entries) lines.push_back("  " + line_of(entry));
  }
  return lines;
}

TORCHSTONE_REPORT_WRITER(
    operatorbench, .help = "The tables of PyTorch's operatorbench.py", .order = 800,
    .files = [](const Report& report, const auto&) { return below_csv(write_operatorbench_csvs(report.results)); });

bool is_of_fastrnns(const Result& result) { return result.suite == "fastrnns"; }

std::array<std::string, 4> runner_cells(const RunnerTimes& runner) {
  return {digits(mean(runner.forward)), digits(deviation(runner.forward)), digits(mean(runner.backward)),
          digits(deviation(runner.backward))};
}

std::vector<RunnerTimes> runner_times(const std::vector<Result>& results) {
  std::map<std::pair<std::string, std::string>, RunnerTimes> runners;
  for (const auto& result : results) {
    const auto runner = runner_of(result);
    if (!runner || !is_of_fastrnns(result) || result.check != "performance") continue;
    if (result.dynamic != "off") continue;  // upstream's table has fixed sizes only
    auto& times = runners.try_emplace({runner->group, runner->name}, RunnerTimes{runner->group, runner->name, {}, {}})
                      .first->second;
    const auto take = [&](const char* samples, std::vector<double>& part) {
      const auto found = result.outcome.samples.find(runner->side + samples);
      if (found == result.outcome.samples.end()) return;
      part = found->second;
      for (double& value : part) value *= ms;
    };
    take("_forward_s", times.forward);
    if (runner->name != lower_bound) take("_backward_s", times.backward);
  }
  std::vector<RunnerTimes> measured;
  for (auto& [key, times] : runners)
    if (!times.forward.empty() || !times.backward.empty()) measured.push_back(std::move(times));
  return measured;
}

std::string fastrnns_table(const std::vector<RunnerTimes>& runners) {
  std::string text = row_of({"name", "avg_fwd", "std_fwd", "info_fwd", "avg_bwd", "std_bwd", "info_bwd"});
  for (const auto& runner : runners) {
    const auto [forward, forward_deviation, backward, backward_deviation] = runner_cells(runner);
    text += row_of({runner.name, forward, forward_deviation, "None", backward, backward_deviation, "None"});
  }
  return text;
}

std::string fastrnns_oss(const std::vector<RunnerTimes>& runners) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::object();
  for (const auto& runner : runners) {
    if (!runner.forward.empty()) groups[runner.group][valid_utf8(runner.name)] = mean(runner.forward);
    if (!runner.backward.empty()) groups[runner.group + "-backward"][valid_utf8(runner.name)] = mean(runner.backward);
  }
  return printable_json(groups.dump()) + "\n";
}

std::string fastrnns_pep(const std::vector<RunnerTimes>& runners) {
  std::string text;
  const auto add = [&](const RunnerTimes& runner, const char* suffix, double value) {
    const nlohmann::ordered_json line{
        {"type", "NET"},
        {"metric", fmt::format("{}{}-{}", runner.group, suffix, terminal_line(runner.name))},
        {"unit", "ms"},
        {"value", fmt::format("{}", value)}};
    text += "Caffe2Observer " + printable_json(line.dump()) + "\n";
  };
  for (const auto& runner : runners) {
    for (const double value : runner.forward) add(runner, "", value);
    for (const double value : runner.backward) add(runner, "-backward", value);
  }
  return text;
}

NamedTexts write_fastrnns(const std::vector<Result>& results) {
  const auto runners = runner_times(results);
  if (runners.empty()) return {};
  return {{"fastrnns.txt", fastrnns_table(runners)},
          {"fastrnns.json", fastrnns_oss(runners)},
          {"fastrnns_pep.txt", fastrnns_pep(runners)}};
}

TORCHSTONE_REPORT_WRITER(
    fastrnns, .help = "The tables of PyTorch's benchmarks/fastrnns", .order = 900,
    .files = [](const Report& report, const auto&) { return write_fastrnns(report.results); });

}  // namespace torchstone::tables
