#include "reports/base/time.h"

#include <chrono>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

namespace torchstone {

std::string utc_of(double seconds) {
  const auto whole = static_cast<std::time_t>(std::floor(seconds));
  const int millis = static_cast<int>((seconds - std::floor(seconds)) * 1000);
  std::tm parts{};
  gmtime_r(&whole, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, millis);
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string utc_now() {
  return utc_of(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

}  // namespace torchstone
