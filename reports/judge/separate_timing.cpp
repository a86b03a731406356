#include "reports/judge/separate_timing.h"

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/record/summary.h"

namespace torchstone::judge {

std::optional<SeparateTiming> separate_timing_of(const Result& result) {
  const auto eager = metric_of(result, "eager_ms"), compiled = metric_of(result, "compiled_ms");
  const auto speedup = metric_of(result, "speedup");
  const auto bounds = interval_of(result);
  if (result.outcome.status != Status::pass || !eager || !compiled || !speedup || !bounds) return std::nullopt;
  return SeparateTiming{.eager_s = *eager / 1e3,
                        .seconds = *compiled / 1e3,
                        .speedup = *speedup,
                        .low = bounds->low,
                        .high = bounds->high,
                        .timed_by = value_in(result.outcome.notes, "timed_by")};
}

std::string why_not_timed(const Result& result) {
  const Outcome& outcome = result.outcome;
  if (separate_timing_of(result)) return "";
  if (outcome.status == Status::pass) return "its timing against eager of its own process has no interval";
  return outcome.reason.empty() ? std::string(to_string(outcome.status)) : outcome.reason;
}

std::string separate_words(const SeparateTiming& timing) {
  return fmt::format("{} against eager in its own process, {} → {}; not ranked",
                     ratio_text(timing.speedup, timing.low, timing.high, 2),
                     format_metric("eager_ms", 1e3 * timing.eager_s),
                     format_metric("compiled_ms", 1e3 * timing.seconds));
}

}  // namespace torchstone::judge
