#pragma once
#include <chrono>
#include <cmath>
#include <ctime>
#include <string>

#include <fmt/format.h>

namespace torchstone {

/// Returns a point in time, in seconds since 1970, as UTC: "2026-01-31T12:00:00.123Z". Such texts sort by time.
inline std::string format_utc(double seconds) {
  const auto whole = static_cast<std::time_t>(std::floor(seconds));
  const int millis = static_cast<int>((seconds - std::floor(seconds)) * 1000);
  std::tm parts{};
  gmtime_r(&whole, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, millis);
}

/// Returns the current time in the same form.
inline std::string utc_now() {
  return format_utc(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

/// Returns the seconds of a clock that never goes back. Only differences between its values have a meaning.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the wall time since `start`, in seconds.
inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace torchstone
