// How often the measuring errs: simulated cases with a known ratio, judged by the real loop on a simulated clock.
// Usage: error_rates [cases=10000] [seed=1]. Prints a table; exit code 1 when a promise is not kept.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

#include "fixtures/measure/measure.h"
#include "reports/statistics.h"

using namespace torchstone;

namespace {

/// Longest eager call, in seconds, for which 95 % of slow-downs of 5 % are promised to be found in the default budget:
/// some 50 rounds. Of 0.1 s calls 25 rounds fit, which find slightly less; of 1 s calls 10, which find under a half.
constexpr double kDetectionCall = 0.05;

/// One kind of machine. Standard deviations are of the logarithm.
struct Noise {
  const char* name;
  double block = 0.02;          ///< of a block, independent
  double machine = 0.02;        ///< of the machine's load, AR(1) from block to block, shared by both sides
  double machine_memory = 0.9;  ///< its correlation from one block to the next
  double side = 0;              ///< of each side's own state, AR(1): breaks the assumption that rounds are independent
  double side_memory = 0;       ///< its correlation from one round to the next
  double outlier = 0.05;        ///< share of blocks that are interrupted, 1.05 to about 3 times slower
  double call_s = 1e-3;         ///< of eager
};

struct Case {
  std::mt19937_64 random;
  const Noise& noise;
  double ratio;  ///< eager / compiled
  double time = 0, load = 0, own[2] = {0, 0};

  double normal() { return std::normal_distribution<double>()(random); }
  double uniform() { return std::uniform_real_distribution<double>()(random); }

  void block(int side) {
    const auto step = [&](double& state, double sigma, double memory) {
      state = memory * state + sigma * std::sqrt(1 - memory * memory) * normal();
    };
    step(load, noise.machine, noise.machine_memory);
    step(own[side], noise.side, noise.side_memory);
    double log = noise.block * normal() + load + own[side];
    if (uniform() < noise.outlier) log += 0.05 + std::exponential_distribution<double>(4)(random);
    time += noise.call_s / (side == 1 ? ratio : 1) * std::exp(log);
  }
};

struct Tally {
  int met = 0, missed = 0, undecided = 0, covered = 0;
  std::vector<double> rounds;
};

Tally simulate(const Noise& noise, double ratio, const MeasureOptions& base, int cases, uint64_t seed) {
  Tally tally;
  for (int i = 0; i < cases; ++i) {
    Case one{std::mt19937_64(seed * 1'000'003 + static_cast<uint64_t>(i)), noise, ratio};
    auto options = base;
    options.seed = static_cast<uint64_t>(i);
    const auto result =
        measure([&] { one.block(0); }, [&] { one.block(1); }, [] {}, options, {[&] { return one.time; }, {}});
    tally.met += result.verdict == SpeedVerdict::met;
    tally.missed += result.verdict == SpeedVerdict::missed;
    tally.undecided += result.verdict == SpeedVerdict::undecided;
    tally.covered += result.speedup_low <= ratio && ratio <= result.speedup_high;
    tally.rounds.push_back(static_cast<double>(result.eager_s.size()));
  }
  return tally;
}

/// True when `count` of `cases` is more than chance allows for a true rate of `rate`: beyond 3 standard deviations.
bool above(int count, int cases, double rate) { return count > cases * rate + 3 * std::sqrt(cases * rate); }

}  // namespace

int main(int argc, char** argv) {
  const int cases = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const auto seed = static_cast<uint64_t>(argc > 2 ? std::atoll(argv[2]) : 1);
  if (cases < 1) {
    fmt::print(stderr, "error_rates: a positive number of cases expected, got {}\n", argv[1]);
    return 2;
  }
  const Noise machines[] = {
      {.name = "2 % noise"},
      {.name = "2 %, 50 ms calls", .call_s = 0.05},
      {.name = "2 %, 0.1 s calls", .call_s = 0.1},
      {.name = "2 %, 1 s calls", .call_s = 1},
      {.name = "5 % noise", .block = 0.05, .machine = 0.05},
  };
  // Rounds that depend on each other beyond what both sides share: outside the promise, shown to know the price.
  const Noise dependent = {.name = "2 %, dependent", .side = 0.01, .side_memory = 0.5};

  bool kept = true;
  fmt::print("{:<17} {:>5} {:>7} {:>7} {:>9} {:>8} {:>6}  promise\n", "machine", "ratio", "met", "missed", "undecided",
             "covered", "rounds");
  const auto row = [&](const Noise& noise, double ratio, std::optional<double> required, bool promised) {
    MeasureOptions options;
    options.required_speedup = required;
    const auto tally = simulate(noise, ratio, options, cases, seed);
    std::string broken;
    if (above(cases - tally.covered, cases, 1 - options.confidence)) broken += " coverage";
    if (required && ratio >= *required && above(tally.missed, cases, 1e-3)) broken += " false-alarms";
    if (required && ratio <= 0.95 * *required && noise.block <= 0.02 && noise.call_s <= kDetectionCall &&
        tally.missed < 0.95 * cases)
      broken += " detection";
    const auto share = [&](int count) { return fmt::format("{:.2f} %", 100.0 * count / cases); };
    fmt::print("{:<17} {:>5.2f} {:>7} {:>7} {:>9} {:>8} {:>6.0f}  {}\n", noise.name, ratio, share(tally.met),
               share(tally.missed), share(tally.undecided), share(tally.covered), median(tally.rounds),
               !promised        ? "(none)"
               : broken.empty() ? "kept"
                                : "BROKEN:" + broken);
    std::fflush(stdout);
    kept = kept && (!promised || broken.empty());
  };
  for (const auto& noise : machines)
    for (const double ratio : {1.0, 0.95, 1.2}) row(noise, ratio, 1.0, true);
  row(machines[0], 1.1, std::nullopt, true);
  for (const double ratio : {1.0, 0.95}) row(dependent, ratio, 1.0, false);
  return kept ? 0 : 1;
}
