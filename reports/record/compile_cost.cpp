#include "reports/record/compile_cost.h"

namespace torchstone {
namespace {

/// Returns the metric, or 0 if it is missing.
double value_of(const std::map<std::string, double>& metrics, const char* key) {
  const auto found = metrics.find(key);
  return found == metrics.end() ? 0 : found->second;
}

}  // namespace

bool is_warm_compile(const std::map<std::string, double>& metrics) {
  return value_of(metrics, "cache_hit") > 0 && !metrics.contains("artifact_bytes");
}

std::optional<double> calls_to_pay(const std::map<std::string, double>& metrics, double compile_s) {
  const double saved_s = (value_of(metrics, "eager_ms") - value_of(metrics, "compiled_ms")) / 1e3;
  const bool faster = value_of(metrics, "speedup_low") > 1 && saved_s > 0;
  if (!faster || !(compile_s > 0)) return std::nullopt;
  return compile_s / saved_s;
}

std::optional<double> break_even_calls(const std::map<std::string, double>& metrics) {
  return is_warm_compile(metrics) ? std::nullopt : calls_to_pay(metrics, value_of(metrics, "compile_s"));
}

}  // namespace torchstone
