#include "reports/record/begin_run.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <string_view>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "reports/base/secrets.h"
#include "reports/base/text.h"
#include "reports/base/time.h"
#include "reports/record/result_variables.h"

namespace torchstone {
namespace {

std::string unquoted(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\"");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\"\n") - begin + 1));
}

/// The value of the first line "key<separator>value" of a file; empty when there is none.
std::string value_in(const char* path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto at = line.find(separator);
    if (at != std::string::npos && unquoted(std::string_view(line).substr(0, at)) == key) {
      return unquoted(std::string_view(line).substr(at + 1));
    }
  }
  return "";
}

std::string first_line_of(const char* path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return unquoted(line);
}

/// FNV-1a, 64 bits.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string host_hash() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "";
  return fmt::format("{:016x}", hash_of(name.data()));
}

/// The cores this process may use: fewer than there are in a container or under taskset.
std::string usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::to_string(CPU_COUNT(&set)) : "";
}

std::string memory_bytes() {
  const std::string kib = value_in("/proc/meminfo", "MemTotal", ':');
  const auto value = parse_number(kib.substr(0, kib.find(' ')));
  return value ? fmt::format("{:.0f}", *value * 1024) : "";
}

}  // namespace

Facts machine_facts() {
  utsname kernel{};
  const bool known = uname(&kernel) == 0;
  double load = 0;
  Facts facts = {
      {"cpu", value_in("/proc/cpuinfo", "model name", ':')},
      {"architecture", known ? kernel.machine : ""},
      {"cores", std::to_string(std::thread::hardware_concurrency())},
      {"usable_cores", usable_cores()},
      {"governor", first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
      {"memory_bytes", memory_bytes()},
      {"load_average", getloadavg(&load, 1) == 1 ? fmt::format("{:.2f}", load) : ""},
      {"host", host_hash()},
      {"os", value_in("/etc/os-release", "PRETTY_NAME", '=')},
      {"kernel", known ? fmt::format("{} {}", kernel.sysname, kernel.release) : ""},
  };
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

Facts environment_facts(const std::vector<std::string>& more_names) {
  Facts facts;
  const auto take = [&](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    if (value != nullptr && !names_secret(name) && !looks_secret(value)) facts.emplace(name, value);
  };
  for (const auto name : result_variables()) take(std::string(name));
  for (const auto& name : more_names) take(name);
  return facts;
}

RunInfo begin_run(int argc, const char* const* argv, const std::vector<std::string>& more_names) {
  RunInfo run;
  run.started = utc_now();
  run.id = fmt::format("{}-{:x}", run.started, getpid());
  run.argv = without_secrets({argv, argv + argc});
  std::error_code ignored;
  run.directory = std::filesystem::current_path(ignored).string();
  run.machine = machine_facts();
  run.environment = environment_facts(more_names);
  return run;
}

}  // namespace torchstone
