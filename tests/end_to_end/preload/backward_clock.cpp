// For LD_PRELOAD: a wall clock that goes back by an hour every few readings. The steady clock is unchanged.
#include <atomic>
#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  constexpr int readings_per_step = 5;
  constexpr time_t step_s = 3600;
  static std::atomic<int> readings = 0;
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec -= step_s * (++readings / readings_per_step);
  return static_cast<int>(result);
}
