#include "reports/tables/fastrnns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <torchstone/report_writer.h>

#include "reports/base/terminal.h"
#include "reports/base/text.h"

namespace torchstone::tables {
namespace {

constexpr double ms = 1e3;
// cuDNN has no LSTM with LayerNorm. This runner stands for the least that a forward of one can take, and upstream gives
// it no backward.
constexpr auto lower_bound = "cudnn_layernorm";
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// Upstream's group and name of a result, and the side whose time is its; empty for a result that is no runner's.
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
  return values.empty() ? missing
                        : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Unbiased, as torch.std.
double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return missing;
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

std::string row_of(const std::vector<std::string>& cells) {
  std::string line;
  for (const auto& cell : cells) line += fmt::format("{:>16}", terminal_line(cell));
  return line + "\n";
}

std::string digits(double value) { return fmt::format("{:.4g}", value); }

}  // namespace

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
    if (result.dynamic != "off") continue;  // upstream's table is of fixed sizes
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
