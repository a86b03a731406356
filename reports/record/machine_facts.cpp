#include "reports/record/machine_facts.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/machine_text.h"

namespace torchstone {
namespace {

std::string unquoted(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\"");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\"\n") - begin + 1));
}

/// The value of the first line "key<separator>value" of a file; empty when there is none.
std::string value_in(const std::string& path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto at = line.find(separator);
    if (at != std::string::npos && unquoted(std::string_view(line).substr(0, at)) == key) {
      return unquoted(std::string_view(line).substr(at + 1));
    }
  }
  return "";
}

std::string first_line_of(const std::string& path) {
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

std::string memory_bytes(const std::string& root) {
  const std::string kib = value_in(root + "/proc/meminfo", "MemTotal", ':');
  const auto value = parse_number(kib.substr(0, kib.find(' ')));
  return value ? fmt::format("{:.0f}", *value * 1024) : "";
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Turbo is off where intel_pstate says no_turbo, or cpufreq says that boost is off.
std::string turbo(const std::string& root) {
  const std::string cpu = root + "/sys/devices/system/cpu/";
  const std::string of_intel = switch_word(first_line_of(cpu + "intel_pstate/no_turbo"), "off");
  return of_intel.empty() ? switch_word(first_line_of(cpu + "cpufreq/boost"), "on") : of_intel;
}

/// Of the process's own cgroup, else of what a container sees as the top, else of version 1.
std::optional<double> quota_of_cgroup(const std::string& root) {
  const std::string top = root + "/sys/fs/cgroup";
  const std::string one = top + "/cpu/cpu.cfs_";
  const std::string own = top + cgroup_folder(contents_of(root + "/proc/self/cgroup"));
  for (const std::string& text : {first_line_of(own + "/cpu.max"), first_line_of(top + "/cpu.max"),
                                  first_line_of(one + "quota_us") + " " + first_line_of(one + "period_us")})
    if (const auto quota = cpu_quota(text)) return quota;
  return std::nullopt;
}

std::string number_or_nothing(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : ""; }

}  // namespace

Facts machine_facts(const std::string& root) {
  utsname kernel{};
  const bool known = uname(&kernel) == 0;
  double load = 0;
  const std::string cpu = root + "/sys/devices/system/cpu/";
  Facts facts = {
      {"cpu", value_in(root + "/proc/cpuinfo", "model name", ':')},
      {"architecture", known ? kernel.machine : ""},
      {"cores", std::to_string(std::thread::hardware_concurrency())},
      {"usable_cores", usable_cores()},
      {"governor", first_line_of(cpu + "cpu0/cpufreq/scaling_governor")},
      {"turbo", turbo(root)},
      {"smt", switch_word(first_line_of(cpu + "smt/active"), "on")},
      {"transparent_hugepages", bracketed_word(first_line_of(root + "/sys/kernel/mm/transparent_hugepage/enabled"))},
      {"virtual_machine", virtual_machine(contents_of(root + "/proc/cpuinfo"))},
      {"cpu_quota", number_or_nothing(quota_of_cgroup(root))},
      {"steal_since_boot_pct", number_or_nothing(steal_since_boot_pct(contents_of(root + "/proc/stat")))},
      {"memory_bytes", memory_bytes(root)},
      {"load_average", getloadavg(&load, 1) == 1 ? fmt::format("{:.2f}", load) : ""},
      {"host", host_hash()},
      {"os", value_in(root + "/etc/os-release", "PRETTY_NAME", '=')},
      {"kernel", known ? fmt::format("{} {}", kernel.sysname, kernel.release) : ""},
  };
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

}  // namespace torchstone
