#include "reports/record/metric.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace torchstone {

const std::vector<MetricInfo>& metric_table() {
  using enum Better;
  using enum Judged;
  static const std::vector<MetricInfo> table = {
      // Speed
      {"speedup", "speed-up", "x", "{:.3f}", higher, by_rounds},
      {"speedup_low", "speed-up, lower bound", "x", "{:.3f}", higher},
      {"speedup_high", "speed-up, upper bound", "x", "{:.3f}", higher},
      {"speedup_within_low", "speed-up by the rounds alone, lower bound", "x", "{:.3f}", higher},
      {"speedup_within_high", "speed-up by the rounds alone, upper bound", "x", "{:.3f}", higher},
      {"speedup_across_caches", "speed-up with threads in different cache domains", "x", "{:.3f}", higher},
      {"required_speedup", "required speed-up", "x", "{:.3f}", neither},
      {"processes", "processes that count", "", "{:.0f}", neither},
      {"between_processes_sd", "speed-up, deviation between processes", "", "{:.4f}", lower},
      {"within_process_sd", "speed-up, deviation of a round in its process", "", "{:.4f}", lower},
      {"eager_ms", "eager, median", "ms", "{:.4g}", lower, by_rounds},
      {"compiled_ms", "compiled, median", "ms", "{:.4g}", lower, by_rounds},
      {"rounds", "rounds", "", "{:.0f}", neither},
      {"calls_per_block", "calls per block", "", "{:.0f}", neither},
      {"eager_noise_pct", "eager, noise", "%", "{:.2f}", lower},
      {"compiled_noise_pct", "compiled, noise", "%", "{:.2f}", lower},
      {"hodges_lehmann", "speed-up, Hodges-Lehmann", "x", "{:.3f}", higher},
      {"drift_per_round", "drift of the ratio per round", "", "{:.3g}", neither},
      {"dropped_rounds", "rounds dropped", "", "{:.0f}", lower},
      {"outliers_eager", "eager, outliers", "", "{:.0f}", lower},
      {"outliers_compiled", "compiled, outliers", "", "{:.0f}", lower},
      {"harness_overhead_pct", "harness overhead", "%", "{:.3f}", lower},
      {"timing_overhead_pct", "clock and synchronize, of a block", "%", "{:.3f}", lower},
      {"measure_s", "measuring took", "s", "{:.2f}", neither},
      {"warm_up_rounds", "rounds of warm-up", "", "{:.0f}", neither},
      // Measured by the device's clock
      {"eager_device_ms", "eager on the device, median", "ms", "{:.4g}", lower},
      {"compiled_device_ms", "compiled on the device, median", "ms", "{:.4g}", lower},
      {"speedup_device", "speed-up on the device", "x", "{:.3f}", higher},
      {"speedup_device_low", "speed-up on the device, lower bound", "x", "{:.3f}", higher},
      {"speedup_device_high", "speed-up on the device, upper bound", "x", "{:.3f}", higher},
      {"eager_launch_pct", "eager, launching as part of the time", "%", "{:.1f}", lower},
      {"compiled_launch_pct", "compiled, launching as part of the time", "%", "{:.1f}", lower},
      // The parts of a training step
      {"eager_forward_ms", "eager, forward and loss", "ms", "{:.4g}", lower},
      {"eager_backward_ms", "eager, backward", "ms", "{:.4g}", lower},
      {"eager_forward_backward_ms", "eager, forward and backward", "ms", "{:.4g}", lower},
      {"eager_optimizer_ms", "eager, step of the optimizer", "ms", "{:.4g}", lower},
      {"compiled_forward_ms", "compiled, forward and loss", "ms", "{:.4g}", lower},
      {"compiled_backward_ms", "compiled, backward", "ms", "{:.4g}", lower},
      {"compiled_forward_backward_ms", "compiled, forward and backward", "ms", "{:.4g}", lower},
      {"compiled_optimizer_ms", "compiled, step of the optimizer", "ms", "{:.4g}", lower},
      // Generation of text
      {"prompt_tokens", "tokens of the prompt", "", "{:.0f}", neither},
      {"new_tokens", "new tokens of a call and sample", "", "{:.0f}", neither},
      {"tokens_per_call", "tokens that one call processes or makes", "", "{:.0f}", neither},
      {"eager_tokens_per_s", "eager, tokens per second", "tokens/s", "{:.4g}", higher},
      {"compiled_tokens_per_s", "compiled, tokens per second", "tokens/s", "{:.4g}", higher},
      // Dynamic sizes
      {"dynamic_sizes", "sizes that one program was judged at", "", "{:.0f}", neither},
      {"dynamic_wrong_sizes", "of them with a wrong answer", "", "{:.0f}", lower},
      {"dynamic_cost", "cost of being dynamic at the sizes compiled for, dynamic / static", "x", "{:.3f}", lower},
      {"dynamic_cost_low", "cost of being dynamic, lower bound", "x", "{:.3f}", lower},
      {"dynamic_cost_high", "cost of being dynamic, upper bound", "x", "{:.3f}", lower},
      {"static_compile_s", "compile of the static program", "s", "{:.1f}", lower},
      // Several ranks
      {"eager_one_rank_ms", "eager, median of one rank alone", "ms", "{:.4g}", lower},
      {"eager_scaling", "eager, throughput of the ranks over that of as many alone", "x", "{:.3f}", higher},
      {"eager_scaling_low", "eager, scaling, lower bound", "x", "{:.3f}", higher},
      {"eager_scaling_high", "eager, scaling, upper bound", "x", "{:.3f}", higher},
      {"eager_exchange_cost", "eager, step with / without the exchange of gradients", "x", "{:.3f}", lower},
      {"eager_exchange_cost_low", "eager, cost of the exchange, lower bound", "x", "{:.3f}", lower},
      {"eager_exchange_cost_high", "eager, cost of the exchange, upper bound", "x", "{:.3f}", lower},
      {"eager_exposed_pct", "eager, exposed communication, of a step", "%", "{:.1f}", lower},
      {"compiled_one_rank_ms", "compiled, median of one rank alone", "ms", "{:.4g}", lower},
      {"compiled_scaling", "compiled, throughput of the ranks over that of as many alone", "x", "{:.3f}", higher},
      {"compiled_scaling_low", "compiled, scaling, lower bound", "x", "{:.3f}", higher},
      {"compiled_scaling_high", "compiled, scaling, upper bound", "x", "{:.3f}", higher},
      {"compiled_exchange_cost", "compiled, step with / without the exchange of gradients", "x", "{:.3f}", lower},
      {"compiled_exchange_cost_low", "compiled, cost of the exchange, lower bound", "x", "{:.3f}", lower},
      {"compiled_exchange_cost_high", "compiled, cost of the exchange, upper bound", "x", "{:.3f}", lower},
      {"compiled_exposed_pct", "compiled, exposed communication, of a step", "%", "{:.1f}", lower},
      {"rank_state_bytes", "memory that a rank keeps between steps", "B", "{:.0f}", lower, exactly},
      // Start-up
      {"capture_s", "capture", "s", "{:.2f}", lower, by_one_reading},
      {"compile_s", "compile", "s", "{:.1f}", lower, by_one_reading},
      {"compile_cpu_s", "CPU time of the compile", "s", "{:.1f}", lower},
      // Compiles in processes of their own (check compile_time). CPU time and instructions decide.
      {"import_s", "imports of a compiler process", "s", "{:.2f}", lower},
      {"import_cpu_s", "imports of a compiler process, CPU time", "s", "{:.2f}", lower},
      {"cold_compile_s", "compile with empty caches", "s", "{:.2f}", lower, by_processes, 0, true},
      {"cold_compile_s_low", "compile with empty caches, lower bound", "s", "{:.2f}", lower},
      {"cold_compile_s_high", "compile with empty caches, upper bound", "s", "{:.2f}", lower},
      {"cold_compile_cpu_s", "compile with empty caches, CPU time", "s", "{:.2f}", lower, by_processes},
      {"cold_compile_cpu_s_low", "compile with empty caches, CPU time, lower bound", "s", "{:.2f}", lower},
      {"cold_compile_cpu_s_high", "compile with empty caches, CPU time, upper bound", "s", "{:.2f}", lower},
      {"cold_compile_instructions", "compile with empty caches, instructions", "", "{:.4g}", lower, by_processes},
      {"cold_compile_instructions_low", "compile with empty caches, instructions, lower bound", "", "{:.4g}", lower},
      {"cold_compile_instructions_high", "compile with empty caches, instructions, upper bound", "", "{:.4g}", lower},
      {"cold_compile_peak_bytes", "compile with empty caches, memory of its largest process", "B", "{:.0f}", lower,
       by_processes},
      {"cold_export_s", "export with empty caches", "s", "{:.2f}", lower, by_processes, 0, true},
      {"cold_export_cpu_s", "export with empty caches, CPU time", "s", "{:.2f}", lower, by_processes, 0, true},
      {"cold_inductor_s", "Inductor with empty caches", "s", "{:.2f}", lower, by_processes, 0, true},
      {"cold_inductor_cpu_s", "Inductor with empty caches, CPU time", "s", "{:.2f}", lower, by_processes, 0, true},
      {"warm_compile_s", "compile with warm caches", "s", "{:.2f}", lower, by_processes, 0, true},
      {"warm_compile_s_low", "compile with warm caches, lower bound", "s", "{:.2f}", lower},
      {"warm_compile_s_high", "compile with warm caches, upper bound", "s", "{:.2f}", lower},
      {"warm_compile_cpu_s", "compile with warm caches, CPU time", "s", "{:.2f}", lower, by_processes},
      {"warm_compile_cpu_s_low", "compile with warm caches, CPU time, lower bound", "s", "{:.2f}", lower},
      {"warm_compile_cpu_s_high", "compile with warm caches, CPU time, upper bound", "s", "{:.2f}", lower},
      {"warm_compile_instructions", "compile with warm caches, instructions", "", "{:.4g}", lower, by_processes},
      {"warm_compile_instructions_low", "compile with warm caches, instructions, lower bound", "", "{:.4g}", lower},
      {"warm_compile_instructions_high", "compile with warm caches, instructions, upper bound", "", "{:.4g}", lower},
      {"warm_compile_peak_bytes", "compile with warm caches, memory of its largest process", "B", "{:.0f}", lower,
       by_processes},
      {"warm_export_s", "export with warm caches", "s", "{:.2f}", lower, by_processes, 0, true},
      {"warm_export_cpu_s", "export with warm caches, CPU time", "s", "{:.2f}", lower, by_processes, 0, true},
      {"warm_inductor_s", "Inductor with warm caches", "s", "{:.2f}", lower, by_processes, 0, true},
      {"warm_inductor_cpu_s", "Inductor with warm caches, CPU time", "s", "{:.2f}", lower, by_processes, 0, true},
      {"concurrent_compiles", "compiles that ran concurrently", "", "{:.0f}", neither},
      {"folded_convolutions", "operators folded into convolutions", "", "{:.0f}", neither},
      {"load_s", "load of the artifact", "s", "{:.2f}", lower, by_one_reading},
      {"first_call_s", "first call", "s", "{:.3f}", lower, by_one_reading},
      {"cold_start_s", "cold start: capture, compile, load, first call", "s", "{:.2f}", lower, by_one_reading},
      {"warm_start_s", "warm start: load, first call", "s", "{:.3f}", lower, by_one_reading},
      {"warm_latency_ms", "warm latency", "ms", "{:.4g}", lower},
      {"cache_hit", "artifact from the cache", "", "{:.0f}", neither},
      {"break_even_calls", "calls until compiling pays", "", "{:.0f}", lower},
      // Memory and size
      // Slack: sources inside the artifact contain the path they were compiled in, with process id and cache folder.
      {"artifact_bytes", "artifact", "B", "{:.0f}", lower, exactly, 4096},
      {"largest_batch", "largest batch that eager holds", "", "{:.0f}", higher},
      {"eager_peak_bytes", "eager, peak memory", "B", "{:.0f}", lower, exactly},
      {"compiled_peak_bytes", "compiled, peak memory", "B", "{:.0f}", lower, exactly},
      {"peak_ratio", "peak memory, eager / compiled", "x", "{:.3f}", higher},
      {"eager_allocations", "eager, allocations", "", "{:.0f}", lower, exactly},
      {"compiled_allocations", "compiled, allocations", "", "{:.0f}", lower, exactly},
      {"peak_rss_bytes", "peak resident memory of the process", "B", "{:.0f}", lower},
      // Accuracy
      {"error_of_limit", "error, as part of what is allowed", "", "{:.3g}", lower},
      {"detection_limit", "smallest relative error that would be red, in the least sensitive tensor", "", "{:.3g}",
       lower},
      {"judged_tensors", "tensors that have a detection limit", "", "{:.0f}", neither},
      {"weak_tensors", "tensors that would pass with an error over 10 %", "", "{:.0f}", lower},
      {"unjudged_tensors", "tensors for which zeros would pass", "", "{:.0f}", lower},
      {"rounding_times", "error, as part of what rounding explains", "", "{:.3g}", lower},
      {"rounding_limit", "smallest relative error that rounding would not explain, in the least sensitive tensor", "",
       "{:.3g}", lower},
      {"rounding_runs", "runs of eager with other rounding", "", "{:.0f}", neither},
      {"max_abs_error", "largest absolute error", "", "{:.3g}", lower},
      {"mean_abs_error", "mean absolute error", "", "{:.3g}", lower},
      {"max_rel_error", "largest relative error", "", "{:.3g}", lower},
      {"rmse_reference", "RMSE of eager against float64", "", "{:.3g}", lower},
      {"rmse_nudged", "RMSE of eager with other rounding against float64", "", "{:.3g}", lower},
      {"rmse_result", "RMSE of compiled against float64", "", "{:.3g}", lower},
      {"smallest_passing_tolerance", "smallest tolerance that passes", "", "{:.3g}", lower},
      {"cosine_similarity", "cosine similarity", "", "{:.6f}", higher},
      {"tolerance", "tolerance", "", "{:.3g}", neither},
      {"tolerance_max", "relative difference, largest", "", "{:.3g}", lower},
      {"tolerance_mean", "relative difference, mean", "", "{:.3g}", lower},
      {"tolerance_std", "relative difference, deviation", "", "{:.3g}", lower},
      // The program
      {"parameters", "parameters", "", "{:.0f}", neither},
      {"logged_calls", "calls of the operator in the log", "", "{:.0f}", neither},
      {"eager_ops", "operators before compiling", "", "{:.0f}", neither},
      {"compiled_ops", "operators after compiling", "", "{:.0f}", lower, exactly},
      {"quantized_operators", "quantised weights, or operators in eight bits (pt2e)", "", "{:.0f}", neither},
      {"unquantized_linears", "linears whose sizes int4weightonly skips", "", "{:.0f}", neither},
      {"converted_nodes", "computing nodes of the converted program", "", "{:.0f}", neither},
      {"delegated_nodes", "nodes that the other runtime ran in one call", "", "{:.0f}", neither},
      // Upstream's memory metrics and counters that Torchstone measures too
      {"eager_peak_mem", "eager, memory with weights as upstream reads it", "B", "{:.0f}", lower},
      {"dynamo_peak_mem", "compiled, memory with weights as upstream reads it", "B", "{:.0f}", lower},
      {"compression_ratio", "memory with weights, eager / compiled", "x", "{:.3f}", higher},
      {"calls_captured", "calls captured", "", "{:.0f}", neither, exactly},
      {"unique_graphs", "graphs", "", "{:.0f}", neither},
      {"fallbacks_to_eager", "frames left to eager", "", "{:.0f}", lower, exactly},
      {"graph_breaks", "graph breaks", "", "{:.0f}", lower, exactly},
      {"unique_graph_breaks", "distinct reasons of graph breaks", "", "{:.0f}", lower, exactly},
      {"recompiles", "recompiles", "", "{:.0f}", lower, exactly},
      {"guard_overhead_us", "Dynamo's guards and cache lookups in a call", "us", "{:.3g}", lower},
      {"autograd_captures", "backward graphs captured", "", "{:.0f}", neither},
      {"autograd_compiles", "backward graphs compiled", "", "{:.0f}", neither},
      {"cudagraph_skips", "CUDA graphs skipped", "", "{:.0f}", lower, exactly},
      // The machine
      {"fork_join_us", "empty parallel region", "us", "{:.2f}", lower},
      {"processes_across_caches", "processes with threads in different cache domains", "", "{:.0f}", lower},
      {"foreign_cpu_pct", "cores used by other processes", "%", "{:.1f}", lower},
      {"steal_pct", "cores' time taken by the host", "%", "{:.1f}", lower},
      {"load_average", "load average", "", "{:.2f}", lower},
  };
  return table;
}

const MetricInfo* find_metric(std::string_view key) {
  const auto& table = metric_table();
  const auto found = std::ranges::find(table, key, &MetricInfo::key);
  return found == table.end() ? nullptr : &*found;
}

namespace {

std::string format_bytes(double bytes) {
  static constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; std::abs(bytes) >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

}  // namespace

std::string format_metric(std::string_view key, double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const MetricInfo* info = find_metric(key);
  if (info == nullptr) return fmt::format("{:.6g}", value);
  if (info->unit == "B") return format_bytes(value);
  std::string number = fmt::vformat(std::string(info->format), fmt::make_format_args(value));
  if (info->unit.empty()) return number;
  const bool attached = info->unit == "x" || info->unit == "%";
  return number + (attached ? "" : " ") + std::string(info->unit);
}

}  // namespace torchstone
