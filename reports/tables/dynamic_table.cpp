#include "reports/tables/dynamic_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "reports/record/noise.h"
#include "reports/statistics/interval_width.h"

namespace torchstone::tables {
namespace {

constexpr std::array series_of = {
    std::pair{"dynamic_batch", &DynamicTiming::batch},
    std::pair{"dynamic_eager_ms", &DynamicTiming::eager_ms},
    std::pair{"dynamic_ms", &DynamicTiming::dynamic_ms},
    std::pair{"static_ms", &DynamicTiming::static_ms},
    std::pair{"dynamic_speedup", &DynamicTiming::speedup},
    std::pair{"dynamic_speedup_low", &DynamicTiming::speedup_low},
    std::pair{"dynamic_speedup_high", &DynamicTiming::speedup_high},
    std::pair{"dynamic_cost", &DynamicTiming::cost},
    std::pair{"dynamic_cost_low", &DynamicTiming::cost_low},
    std::pair{"dynamic_cost_high", &DynamicTiming::cost_high},
};

/// A page for people: beyond, a row is not read any more.
constexpr size_t most_rows = 2000;

std::string combination(const Result& r) {
  return fmt::format("{} {} {} {} {}", r.mode, r.dtype, r.backend, r.device, r.preset);
}

/// Noisy where the interval says too little, or the case does.
std::string with_interval(double value, double low, double high, bool noisy_case = false) {
  const std::string text = statistics::is_bounded(low, high) ? fmt::format("{:.3f}x [{:.3f} {:.3f}]", value, low, high)
                                                             : fmt::format("{:.3f}x", value);
  return text + (noisy_case || statistics::is_too_wide(value, low, high) ? " noisy" : "");
}

/// Of the numbers above 0.
class GeometricMean {
 public:
  void add(double value, bool noisy = false) {
    if (!std::isfinite(value) || value <= 0) return;
    sum_ += std::log(value);
    ++n_;
    noisy_ += noisy ? 1 : 0;
  }
  int n() const { return n_; }
  int noisy() const { return noisy_; }
  double value() const { return std::exp(sum_ / n_); }

 private:
  double sum_ = 0;
  int n_ = 0, noisy_ = 0;
};

/// Where each was timed, if further dimensions than the batch vary.
std::vector<std::string> places_of(const Result& result) {
  std::vector<std::string> places;
  const auto note = result.outcome.notes.find("dynamic_timed");
  if (note == result.outcome.notes.end()) return places;
  const std::string& text = note->second;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find("; ", begin), text.size());
    places.push_back(text.substr(begin, end - begin));
    begin = end + 2;
  }
  return places;
}

void add_rows(const Result& result, SuiteTable& table) {
  for (const auto& at : dynamic_timings(result)) {
    if (table.rows.size() == most_rows) return;
    table.rows.push_back({result.model, combination(result), at.sizes, fmt::format("{:.4g} ms", at.eager_ms),
                          fmt::format("{:.4g} ms", at.dynamic_ms), fmt::format("{:.4g} ms", at.static_ms),
                          with_interval(at.speedup, at.speedup_low, at.speedup_high, is_noisy(result)),
                          fmt::format("{:.3f}x", at.static_speedup()),
                          with_interval(at.cost, at.cost_low, at.cost_high)});
  }
}

}  // namespace

std::vector<DynamicTiming> dynamic_timings(const Result& result) {
  const auto& samples = result.outcome.samples;
  const auto batches = samples.find(series_of[0].first);
  if (batches == samples.end()) return {};
  std::vector<DynamicTiming> timings(batches->second.size());
  for (const auto& [name, member] : series_of) {
    const auto series = samples.find(name);
    if (series == samples.end() || series->second.size() != timings.size()) return {};
    for (size_t i = 0; i < timings.size(); ++i) timings[i].*member = series->second[i];
  }
  const auto places = places_of(result);
  for (size_t i = 0; i < timings.size(); ++i)
    timings[i].sizes = places.size() == timings.size() ? places[i] : fmt::format("{:.0f}", timings[i].batch);
  return timings;
}

std::optional<SuiteTable> dynamic_table(const std::vector<Result>& results) {
  SuiteTable table{"Dynamic sizes",
                   "One program for all batches, or all sizes, at some of them, beside eager and a program compiled "
                   "for these alone; the cost of being dynamic is its time over the static one's",
                   {"Model", "Run", "Batch or sizes", "Eager", "Dynamic", "Static", "Speed-up, dynamic",
                    "Speed-up, static", "Cost of being dynamic"},
                   2,
                   {}};
  GeometricMean cost, compile, speedup;
  for (const auto& result : results) {
    if (result.dynamic == "off" || dynamic_timings(result).empty()) continue;
    add_rows(result, table);
    const auto metric = [&](const char* name) { return metric_of(result, name).value_or(0); };
    const auto low = metric_of(result, "dynamic_cost_low"), high = metric_of(result, "dynamic_cost_high");
    cost.add(metric("dynamic_cost"), low && high && statistics::is_too_wide(metric("dynamic_cost"), *low, *high));
    speedup.add(metric("speedup"), is_noisy(result));
    if (metric("static_compile_s") > 0 && metric("compile_s") > 0)
      compile.add(metric("compile_s") / metric("static_compile_s"));
  }
  if (table.rows.empty()) return std::nullopt;
  const auto mean = [](const GeometricMean& of) {
    return of.n() == 0 ? ""
                       : fmt::format("{:.3f}x of {}{}", of.value(), of.n(),
                                     of.noisy() == 0 ? "" : fmt::format(", {} noisy", of.noisy()));
  };
  table.rows.push_back(
      {"", "geometric mean, at the sizes compiled for", "", "", "", "", mean(speedup), "", mean(cost)});
  if (compile.n() > 0)
    table.rows.push_back(
        {"", "geometric mean of compile time, dynamic / static", "", "", "", "", "", "", mean(compile)});
  return table;
}

}  // namespace torchstone::tables
