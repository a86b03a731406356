#include "reports/record/noise.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/statistics/interval_width.h"
#include "reports/statistics/statistics.h"

namespace torchstone {
namespace {

std::optional<statistics::Interval> interval_of(const Result& r) {
  const auto low = metric_of(r, "speedup_low"), high = metric_of(r, "speedup_high");
  return low && high ? std::optional(statistics::Interval{*low, *high}) : std::nullopt;
}

/// Why, in words; empty for an interval that is narrow enough.
std::string wide_interval(double ratio, double low, double high) {
  if (!statistics::is_too_wide(ratio, low, high)) return "";
  if (!statistics::is_bounded(low, high)) return "its interval has no bound: it was measured too few times";
  return fmt::format("its interval is ±{:.0f} % wide", 100 * (high - low) / 2 / ratio);
}

}  // namespace

std::string noisy_reason(const Result& r) {
  const auto speedup = metric_of(r, "speedup");
  if (!r.finished || !speedup || !std::isfinite(*speedup) || *speedup <= 0) return "";
  if (const auto note = r.outcome.notes.find("noisy"); note != r.outcome.notes.end()) return first_line(note->second);
  const auto interval = interval_of(r);
  return interval ? wide_interval(*speedup, interval->low, interval->high) : "";
}

bool is_noisy(const Result& r) { return !noisy_reason(r).empty(); }

std::string other_doubts(const Result& r) {
  const auto note = r.outcome.notes.find("doubts");
  if (!r.finished || note == r.outcome.notes.end()) return "";
  std::string doubts = first_line(note->second);
  const std::string noisy = noisy_reason(r);
  if (const size_t at = noisy.empty() ? std::string::npos : doubts.find(noisy); at != std::string::npos)
    doubts.erase(at, noisy.size() + 1);  // and the space to the next sentence
  return trimmed(doubts);
}

std::string speedup_interval(const Result& r, int digits) {
  const auto interval = interval_of(r);
  return interval && statistics::is_bounded(interval->low, interval->high)
             ? fmt::format("[{:.{}f} {:.{}f}]", interval->low, digits, interval->high, digits)
             : "";
}

std::string noisy_words(const std::vector<Result>& results) {
  const auto count = std::ranges::count_if(results, is_noisy);
  return count == 0 ? "" : fmt::format("{} noisy", count);
}

}  // namespace torchstone
