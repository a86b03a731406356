#pragma once
#include <chrono>
#include <string>

namespace torchstone {

/// Now in UTC: "2026-01-31T12:00:00.123Z". Sorts as text in the order of time.
std::string utc_now();
/// Of a clock that never goes back; its zero means nothing.
double steady_seconds();
/// A point in time, seconds since 1970, in the same form.
std::string utc_of(double seconds);

/// Wall time since `start`, in seconds.
inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace torchstone
