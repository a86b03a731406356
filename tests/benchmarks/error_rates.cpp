// Measures how often timing verdicts err. Simulates cases with a known speed-up, which the real loop judges on a
// simulated clock. The noise is synthetic, or replayed from records of eager_against_eager.py --record. First simulates
// the rounds of one process, which do not show the differences between processes. Then simulates several processes, as
// in a real run.
//
// Usage: error_rates [cases=10000] [seed=1] [records=recorded_noise.txt] [processes=the source folder]
// The folder `processes` contains recorded_processes_{cpu,cuda,graphs}.txt: records of two cores, of an H100, and of
// CUDA graphs on an H100. The latter two lack the first process of each run, which does not count on an accelerator.
// Prints a table. Exit code 1: a promise is broken.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "fixtures/measure/measure.h"
#include "reports/statistics/statistics.h"
#include "tests/benchmarks/processes_error_rates.h"

using namespace torchstone;

namespace {

/// Longest eager call, in seconds, for which Torchstone promises to find 95 % of 5 % slow-downs. It holds for the
/// default budget, including its extension for undecided cases. With calls of 1 s, only ten rounds fit into that time.
constexpr double detectable_call_s = 0.2;

/// Log deviations of both sides of one real case from their medians, for each round.
using Record = std::vector<std::pair<double, double>>;

/// The noise of one kind of machine. Standard deviations refer to the logarithm of the time.
struct Noise {
  const char* name;
  double block = 0.02;          ///< standard deviation of independent blocks
  double machine = 0.02;        ///< standard deviation of the machine's load, which both sides share: AR(1) over blocks
  double machine_memory = 0.9;  ///< correlation of the load in consecutive blocks
  double side = 0;              ///< standard deviation of each side's state, AR(1): makes rounds dependent
  double side_memory = 0;       ///< correlation of a side's state in consecutive rounds
  double outlier = 0.05;        ///< share of interrupted blocks, which are 1.05 to about 3 times slower
  double call_s = 1e-3;         ///< duration of an eager call
  const std::vector<Record>* records = nullptr;  ///< if set, replayed instead of the synthetic noise
  double scale = 1;                              ///< factor of the records' deviations
};

struct Case {
  std::mt19937_64 random;
  const Noise& noise;
  double ratio;  ///< true speed-up: eager / compiled
  double time = 0, load = 0, own[2] = {0, 0};
  const Record* record = nullptr;
  size_t at = 0;
  bool swapped = false, taken[2] = {true, true};

  double normal() { return std::normal_distribution<double>()(random); }
  double uniform() { return std::uniform_real_distribution<double>()(random); }

  /// Returns the deviation of one side in the next round of a randomly selected record, from a random start. The sides
  /// are swapped at random, so the true ratio of the noise is 1. Noise that both sides share, or that lasts several
  /// rounds, is preserved.
  double replayed(int side) {
    if (!record) {
      record = &(*noise.records)[random() % noise.records->size()];
      at = random() % record->size();
    }
    if (taken[side]) {
      at = (at + 1) % record->size();
      swapped = (random() & 1) != 0;
      taken[0] = taken[1] = false;
    }
    taken[side] = true;
    return noise.scale * ((side == 1) != swapped ? (*record)[at].second : (*record)[at].first);
  }

  double made_up(int side) {
    const auto step = [&](double& state, double sigma, double memory) {
      state = memory * state + sigma * std::sqrt(1 - memory * memory) * normal();
    };
    step(load, noise.machine, noise.machine_memory);
    step(own[side], noise.side, noise.side_memory);
    double log = noise.block * normal() + load + own[side];
    if (uniform() < noise.outlier) log += 0.05 + std::exponential_distribution<double>(4)(random);
    return log;
  }

  void block(int side) {
    time += noise.call_s / (side == 1 ? ratio : 1) * std::exp(noise.records ? replayed(side) : made_up(side));
  }
};

struct Tally {
  int met = 0, missed = 0, undecided = 0, covered = 0;
  std::vector<double> rounds, seconds;
};

Tally simulate(const Noise& noise, double ratio, const measure::MeasureOptions& base, int cases, uint64_t seed) {
  Tally tally;
  const auto measured = [&](uint64_t process) {
    Case one{std::mt19937_64(seed * 1'000'003 + process), noise, ratio};
    auto options = base;
    options.seed = process;
    return measure::measure([&] { one.block(0); }, [&] { one.block(1); }, [] {}, options,
                            {[&] { return one.time; }, {}});
  };
  for (int i = 0; i < cases; ++i) {
    const auto result = measured(static_cast<uint64_t>(i));
    tally.met += result.verdict == measure::SpeedVerdict::met;
    tally.missed += result.verdict == measure::SpeedVerdict::missed;
    tally.undecided += result.verdict == measure::SpeedVerdict::undecided;
    tally.covered += result.speedup_low <= ratio && ratio <= result.speedup_high;
    tally.rounds.push_back(static_cast<double>(result.eager_s.size()));
    tally.seconds.push_back(result.metrics.at("measure_s"));
  }
  return tally;
}

/// Reads records. Each line has a name and the deviations of the two sides alternately. Throws std::runtime_error.
std::vector<Record> read_records(const std::string& path) {
  std::ifstream file(path);
  std::vector<Record> records;
  for (std::string line, name; std::getline(file, line);) {
    std::istringstream values(line);
    Record record;
    values >> name;
    for (double eager = 0, compiled = 0; values >> eager >> compiled;) record.emplace_back(eager, compiled);
    if (record.size() < 10 || !values.eof())
      throw std::runtime_error(
          fmt::format("{}:{}: a name and pairs of numbers expected, at least ten", path, records.size() + 1));
    records.push_back(std::move(record));
  }
  if (records.empty()) throw std::runtime_error(path + ": no records");
  return records;
}

/// Returns the standard deviation of the records, estimated from the median absolute deviation for normal noise.
double noise_of(const std::vector<Record>& records) {
  std::vector<double> sizes;
  for (const auto& record : records)
    for (const auto& [eager, compiled] : record) sizes.insert(sizes.end(), {std::abs(eager), std::abs(compiled)});
  return 1.4826 * statistics::median(sizes);
}

/// Returns whether `count` of `cases` exceeds the expectation for this rate by more than 3 standard deviations.
bool above(int count, int cases, double rate) { return count > cases * rate + 3 * std::sqrt(cases * rate); }

}  // namespace

int main(int argc, char** argv) {
  const int cases = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const auto seed = static_cast<uint64_t>(argc > 2 ? std::atoll(argv[2]) : 1);
  if (cases < 1) {
    fmt::print(stderr, "error_rates: a positive number of cases expected, got {}\n", argv[1]);
    return 2;
  }
  std::vector<Record> records;
  std::map<std::string, std::vector<ProcessRecord>> processes;
  try {
    records = read_records(argc > 3 ? argv[3] : TORCHSTONE_RECORDED_NOISE);
    const std::string folder = argc > 4 ? argv[4] : TORCHSTONE_RECORDED_PROCESSES;
    for (const std::string kind : {"cpu", "cuda", "graphs"})
      processes[kind] = read_process_records(fmt::format("{}/recorded_processes_{}.txt", folder, kind));
  } catch (const std::runtime_error& e) {
    fmt::print(stderr, "error_rates: {}\n", e.what());
    return 2;
  }
  const double recorded = noise_of(records);
  fmt::print("{} records with a noise of {:.2f} %\n", records.size(), 100 * recorded);
  const Noise machines[] = {
      {.name = "2 % noise"},
      {.name = "2 %, 50 ms calls", .call_s = 0.05},
      {.name = "2 %, 0.1 s calls", .call_s = 0.1},
      {.name = "2 %, 0.2 s calls", .call_s = 0.2},
      {.name = "2 %, 0.5 s calls", .call_s = 0.5},
      {.name = "2 %, 1 s calls", .call_s = 1},
      {.name = "5 % noise", .block = 0.05, .machine = 0.05},
      {.name = "recorded", .block = recorded, .call_s = 2e-3, .records = &records},
      {.name = "recorded, 2 %", .call_s = 2e-3, .records = &records, .scale = 0.02 / recorded},
      {.name = "recorded 2%, 0.1s", .call_s = 0.1, .records = &records, .scale = 0.02 / recorded},
  };
  // Rounds that depend on each other in one side only. No promise covers them; the row shows their cost.
  const Noise dependent = {.name = "2 %, dependent", .side = 0.01, .side_memory = 0.5};

  bool kept = true;
  fmt::print("{:<17} {:>5} {:>7} {:>7} {:>9} {:>8} {:>6} {:>6} {:>6}  promise\n", "machine", "ratio", "met", "missed",
             "undecided", "covered", "rounds", "s", "most s");
  const auto row = [&](const Noise& noise, double ratio, std::optional<double> required, bool promised) {
    measure::MeasureOptions options;
    options.required_speedup = required;
    const auto tally = simulate(noise, ratio, options, cases, seed);
    std::string broken;
    if (above(cases - tally.covered, cases, 1 - options.confidence)) broken += " coverage";
    if (required && ratio >= *required && above(tally.missed, cases, 1e-3)) broken += " false-alarms";
    if (required && ratio <= 0.95 * *required && noise.block <= 0.02 && noise.call_s <= detectable_call_s &&
        tally.missed < 0.95 * cases)
      broken += " detection";
    const auto share = [&](int count) { return fmt::format("{:.2f} %", 100.0 * count / cases); };
    fmt::print("{:<17} {:>5.2f} {:>7} {:>7} {:>9} {:>8} {:>6.0f} {:>6.2f} {:>6.2f}  {}\n", noise.name, ratio,
               share(tally.met), share(tally.missed), share(tally.undecided), share(tally.covered),
               statistics::median(tally.rounds), statistics::median(tally.seconds),
               statistics::quantile(tally.seconds, 1),
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
  fmt::print("\nSeveral processes, {} cases a row\n", std::min(cases, 1000));
  kept = processes_keep_their_promises(std::min(cases, 1000), seed, processes) && kept;
  return kept ? 0 : 1;
}
