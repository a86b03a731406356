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

/// Counters and limits are digits alone: a sign, a point or a word is damage.
std::optional<double> digits(std::string_view word) {
  if (word.empty() || word.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return parse_number(std::string(word));
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; (begin = line.find_first_not_of(" \t\n", begin)) != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(" \t\n", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

/// Turbo is off where intel_pstate says no_turbo, or cpufreq says that boost is off.
std::string turbo(const std::string& root) {
  const std::string cpu = root + "/sys/devices/system/cpu/";
  const std::string of_intel = switch_word(first_line_of(cpu + "intel_pstate/no_turbo"), "off");
  return of_intel.empty() ? switch_word(first_line_of(cpu + "cpufreq/boost"), "on") : of_intel;
}

std::string number_or_nothing(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : ""; }

}  // namespace

std::string bracketed_word(std::string_view text) {
  const size_t begin = text.find('['), end = text.find(']', begin);
  if (end == std::string_view::npos) return "";
  const auto words = words_of(text.substr(begin + 1, end - begin - 1));
  return words.size() == 1 ? std::string(words[0]) : "";
}

std::string switch_word(std::string_view text, std::string_view one_is) {
  const std::string value = unquoted(text);
  if (value != "0" && value != "1") return "";
  return (value == "1") == (one_is == "on") ? "on" : "off";
}

std::string virtual_machine(std::string_view cpuinfo) {
  const size_t at = cpuinfo.find("\nflags");
  if (at == std::string_view::npos) return "";
  const std::string_view line = cpuinfo.substr(at + 1, cpuinfo.find('\n', at + 1) - at - 1);
  for (const auto word : words_of(line))
    if (word == "hypervisor") return "yes";
  return "no";
}

std::optional<double> cpu_quota(std::string_view cpu_max) {
  const auto words = words_of(cpu_max);
  const auto quota = words.size() == 2 ? digits(words[0]) : std::nullopt;
  const auto period = quota ? digits(words[1]) : std::nullopt;
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

std::optional<double> steal_since_boot_pct(std::string_view stat) {
  constexpr size_t counters = 8, steal = 7;  // user nice system idle iowait irq softirq steal (proc(5))
  const auto words = words_of(stat.substr(0, stat.find('\n')));
  if (words.size() <= counters || words[0] != "cpu") return std::nullopt;
  double sum = 0, stolen = 0;
  for (size_t i = 0; i < counters; ++i) {
    const auto value = digits(words[i + 1]);
    if (!value) return std::nullopt;
    sum += *value;
    if (i == steal) stolen = *value;
  }
  if (sum <= 0) return std::nullopt;
  return 100 * stolen / sum;
}

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
      {"cpu_quota", number_or_nothing(cpu_quota(first_line_of(root + "/sys/fs/cgroup/cpu.max")))},
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
