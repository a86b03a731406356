#include "tests/benchmarks/processes_error_rates.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "fixtures/isolate/timed_processes.h"
#include "reports/statistics/statistics.h"

using namespace torchstone;

namespace {

/// Standard deviations refer to the logarithm of the ratio. Runs of the default suites on two cores and on an H200
/// showed a `between` of 0.5 to 5 %.
struct Machine {
  double between, within, call_s;
  bool two_states = false;  ///< one process in four is slower, with the same standard deviation `between`
  const std::vector<ProcessRecord>* records = nullptr;  ///< replayed instead of `between`; includes the rounds' noise
  std::string kind = "normal";
  std::string device = "cpu";
};

// Time of a process apart from the rounds: loading, capture, comparison and so on.
constexpr double first_process_s = 1.5, further_process_s = 0.7, further_on_accelerator_s = 1.5;
// Deviation of the first process on an accelerator. It does not count there.
constexpr double first_on_accelerator = 0.02;
constexpr int first_rounds = 10, warm_up_rounds = 6, first_calls = 3;
constexpr double interrupted = 0.05;

struct Simulation {
  std::mt19937_64 random;
  Machine machine;
  double ratio;  // mean of the processes

  double normal() { return normal_(random); }
  /// Returns the deviation of the next process, from a randomly selected run and with a random sign. The true ratio of
  /// the noise is therefore 1. Noise that lasts several processes or a whole run is preserved. After a run's last
  /// process, the next run follows.
  double replayed() {
    if (!record_) {
      record_ = &(*machine.records)[random() % machine.records->size()];
      run_ = random() % record_->size();
      sign_ = random() % 2 == 0 ? 1 : -1;
    }
    if (next_ == (*record_)[run_].size()) {
      run_ = (run_ + 1) % record_->size();
      next_ = 0;
    }
    return sign_ * (*record_)[run_][next_++];
  }
  double effect() {
    if (machine.records) return replayed();
    if (!machine.two_states) return machine.between * normal();
    const double slow = std::bernoulli_distribution(0.25)(random) ? 1 : 0;
    return machine.between * (0.25 - slow) / std::sqrt(0.25 * 0.75);
  }

  bool on_accelerator() const { return machine.device != "cpu"; }

  Outcome process(int rounds, bool first = false) {
    Outcome outcome;
    outcome.status = Status::pass;
    const double level = std::log(ratio) + (first && on_accelerator() ? first_on_accelerator : effect());
    double seconds = 0;
    for (int i = 0; i < rounds; ++i) {
      double log = level + machine.within * normal();
      if (std::bernoulli_distribution(2 * interrupted)(random))
        log += (random() % 2 == 0 ? 1 : -1) * (0.05 + std::exponential_distribution<double>(4)(random));
      outcome.samples["eager_s"].push_back(machine.call_s * std::exp(log));
      outcome.samples["compiled_s"].push_back(machine.call_s);
      seconds += machine.call_s * (1 + std::exp(log));
    }
    outcome.metrics = {{"measure_s", seconds}, {"calls_per_block", 1}};
    return outcome;
  }

  Outcome run(const Case& c) {
    const double round_s = 2 * machine.call_s, budget_s = c.measure_budget_s * isolate::first_share;
    const int rounds = std::clamp(static_cast<int>(4 * budget_s / round_s), 1, first_rounds);
    const double warm_up_s = std::clamp(std::ceil(budget_s / 4 / round_s), 1.0, 1.0 * warm_up_rounds) * round_s;
    const double calls_s = warm_up_s + first_calls * machine.call_s;
    Outcome first = process(rounds, /*first=*/true);
    const double first_s = first_process_s + calls_s + first.metrics.at("measure_s");
    isolate::TimedProcesses timed(c, std::move(first), first_s);
    const double process_s = on_accelerator() ? further_on_accelerator_s : further_process_s;
    while (const auto order = timed.next()) {
      const Outcome more = process(order->rounds);
      timed.add(more, process_s + calls_s + more.metrics.at("measure_s"));
    }
    return timed.outcome();
  }

  /// Repeats a missed case once, as CaseRunner does. The repetition replays the next recorded run.
  Outcome run_until_confirmed(const Case& c) {
    Outcome outcome = run(c);
    if (outcome.status != Status::fail_speedup) return outcome;
    if (record_) {
      run_ = (run_ + 1) % record_->size();
      next_ = 0;
    }
    return isolate::confirmed(std::move(outcome), run(c));
  }

  std::normal_distribution<double> normal_{};
  const ProcessRecord* record_ = nullptr;
  double sign_ = 1;
  size_t run_ = 0, next_ = 0;
};

bool above(int count, int cases, double rate) { return count > cases * rate + 3 * std::sqrt(cases * rate); }

bool row(const Machine& machine, double ratio, std::optional<double> required, int cases, uint64_t seed) {
  Case c;
  c.check = "performance";
  c.required_speedup = required;
  c.device = machine.device;
  int met = 0, red = 0, undecided = 0, covered = 0;
  std::vector<double> processes, half_widths;
  for (int i = 0; i < cases; ++i) {
    Simulation simulation{std::mt19937_64(seed * 1'000'003 + static_cast<uint64_t>(i)), machine, ratio};
    const Outcome outcome = simulation.run_until_confirmed(c);
    red += outcome.status == Status::fail_speedup;
    undecided += outcome.status == Status::undecided;
    met += outcome.status == Status::pass;
    const auto& metrics = outcome.metrics;
    covered += metrics.at("speedup_low") <= ratio && ratio <= metrics.at("speedup_high");
    processes.push_back(metrics.at("processes"));
    half_widths.push_back((metrics.at("speedup_high") - metrics.at("speedup_low")) / 2 / metrics.at("speedup"));
  }
  std::string broken;
  // For recorded runs the promised coverage is only 90 %, because consecutive runs share the state of their machine.
  const double uncovered = machine.records ? 0.1 : 1 - c.confidence;
  if (!machine.two_states && above(cases - covered, cases, uncovered)) broken += " coverage";
  if (required && ratio >= *required && above(red, cases, 1e-3)) broken += " false-alarms";
  if (required && ratio <= 0.951 * *required && machine.between <= 0.02 && red < 0.95 * cases) broken += " detection";
  const auto share = [&](int count) { return fmt::format("{:.2f} %", 100.0 * count / cases); };
  fmt::print("{:>6.1f} % {:>6.1f} % {:>6.3f} {:<6} {:>5.2f} {:>8} {:>8} {:>9} {:>8} {:>9.0f} {:>7.2f} %  {}\n",
             100 * machine.between, 100 * machine.within, machine.call_s, machine.kind, ratio,
             required ? share(met) : "", required ? share(red) : "", required ? share(undecided) : "", share(covered),
             statistics::median(processes), 100 * statistics::median(half_widths),
             broken.empty() ? "kept" : "BROKEN:" + broken);
  std::fflush(stdout);
  return broken.empty();
}

/// Returns the standard deviation, estimated from the median absolute deviation for normal noise.
double deviation_of(const std::vector<ProcessRecord>& records) {
  std::vector<double> sizes;
  for (const auto& record : records)
    for (const auto& run : record)
      for (const double value : run) sizes.push_back(std::abs(value));
  return 1.4826 * statistics::median(sizes);
}

}  // namespace

std::vector<ProcessRecord> read_process_records(const std::string& path) {
  std::ifstream file(path);
  std::vector<ProcessRecord> records;
  int number = 0;
  for (std::string line, name, before; std::getline(file, line); before = name) {
    ++number;
    std::istringstream values(line);
    std::vector<double> run;
    values >> name;
    for (double value = 0; values >> value;) run.push_back(value);
    if (run.empty() || !values.eof())
      throw std::runtime_error(fmt::format("{}:{}: a name and numbers expected", path, number));
    if (name != before) records.emplace_back();
    records.back().push_back(std::move(run));
  }
  if (records.empty()) throw std::runtime_error(path + ": no records");
  return records;
}

bool processes_keep_their_promises(int cases, uint64_t seed,
                                   const std::map<std::string, std::vector<ProcessRecord>>& records) {
  fmt::print("{:>8} {:>8} {:>6} {:<6} {:>5} {:>8} {:>8} {:>9} {:>8} {:>9} {:>9}  promise\n", "between", "within",
             "call s", "kind", "ratio", "met", "red", "undecided", "covered", "processes", "half");
  bool kept = true;
  for (const double between : {0.005, 0.02, 0.03, 0.05})
    for (const auto& [within, call_s] : {std::pair{0.01, 0.002}, {0.03, 0.002}, {0.02, 0.2}}) {
      const Machine machine{between, within, call_s};
      for (const double ratio : {1.0, 0.95}) kept = row(machine, ratio, 1.0, cases, seed) && kept;
      kept = row(machine, 1.2, std::nullopt, cases, seed) && kept;
    }
  const Machine two_states{0.02, 0.01, 0.002, true, nullptr, "two"};
  for (const double ratio : {1.0, 0.95}) kept = row(two_states, ratio, 1.0, cases, seed) && kept;
  kept = row(two_states, 1.2, std::nullopt, cases, seed) && kept;
  for (const auto& [kind, processes] : records) {
    const std::string device = kind == "cpu" ? "cpu" : "cuda";
    const Machine recorded{deviation_of(processes), 0.002, 0.002, false, &processes, kind, device};
    for (const double ratio : {1.0, 0.95}) kept = row(recorded, ratio, 1.0, cases, seed) && kept;
    kept = row(recorded, 1.2, std::nullopt, cases, seed) && kept;
  }
  return kept;
}
