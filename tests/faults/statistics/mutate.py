#!/usr/bin/env python3
"""Plants bugs in the statistics, the stop rule and the rounds, one at a time, and checks that each fails a unit test.

Usage: mutate.py [--quick N [--seed S]] [--file NAME] [--compiler g++]
Needs only a compiler and the system's GoogleTest and fmt, no LibTorch and no CMake.
Exit code 0: every bug was caught. 1: a bug survived. 2: the unchanged sources fail, or a planted bug no longer matches
the source or does not compile.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
STATISTICS, STOP_RULE, CHANGE, ROUNDS = "statistics.cpp", "stop_rule.cpp", "change.cpp", "rounds.cpp"
MEASURE, EVALUATE, PROCESSES = "measure.cpp", "measure.cpp", "processes.cpp"
PROCESS_RULE, NEAR, DRIFT = "process_rule.cpp", PROCESSES, CHANGE
BEST, RACE, WIDTH, ROUNDING = "multiple_comparisons.cpp", "multiple_comparisons.cpp", STATISTICS, "rounding.cpp"
FOLDERS = {**dict.fromkeys((STATISTICS, PROCESSES, NEAR, BEST, RACE, WIDTH, ROUNDING), "reports/statistics"), **dict.fromkeys((CHANGE, DRIFT), "reports/judge"),
           **dict.fromkeys((STOP_RULE, ROUNDS, MEASURE, EVALUATE, PROCESS_RULE), "fixtures/measure")}
UNTESTED_HERE = {"machine_state.cpp": "fixtures/measure", "process.cpp": "reports/base",
                 "text.cpp": "reports/base"}  # linked, not changed
TIME_LIMIT_S = 60  # for one test run; a bug that causes an endless loop counts as caught

# (file, description, original text, replacement). The original text must occur exactly once in the file.
BUGS = [
    (STATISTICS, "quantile counts n, not n-1", "p * static_cast<double>(values.size() - 1)", "p * static_cast<double>(values.size())"),
    (STATISTICS, "quantile does not interpolate", "return values[below] + (position", "return values[below] + 0 * (position"),
    (STATISTICS, "quantile does not sort", "  std::ranges::sort(values);\n  const double position", "  const double position"),
    (STATISTICS, "quantile accepts p out of range", "if (!(p >= 0 && p <= 1)) throw std::invalid_argument(\"quantile", "if (p > 2) throw std::invalid_argument(\"quantile"),
    (STATISTICS, "weighted quantile accepts p out of range", "if (!(p >= 0 && p <= 1)) throw std::invalid_argument(\"weighted", "if (p > 2) throw std::invalid_argument(\"weighted"),
    (STATISTICS, "weighted quantile ignores the weights", "(below += weight)", "(below += total / static_cast<double>(values.size()))"),
    (STATISTICS, "weighted quantile is one value late", "(below += weight) >= p * total", "(below += weight) > p * total"),
    (STATISTICS, "weighted quantile keeps values without weight", "return entry.weight == 0;", "return entry.weight < 0;"),
    (STATISTICS, "weighted quantile accepts negative weights", "if (!(weight >= 0))", "if (weight < -2)"),
    (STATISTICS, "weighted quantile of no weight", "if (!(total > 0))", "if (!(total >= 0))"),
    (STATISTICS, "weighted quantile does not sort", "  std::ranges::sort(values, {}, &Weighted::value);\n", ""),
    (STATISTICS, "median is the upper quartile", "quantile(std::move(values), 0.5)", "quantile(std::move(values), 0.75)"),
    (STATISTICS, "noise is absolute, not relative", "std::abs(value - centre) / centre", "std::abs(value - centre)"),
    (STATISTICS, "noise keeps the sign", "std::abs(value - centre) / centre", "(value - centre) / centre"),
    (STATISTICS, "geometric mean divides by n-1", "std::exp(sum / static_cast<double>(values.size()))", "std::exp(sum / static_cast<double>(values.size() - 1))"),
    (STATISTICS, "geometric mean accepts zero", "if (!(value > 0)) throw", "if (value < 0) throw"),
    (STATISTICS, "a value on the fence is an outlier", "value < q1 - reach || value > q3 + reach", "value <= q1 - reach || value >= q3 + reach"),
    (STATISTICS, "outliers on the fast side are missed", "value < q1 - reach || value > q3 + reach", "value > q3 + reach"),
    (STATISTICS, "fences at 3 interquartile ranges", "1.5 * (q3 - q1)", "3.0 * (q3 - q1)"),
    (STATISTICS, "binomial sum stops one short", "for (size_t i = 0; i <= k; ++i)", "for (size_t i = 0; i < k; ++i)"),
    (STATISTICS, "binomial coefficient off by one", "std::lgamma(size - count + 1)", "std::lgamma(size - count + 2)"),
    (STATISTICS, "an exact coverage is lost to rounding", "tail * (1 + 1e-9)", "tail * (1 - 1e-9)"),
    (STATISTICS, "bisection keeps the index that breaks the promise", "return keeps;", "return breaks;"),
    (STATISTICS, "bound never leaves the extremes", "while (breaks - keeps > 1)", "while (breaks - keeps > n)"),
    (STATISTICS, "interval is one-sided", "median_bound(n, (1 - confidence) / 2)", "median_bound(n, 1 - confidence)"),
    (STATISTICS, "upper index n-k instead of n-1-k", "n - 1 - *bound}", "n - *bound}"),
    (STATISTICS, "interval for too small a sample", "binomial_half_cdf(n, 0) > limit", "binomial_half_cdf(n, 0) > 2 * limit"),
    (STATISTICS, "sides swapped", "std::log(numerator[i] / denominator[i])", "std::log(denominator[i] / numerator[i])"),
    (STATISTICS, "negative times accepted", "!(numerator[i] > 0) || !(denominator[i] > 0) || ", ""),
    (STATISTICS, "infinite times accepted", " || !std::isfinite(value))", ")"),
    (STATISTICS, "Hodges-Lehmann leaves out i = j", "pairs = n * (n + 1) / 2", "pairs = n * (n - 1) / 2"),
    (STATISTICS, "Hodges-Lehmann counts a pair too few", "while (end > i && ", "while (end > i + 1 && "),
    (STATISTICS, "Hodges-Lehmann takes the lower middle", "ranked(pairs / 2 + 1)", "ranked((pairs + 1) / 2)"),
    (STATISTICS, "slope per pair, not per round", "static_cast<double>((j - i) * stride)", "1.0"),
    (STATISTICS, "slope of a thinned series", "static_cast<double>((j - i) * stride)", "static_cast<double>(j - i)"),
    (STATISTICS, "trend score counts ties", "(values[j] > values[i]) - (values[j] < values[i])", "(values[j] >= values[i]) - (values[j] < values[i])"),
    (STATISTICS, "no tie correction", "variance -= term(count);", "variance -= 0 * term(count);"),
    (STATISTICS, "no continuity correction", "(std::abs(score) - 1) / std::sqrt(variance)", "std::abs(score) / std::sqrt(variance)"),
    (STATISTICS, "one-sided p-value", "result.p_value = std::erfc(", "result.p_value = 0.5 * std::erfc("),
    (PROCESSES, "t without its half", "degrees / 2, 0.5) / 2;", "degrees / 2, 0.5);"),
    (PROCESSES, "t with half the degrees", "square / (degrees + square), degrees / 2, 0.5)", "square / (degrees + square), degrees, 0.5)"),
    (PROCESSES, "fraction without its odd terms", "const double step = d * c;", "const double step = 1;"),
    (PROCESSES, "a tail over one half accepted", "tail <= 0.5)) throw", "tail <= 1)) throw"),
    (PROCESSES, "rounds of a process are lost", "  if (begin != values.size())\n    throw", "  if (begin > values.size())\n    throw"),
    (PROCESSES, "n degrees of freedom", "student_bound(tail, n - 1)", "student_bound(tail, n)"),
    (PROCESSES, "standard deviation, not error", "std::sqrt(variance / n)", "std::sqrt(variance)"),
    (PROCESSES, "variance over n", "(value - result.mean) / (n - 1);", "(value - result.mean) / n;"),
    (PROCESSES, "one process is certain", "return {mean, infinity};", "return {mean, 0};"),
    (PROCESSES, "medians of their own rounds seem calm", "std::abs(value - centre) * std::sqrt(n / (n - 1))", "std::abs(value - centre)"),
    (PROCESSES, "within is a deviation", "std::pow(1.4826 * median(std::move(deviations)), 2)", "(1.4826 * median(std::move(deviations)))"),
    (PROCESSES, "rounds explain nothing", "moments(medians(processes)).variance - explained", "moments(medians(processes)).variance"),
    (PROCESSES, "negative variance", "std::max(0.0, moments", "std::max(-1.0, moments"),
    (PROCESSES, "medians are as good as means", "std::acos(-1.0) / 2 * result.within", "1.0 * result.within"),
    (PROCESSES, "costs upside down", "process_s / round_s * components", "round_s / process_s * components"),
    (PROCESSES, "components upside down", "components.within / components.between", "components.between / components.within"),
    (PROCESSES, "optimum without its root", "return std::sqrt(process_s / round_s", "return (process_s / round_s"),
    (PROCESSES, "rounds with what processes differ", "value - own + centre", "value + centre"),
    (PROCESS_RULE, "the spent error is spent again", "const double part = share - spent_; part", "const double part = share; part"),
    (PROCESS_RULE, "early looks spend too much", "std::min(1.0, used * used)", "std::min(1.0, used)"),
    (PROCESS_RULE, "the interval is one-sided", "(1 - options_.confidence) * part / 2", "(1 - options_.confidence) * part"),
    (PROCESS_RULE, "few processes miss a requirement", "n >= gate_processes || options_.exactly > 1", "n >= min_processes || options_.exactly > 1"),
    (PROCESS_RULE, "the gate is the interval's", "gate_error * part", "(1 - options_.confidence) * part"),
    (PROCESS_RULE, "rounds do not lower the interval", "std::min(-of_processes, of_rounds.low)", "-of_processes"),
    (PROCESS_RULE, "rounds do not raise the interval", "std::max(of_processes, of_rounds.high)", "of_processes"),
    (PROCESS_RULE, "missing processes get no time", "left_s / std::max(1, missing) - costs.process_s", "left_s / std::max(1, missing)"),
    (PROCESS_RULE, "the next process gets the time of all", "left_s / std::max(1, missing) - costs.process_s", "left_s - costs.process_s"),
    (PROCESSES, "too few rounds say nothing", "rounds[index])", "rounds[index] * (index > 0 ? 1 : 0))"),
    (PROCESS_RULE, "no more processes whatever the time", "elapsed_s + next_s > time_limit", "elapsed_s > time_limit"),
    (PROCESS_RULE, "a met requirement leaves a useless interval", "(met_ && !says_nothing)", "met_"),
    (PROCESS_RULE, "no patience", "if (!options.required_speedup) return plain;", "return plain;"),
    (STOP_RULE, "met needs more than the requirement", "analysis.low >= *required_speedup", "analysis.low > *required_speedup"),
    (STOP_RULE, "missed by the requirement itself", "analysis.high < *required_speedup && analysis.gate_high < *required_speedup", "analysis.high <= *required_speedup && analysis.gate_high <= *required_speedup"),
    (STOP_RULE, "missed without the gate's bound", "analysis.high < *required_speedup && analysis.gate_high < *required_speedup", "analysis.high < *required_speedup"),
    (STOP_RULE, "missed without the interval", "analysis.high < *required_speedup && analysis.gate_high < *required_speedup", "analysis.gate_high < *required_speedup"),
    (STOP_RULE, "met and missed swapped", "return SpeedVerdict::met;", "return SpeedVerdict::missed;"),
    (STOP_RULE, "met judged by the upper end", "if (analysis.low >= *required_speedup)", "if (analysis.high >= *required_speedup)"),
    (STOP_RULE, "every look gets all the error", "last != Stop::none ? 1 : std::min(1.0, std::max(of_rounds, of_time))", "1"),
    (STOP_RULE, "the last look gets only its share", "last != Stop::none ? 1 :", "last == Stop::rounds_cap ? 1 :"),
    (STOP_RULE, "time that passed frees no error", "std::max(of_rounds, of_time)", "of_rounds"),
    (STOP_RULE, "rounds that were taken free no error", "std::max(of_rounds, of_time)", "of_time"),
    (STOP_RULE, "rounds and time both have to pass", "std::max(of_rounds, of_time)", "std::min(of_rounds, of_time)"),
    (STOP_RULE, "more than all the error is spent", "std::min(1.0, std::max(of_rounds, of_time))", "std::max(of_rounds, of_time)"),
    (STOP_RULE, "error by the plain budget's time", "elapsed_s / time_limit(n, options_)", "elapsed_s / options_.budget_s"),
    (STOP_RULE, "no patience while undecided", "enough && !options.required_speedup ? 1", "enough ? 1"),
    (STOP_RULE, "patience without a requirement", "enough && !options.required_speedup ? 1", "!enough && !options.required_speedup ? 1"),
    (STOP_RULE, "no patience for the first rounds", "enough && !options.required_speedup ? 1", "!options.required_speedup ? 1"),
    (STOP_RULE, "enough rounds is one more", "const bool enough = rounds >= ", "const bool enough = rounds > "),
    (STOP_RULE, "patience under one budget accepted", "require(options.patience >= 1,", "require(options.patience > 0,"),
    (STOP_RULE, "spending is forgotten", "(1 - options_.confidence) * share - spent_;", "(1 - options_.confidence) * share;"),
    (STOP_RULE, "the gate's spending is forgotten", "gate_error(options_) * share - gate_spent_", "gate_error(options_) * share"),
    (STOP_RULE, "one side's error is not counted", "spent_ += 2 * statistics::binomial_half_cdf", "spent_ += statistics::binomial_half_cdf"),
    (STOP_RULE, "two-sided error spent on each side", "statistics::median_bound(n, error / 2)", "statistics::median_bound(n, error)"),
    (STOP_RULE, "upper end one rank too far in", "analysis.high = std::exp(sorted[n - 1 - *bound]);", "analysis.high = std::exp(sorted[n - 2 - *bound]);"),
    (STOP_RULE, "gate one rank too far in", "analysis.gate_high = std::exp(sorted[n - 1 - *bound]);", "analysis.gate_high = std::exp(sorted[n - 2 - *bound]);"),
    (STOP_RULE, "gate more lenient than the interval", "std::min(missed_error, 1 - options.confidence)", "missed_error"),
    (STOP_RULE, "looks at unsorted rounds", "  std::ranges::sort(sorted);\n  if (n > 0)", "  if (n > 0)"),
    (STOP_RULE, "whole width instead of half", "(analysis.high - analysis.low) / 2 <=", "(analysis.high - analysis.low) <="),
    (STOP_RULE, "absolute instead of relative width", "options_.target_half_width * analysis.ratio", "options_.target_half_width"),
    (STOP_RULE, "narrow stops below the requirement", "return !options.required_speedup || analysis.high >= *options.required_speedup;", "return true;"),
    (STOP_RULE, "narrow never stops with a requirement", "return !options.required_speedup || analysis.high >= *options.required_speedup;", "return !options.required_speedup;"),
    (STOP_RULE, "a missed requirement does not stop", "analysis.verdict == SpeedVerdict::met || analysis.verdict == SpeedVerdict::missed", "analysis.verdict == SpeedVerdict::met"),
    (STOP_RULE, "looks after every round", "return std::ranges::find(checkpoints_, static_cast<int>(rounds)) != checkpoints_.end();", "return rounds >= static_cast<size_t>(checkpoints_.front());"),
    (STOP_RULE, "no look at the cap", "result.push_back(max_rounds);", ""),
    (STOP_RULE, "looks tripled, not doubled", "rounds *= 2)", "rounds *= 3)"),
    (STOP_RULE, "a look shortly before the cap", "3 * rounds < 2LL * max_rounds", "rounds < max_rounds"),
    (STOP_RULE, "the reason to end is lost", "analysis.stop = last;", "analysis.stop = Stop::none;"),
    (STOP_RULE, "confidence of 1 accepted", "options.confidence < 1,", "options.confidence <= 1,"),
    (CHANGE, "FASTER and SLOWER swapped", "grown == (better == Better::higher)", "grown != (better == Better::higher)"),
    (CHANGE, "a change of neither direction has a verdict", "if (better == Better::neither) return Change::ambiguous;", ""),
    (CHANGE, "SAME by the estimate alone", "log_ratio.low >= -band && log_ratio.high <= band", "log_ratio.value >= -band && log_ratio.value <= band"),
    (CHANGE, "SAME whatever the upper end", "log_ratio.low >= -band && log_ratio.high <= band", "log_ratio.low >= -band"),
    (CHANGE, "no verdict SAME on the edge", "log_ratio.high <= band)", "log_ratio.high < band)"),
    (CHANGE, "grown without the tolerance", "if (log_ratio.low > band)", "if (log_ratio.low > 0)"),
    (CHANGE, "grown by the estimate alone", "if (log_ratio.low > band)", "if (log_ratio.value > band)"),
    (CHANGE, "shrunk without the tolerance", "if (log_ratio.high < -band)", "if (log_ratio.high < 0)"),
    (CHANGE, "tolerance in percent", "const double band = std::log1p(tolerance)", "const double band = std::log1p(tolerance / 100)"),
    (CHANGE, "a number lost goes unseen", "if (std::isnan(after)) return Change::broken;", ""),
    (CHANGE, "more is less", "after > before ? Change::more", "after < before ? Change::more"),
    (CHANGE, "far whatever the lower end", "std::max(log_ratio.low, -log_ratio.high)", "std::max(log_ratio.high, -log_ratio.low)"),
    (CHANGE, "threads elsewhere explain nothing", ") / explained;", ");"),
    (CHANGE, "a small change is far", "factor >= far", "factor > 0"),
    (ROUNDS, "the same side always first", "second_of_pair_ ? !first_ : (random_() & 1) != 0", "true"),
    (ROUNDS, "order not balanced in pairs", "second_of_pair_ ? !first_ : (random_() & 1) != 0", "(random_() & 1) != 0"),
    (ROUNDS, "order alternates, never random", "(random_() & 1) != 0", "true"),
    (ROUNDS, "order ignored", "if (!eager_first) blocks.eager = time(false)", "if (!eager_first) blocks.compiled = time(false)"),
    (ROUNDS, "eager timed on both sides", "blocks.compiled = time(true)", "blocks.compiled = time(false)"),
    (ROUNDS, "device not drained", "  bench.synchronize();\n  time.wall", "  time.wall"),
    (ROUNDS, "drained after the clock was read", "  bench.synchronize();\n  time.wall = bench.now() - start;", "  time.wall = bench.now() - start;\n  bench.synchronize();"),
    (ROUNDS, "flush inside the time", "  if (bench.flush) bench.flush();\n  const double start = bench.now();", "  const double start = bench.now();\n  if (bench.flush) bench.flush();"),
    (ROUNDS, "launching includes the draining", "time.launching = bench.now() - start;", "bench.synchronize();\n    time.launching = bench.now() - start;"),
    (ROUNDS, "device marked before the calls only", "    bench.device.stop();\n", ""),
    (ROUNDS, "device asked before it was drained", "  bench.synchronize();\n  time.wall = bench.now() - start;\n  if (device_clock) time.device = bench.device.seconds();", "  if (device_clock) time.device = bench.device.seconds();\n  bench.synchronize();\n  time.wall = bench.now() - start;"),
    (ROUNDS, "one call too few", "for (int64_t i = 0; i < calls; ++i) call();", "for (int64_t i = 1; i < calls; ++i) call();"),
    (ROUNDS, "a coarse clock is not seen", "std::max(std::isfinite(step) ? step : 0.0, cost)", "cost"),
    (ROUNDS, "synchronize costs nothing", "+ synchronize;", "+ 0 * synchronize;"),
    (ROUNDS, "calibrated by the slower side", "fastest = std::min(blocks.eager.wall, blocks.compiled.wall)", "fastest = std::max(blocks.eager.wall, blocks.compiled.wall)"),
    (ROUNDS, "blocks shorter than the waiting", " && tried.blocks >= tried.waiting", ""),
    (ROUNDS, "a round may take any time", "std::min({std::ceil(wanted), allowed, max_calls})", "std::min({std::ceil(wanted), max_calls})"),
    (ROUNDS, "slow first calls are believed", "i < max_readings", "i < 1"),
    (ROUNDS, "warm at once", "if (seconds.size() < 6) return false;", "if (seconds.size() < 6) return true;"),
    (ROUNDS, "warm while it still gets faster", ">= 0.98 * *std::min_element", ">= 0.58 * *std::min_element"),
    (ROUNDS, "never warm", ">= 0.98 * *std::min_element", ">= 1.02 * *std::min_element"),
    (ROUNDS, "warm when one side is", "is_steady(eager) && is_steady(compiled)", "is_steady(eager) || is_steady(compiled)"),
    (ROUNDS, "warm-up without a deadline", "bench.now() < deadline && ", ""),
    (ROUNDS, "warm-up without a cap", "result.rounds < max_warm_up_rounds && ", ""),
    (MEASURE, "ratio upside down", "std::log(blocks.eager.wall / blocks.compiled.wall)", "std::log(blocks.compiled.wall / blocks.eager.wall)"),
    (MEASURE, "device's ratio is the wall's", "std::log(blocks.eager.device / blocks.compiled.device)", "std::log(blocks.eager.wall / blocks.compiled.wall)"),
    (MEASURE, "seconds a block, not a call", "result.compiled_s.push_back(blocks.compiled.wall / calls)", "result.compiled_s.push_back(blocks.compiled.wall)"),
    (MEASURE, "device's seconds of the other side", "result.compiled_device_s.push_back(blocks.compiled.device / calls)", "result.compiled_device_s.push_back(blocks.eager.device / calls)"),
    (MEASURE, "launching in seconds", "blocks.eager.launching / blocks.eager.wall", "blocks.eager.launching"),
    (MEASURE, "a number of rounds judged twice", "rule.is_due(rounds) && !repeated", "rule.is_due(rounds)"),
    (MEASURE, "disturbed rounds are kept", "repeated = !timed || (disturbed && may_drop);", "repeated = !timed;"),
    (MEASURE, "disturbed rounds dropped without end", "const bool may_drop = data.dropped < drops_allowed;", "const bool may_drop = true;"),
    (MEASURE, "a repeated round draws a new order", "if (!repeated) eager_first = order.eager_first();", "eager_first = order.eager_first();"),
    (MEASURE, "a device's clock may stand still", "!device_clock || (blocks.eager.device > 0 && blocks.compiled.device > 0)", "true"),
    (MEASURE, "blocks short for the clock", "overhead_margin * overhead / max_overhead_share", "overhead"),
    (MEASURE, "blocks barely long enough for the clock", "overhead_margin * overhead /", "overhead /"),
    (MEASURE, "half the budget for blocks that the clock needs", "time_limit(0, options) / options.min_rounds", "options.budget_s / (2 * options.min_rounds)"),
    (MEASURE, "blocks for the clock of any length", "time_limit(0, options) / options.min_rounds", "1e9"),
    (MEASURE, "many calls after one flush", "else if (!hooks.flush)  // after", "else  // after"),
    (MEASURE, "no warm-up", "start + warm_up_share * options.budget_s", "start"),
    (EVALUATE, "noise of the sides swapped", "100 * statistics::median_absolute_percentage_error(m.compiled_s)", "100 * statistics::median_absolute_percentage_error(m.eager_s)"),
    (EVALUATE, "outliers of the sides swapped", "statistics::tukey_outliers(m.eager_s)", "statistics::tukey_outliers(m.compiled_s)"),
    (EVALUATE, "overhead of the longer block", "std::min(statistics::median(m.eager_s), statistics::median(m.compiled_s))", "std::max(statistics::median(m.eager_s), statistics::median(m.compiled_s))"),
    (EVALUATE, "overhead of a call, not a block", "static_cast<double>(m.calls_per_block));", "1.0);"),
    (EVALUATE, "no doubt about short blocks", "share > max_overhead_share", "share > 1"),
    (EVALUATE, "too few calls advised", "overhead_margin * share / max_overhead_share", "1.0"),
    (EVALUATE, "calls advised after a flush", "if (flushed && calls == 1)", "if (false)"),
    (EVALUATE, "no doubt about drift", "trend.p_value < drift_level", "trend.p_value < 0"),
    (EVALUATE, "always in doubt about drift", "trend.p_value < drift_level", "trend.p_value <= 1"),
    (EVALUATE, "no doubt about warm-up", "!data.warm_up.steady && ", "data.warm_up.steady && "),
    (EVALUATE, "no doubt about kept rounds", "if (data.disturbed_kept)", "if (!data.disturbed_kept)"),
    (EVALUATE, "overhead counts blocks as its own", "1 - data.in_blocks / data.elapsed", "data.in_blocks / data.elapsed"),
    (NEAR, "near and apart are swapped", "(near ? places.near : places.apart)", "(near ? places.apart : places.near)"),
    (NEAR, "what is faster than near is near", "const auto [less, more] = std::minmax(fork_join_us, other_us);", "const auto less = other_us, more = fork_join_us;"),
    (NEAR, "an unknown place is another one", "less > 0 && more", "more"),
    (NEAR, "a tenth more is not apart", "more > apart_factor * less", "more > 2 * apart_factor * less"),
    (NEAR, "an unknown machine has no near threads", "!std::isfinite(near_us) || ", ""),
    (DRIFT, "a drift of two cases", "changes.size() < 3", "changes.size() < 2"),
    (DRIFT, "a drift of four cases at least", "changes.size() < 3", "changes.size() < 4"),
    (DRIFT, "deviations keep their sign", "std::abs(change - centre)", "(change - centre)"),
    (DRIFT, "the spread is the median deviation", "1.4826 * ", ""),
    (DRIFT, "the error is that of a mean", "1.2533 * ", ""),
    (DRIFT, "the error is that of a case", " / std::sqrt(static_cast<double>(changes.size()))", ""),
    (DRIFT, "only a slower machine has moved", "std::abs(centre) > std::log1p(tolerance) && std::abs(centre)", "centre > std::log1p(tolerance) && std::abs(centre)"),
    (DRIFT, "a drift within the tolerance", "std::abs(centre) > std::log1p(tolerance) && ", ""),
    (DRIFT, "a drift of two errors", "3 * error", "2.5 * error"),
    (DRIFT, "the tolerance is a logarithm", "> std::log1p(tolerance)", "> 1.002 * tolerance"),
    (BEST, "a difference against all, not against one", "(1 - confidence) / static_cast<double>(k - 1)", "(1 - confidence)"),
    (BEST, "behind the slowest", "std::max(result[i].behind, mean - reach)", "std::min(result[i].behind, mean - reach)"),
    (BEST, "behind by the mean", "std::max(result[i].behind, mean - reach)", "std::max(result[i].behind, mean)"),
    (BEST, "a lower bound above the best", "std::min(0.0, result[i].behind)", "std::max(0.0, result[i].behind)"),
    (BEST, "the upper bound is the lower one", "std::max(result[i].high, mean + reach)", "std::max(result[i].high, mean - reach)"),
    (BEST, "bounded by those that are surely slower", "if (j == i || !may_be_best(j)) continue;", "if (j == i) continue;"),
    (BEST, "a tie is no best", "return result[i].behind <= 0;", "return result[i].behind < -0.5;"),
    (BEST, "one alone is in doubt", "    result[0].behind = -unlimited;\n", ""),
    (BEST, "processes of both, in the wrong order", "values[i][p] - values[j][p]", "values[i][p] - values[j][common - 1 - p]"),
    (BEST, "the control is taken the other way round", "difference(values, i, control, tail)", "difference(values, control, i, tail)"),
    (BEST, "the control's intervals have one side", "(1 - confidence) / 2 / static_cast<double>", "(1 - confidence) / static_cast<double>"),
    (BEST, "the control's intervals hold one by one", " / static_cast<double>(values.size() - 1);", ";"),
    (RACE, "every look spends all of the error", "(1 - confidence) / looks", "(1 - confidence)"),
    (RACE, "no look at all", "looks < 1", "looks < 0"),
    (RACE, "logarithms of base 2", "std::log(value)", "std::log2(value)"),
    (RACE, "what is within the margin leaves", "distance.behind <= margin", "distance.behind <= -margin"),
    (RACE, "what is behind by more stays", "const bool stays = distance.behind <= margin", "const bool stays = true"),
    (RACE, "settled by the lower bounds", "distance.high <= margin", "distance.low <= margin"),
    (RACE, "settled in spite of one that differs", "look.settled = look.settled && (", "look.settled = look.settled || ("),
    (RACE, "what has left must be alike, too", "(!stays || distance.high <= margin)", "(distance.high <= margin)"),
    (WIDTH, "an end of zero is a bound", "low > 0 &&", "low >= 0 &&"),
    (WIDTH, "an end without limit is a bound", " && std::isfinite(high)", ""),
    (WIDTH, "the whole width counts", "(high - low) / 2 >", "(high - low) >"),
    (WIDTH, "the width is absolute", "widest_half * ratio", "widest_half"),
    (WIDTH, "one side counts", "(high - low) / 2 >", "ratio - low >"),
    (PROCESSES, "Fisher's tail over one accepted", "(tail > 0 && tail <= 1)", "(tail > 0 && tail <= 2)"),
    (PROCESSES, "Fisher's degrees the other way round", "fisher_tail(f, above, below); }", "fisher_tail(f, below, above); }"),
    (ROUNDING, "NaN differs from NaN", " || (std::isnan(a) && std::isnan(b))", ""),
    (ROUNDING, "eager may be infinite", "holds(block.exact[i]) && holds(block.eager[i]) &&", "holds(block.exact[i]) &&"),
    (ROUNDING, "float64 may be infinite", "return holds(block.exact[i]) && holds", "return holds"),
    (ROUNDING, "one finite run is enough", "std::ranges::all_of(block.runs, [&](const auto& run) { return holds(run[i]); })", "std::ranges::any_of(block.runs, [&](const auto& run) { return holds(run[i]); })"),
    (ROUNDING, "a new NaN is no difference", "return !std::isfinite(block.result[i]);", "return false;"),
    (ROUNDING, "NaN wanted where eager does not agree", "return same && !alike", "return !alike"),
    (ROUNDING, "any number for eager's NaN", "return same && !alike(block.result[i], block.exact[i]);", "return false;"),
    (ROUNDING, "only the last element's NaN counts", "differs_in_finiteness || statistics::differs_in_finiteness", "statistics::differs_in_finiteness"),
    (ROUNDING, "results of other lengths", "|| differs(block.result) ", ""),
    (ROUNDING, "eager of another length", "|| differs(block.eager) ", ""),
    (ROUNDING, "no run needed", "block.runs.empty() || ", ""),
    (ROUNDING, "runs of other lengths", " || std::ranges::any_of(block.runs, differs))", ")"),
    (ROUNDING, "eager's error is its value", "eager += square(block.eager[i] - exact);", "eager += square(block.eager[i]);"),
    (ROUNDING, "the result's error against eager", "result += square(block.result[i] - exact);", "result += square(block.result[i] - block.eager[i]);"),
    (ROUNDING, "errors of runs keep their sign", "runs += square(errors[r]);", "runs += errors[r];"),
    (ROUNDING, "a cosine, not its square", "cosines += square(products[r][s]) / sizes;", "cosines += products[r][s] / std::sqrt(sizes);"),
    (ROUNDING, "a run is compared with itself", "for (size_t s = 0; s < r; ++s) {", "for (size_t s = 0; s <= r; ++s) {"),
    (ROUNDING, "a run without an error has a direction", "if (!(sizes > 0)) continue;", "if (!(sizes > 0)) { ++pairs; continue; }"),
    (ROUNDING, "cosines are summed, not averaged", "pairs / std::max(cosines, pairs / most_degrees)", "1 / std::max(cosines, pairs / most_degrees)"),
    (ROUNDING, "less than one degree", "1.0, most_degrees)", "0.1, most_degrees)"),
    (ROUNDING, "more degrees than elements", "std::min(sums.degrees(), n)", "sums.degrees()"),
    (ROUNDING, "an element's scale sums the runs", "return sum / static_cast<double>(block.runs.size());", "return sum;"),
    (ROUNDING, "no error in no scale", "error == 0 ? 0 : error / scale", "error / scale"),
    (ROUNDING, "values are summed", "std::sqrt(sums.values / n)", "std::sqrt(sums.values)"),
    (ROUNDING, "eager's own error does not count", "std::max(square(found.eager), square(found.of_runs))", "square(found.of_runs)"),
    (ROUNDING, "eager's own error replaces the runs'", "std::max(square(found.eager), square(found.of_runs))", "std::min(square(found.eager), square(found.of_runs))"),
    (ROUNDING, "the scale sums the runs", "sums.runs / n / static_cast<double>(found.runs)", "sums.runs / n"),
    (ROUNDING, "no unit in the scale", "square(unit.relative * found.rms) + ", ""),
    (ROUNDING, "no absolute unit", " + square(unit.absolute)", ""),
    (ROUNDING, "cancellation is all or nothing", "found.eager < found.rms ? found.eager / found.rms : 1", "found.eager < found.rms ? 0 : 1"),
    (ROUNDING, "more digits lost than there are", "found.eager < found.rms ? found.eager / found.rms : 1", "found.eager / found.rms"),
    (ROUNDING, "cancellation does not count", "square(unit.absolute) + square(cancelled)", "square(unit.absolute)"),
    (ROUNDING, "all digits count as lost", "unit.cancelled * found.eager * lost", "unit.cancelled * found.eager"),
    (ROUNDING, "the unit is relative to nothing", "square(unit.relative * found.rms)", "square(unit.relative)"),
    (ROUNDING, "an element's scale is that of the tensor", "std::sqrt(mean_square_of_runs(block, i) + square(found.scale)", "std::sqrt(square(found.scale)"),
    (ROUNDING, "an element's scale is its own alone", "mean_square_of_runs(block, i) + square(found.scale)", "mean_square_of_runs(block, i)"),
    (ROUNDING, "no unit of an element", " + square(unit.relative * size));", ");"),
    (ROUNDING, "the last element is the worst", "std::max(found.worst_element, in_units_of(scale, error))", "in_units_of(scale, error)"),
    (ROUNDING, "the firmest element is the softest", "std::min(found.firmest_element, scale / size)", "std::max(found.firmest_element, scale / size)"),
    (ROUNDING, "each of three tests spends the whole rate", "test.error_rate / (3 * static_cast<double>(test.tensors))", "test.error_rate / static_cast<double>(test.tensors)"),
    (ROUNDING, "each tensor spends the whole rate", "test.error_rate / (3 * static_cast<double>(test.tensors))", "test.error_rate / 3"),
    (ROUNDING, "each element spends the whole rate", "bound(tail / elements, 1)};", "bound(tail, 1)};"),
    (ROUNDING, "an element has the tensor's degrees", "bound(tail / elements, 1)", "bound(tail / elements, errors.degrees)"),
    (ROUNDING, "the scale is certain", "fisher_bound(of_tail, degrees, runs * degrees)", "fisher_bound(of_tail, degrees, 1e6)"),
    (ROUNDING, "each run is one number", "fisher_bound(of_tail, degrees, runs * degrees)", "fisher_bound(of_tail, degrees, runs)"),
    (ROUNDING, "a ratio of variances is one of errors", "std::sqrt(fisher_bound(of_tail, degrees, runs * degrees))", "fisher_bound(of_tail, degrees, runs * degrees)"),
    (ROUNDING, "errors grow with the amplitude, always", "grows ? test.amplitude : std::max(1.0, errors.of_runs / errors.eager)", "test.amplitude"),
    (ROUNDING, "errors never grow", "errors.of_runs >= test.amplitude * errors.eager", "false && errors.eager > 0"),
    (ROUNDING, "errors shrink with the amplitude", "std::max(1.0, errors.of_runs / errors.eager)", "errors.of_runs / errors.eager"),
    (ROUNDING, "the amplitude does not count", " / amplitude);", ");"),
    (ROUNDING, "no least bound", "std::max(test.least, std::sqrt", "std::max(0.0, std::sqrt"),
    (ROUNDING, "a NaN of the result is explained", "if (errors.differs_in_finiteness) return", "if (false) return"),
    (ROUNDING, "the test with the larger ratio counts", "if (ratio / bound > verdict.times())", "if (ratio > verdict.ratio)"),
    (ROUNDING, "single elements are not tested", "  take_if_nearer(errors.worst_element, bounds.element);\n", ""),
    (ROUNDING, "noise has a limit", "if (errors.rms > 0 && !verdict.is_noise)", "if (errors.rms > 0)"),
    (ROUNDING, "elements have no limit", "bounds.factor * errors.factor_scale,\n                              bounds.element * errors.firmest_element", "bounds.factor * errors.factor_scale"),
    (ROUNDING, "factors have no limit", "bounds.factor * errors.factor_scale,", ""),
    (ROUNDING, "factors are not tested", "  take_if_nearer(in_units_of(errors.factor_scale, errors.factor), bounds.factor);\n", ""),
    (ROUNDING, "a factor has the tensor's degrees", "bound(tail, errors.degrees), bound(tail, 1)", "bound(tail, errors.degrees), bound(tail, errors.degrees)"),
    (ROUNDING, "the factor of the last run alone", "of_factors += square(along / sums.values)", "of_factors = square(along / sums.values)"),
    (ROUNDING, "eager's own factor does not count", "of_factors = std::max(square(sums.eager_along / sums.values), of_factors / static_cast<double>(found.runs))", "of_factors /= static_cast<double>(found.runs)"),
    (ROUNDING, "the factor sums the runs", "of_factors / static_cast<double>(found.runs)", "of_factors"),
    (ROUNDING, "a factor keeps its sign", "std::abs(sums.result_along / sums.values)", "sums.result_along / sums.values"),
    (ROUNDING, "the result's factor is eager's", "result_along += (block.result[i] - exact)", "result_along += (block.eager[i] - exact)"),
    (ROUNDING, "no unit in the factor", "of_factors + square(unit.relative)", "of_factors"),
    (ROUNDING, "no absolute unit in the factor", " + square(unit.absolute / found.rms)", ""),
    (ROUNDING, "cancellation does not count in the factor", "square(cancelled / found.rms) / found.degrees", "0"),
    (ROUNDING, "what is cancelled is one direction", "square(cancelled / found.rms) / found.degrees", "square(cancelled / found.rms)"),
    (ROUNDING, "zeros are noise", "errors.rms > 0 && errors.eager >= errors.rms", "errors.eager >= errors.rms"),
    (ROUNDING, "noise is larger than the values", "errors.eager >= errors.rms;", "errors.eager > errors.rms;"),
    (ROUNDING, "the limit is absolute", "bounds.norm * errors.scale / errors.rms", "bounds.norm * errors.scale"),
]


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def compile_source(compiler, source, target):
    return run([compiler, "-std=c++20", "-O1", "-DFMT_HEADER_ONLY", '-DTORCHSTONE_VERSION="0"', f"-I{ROOT}", *(f"-I{ROOT}/{folder}/include" for folder in ("models", "fixtures", "reports")), "-c", str(source), "-o", str(target)])


class TestBuild:
    """Object files of the unchanged tests and sources; links them with at most one changed source."""

    def __init__(self, compiler, folder):
        self.compiler, self.folder = compiler, folder
        sources = [ROOT / folder / name for name, folder in (FOLDERS | UNTESTED_HERE).items()]
        tests = [test for test in (ROOT / "tests/unit" / folder / name.replace(".cpp", "_test.cpp")
                                   for name, folder in FOLDERS.items()) if test.exists()]
        self.objects = {}
        for source in sources + tests:
            self.objects[source.name] = folder / f"{source.stem}.o"
            result = compile_source(compiler, source, self.objects[source.name])
            if result.returncode:
                fail(f"{source}: does not compile\n{result.stdout}")

    def first_red_test(self, changed=None, text=None):
        """Returns the name of the first failing test, or None if all pass. Exits with code 2 if the build fails."""
        objects = dict(self.objects)
        if changed:
            source = self.folder / f"changed_{changed}"
            source.write_text(text)
            objects[changed] = self.folder / "changed.o"
            result = compile_source(self.compiler, source, objects[changed])
            if result.returncode:
                fail(f"a planted bug does not compile:\n{result.stdout}")
        program = self.folder / "tests"
        result = run([self.compiler, *map(str, objects.values()), "-lgmock", "-lgtest", "-lgtest_main", "-lpthread", "-o", str(program)])
        if result.returncode:
            fail(f"the tests do not link:\n{result.stdout}")
        try:
            result = run([str(program), "--gtest_brief=1"], timeout=TIME_LIMIT_S)
        except subprocess.TimeoutExpired:
            return "(time limit)"
        if result.returncode == 0:
            return None
        red = [line.split()[3] for line in result.stdout.splitlines() if line.startswith("[  FAILED  ]") and "(" in line]
        return red[0] if red else f"(crash, code {result.returncode})"


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", type=int, metavar="N", help="only N bugs, drawn at random")
    parser.add_argument("--seed", type=int, help="of that draw (default: a new one each time, printed)")
    parser.add_argument("--file", choices=FOLDERS, help="only bugs of this file")
    parser.add_argument("--compiler", default="g++")
    arguments = parser.parse_args()

    bugs = [bug for bug in BUGS if arguments.file in (None, bug[0])]
    if arguments.quick:
        seed = arguments.seed if arguments.seed is not None else random.randrange(10**6)
        print(f"seed {seed}")
        bugs = random.Random(seed).sample(bugs, min(arguments.quick, len(bugs)))
    originals = {name: (ROOT / folder / name).read_text() for name, folder in FOLDERS.items()}
    for name, what, before, _ in BUGS:
        if originals[name].count(before) != 1:
            fail(f"{name}: '{what}' no longer fits the source: {originals[name].count(before)} × {before!r}")

    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        build = TestBuild(arguments.compiler, pathlib.Path(folder))
        if red := build.first_red_test():
            fail(f"the unchanged sources already fail {red}")
        print(f"{'file':<15} {'planted bug':<50} caught by")
        for name, what, before, after in bugs:
            red = build.first_red_test(name, originals[name].replace(before, after))
            survivors += red is None
            print(f"{name:<15} {what:<50} {red or 'SURVIVED'}", flush=True)
    print(f"{len(bugs) - survivors} of {len(bugs)} planted bugs were caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
