#include "reports/record/machine_text.h"

#include <algorithm>
#include <vector>

#include "reports/base/text.h"

namespace torchstone {
namespace {

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

}  // namespace

std::string bracketed_word(std::string_view text) {
  const size_t begin = text.find('['), end = text.find(']', begin);
  if (end == std::string_view::npos) return "";
  const auto words = words_of(text.substr(begin + 1, end - begin - 1));
  return words.size() == 1 ? std::string(words[0]) : "";
}

std::string switch_word(std::string_view text, std::string_view one_is) {
  const auto words = words_of(text);
  const std::string_view value = words.size() == 1 ? words[0] : "";
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

std::string cgroup_folder(std::string_view cgroups) {
  while (!cgroups.empty()) {
    const std::string_view line = cgroups.substr(0, cgroups.find('\n'));
    if (line.starts_with("0::/")) return line == "0::/" ? "" : std::string(line.substr(3));
    cgroups.remove_prefix(std::min(line.size() + 1, cgroups.size()));
  }
  return "";
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

}  // namespace torchstone
