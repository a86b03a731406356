#include "reports/record/machine_doubts.h"

#include <algorithm>

#include <fmt/format.h>

#include "reports/base/text.h"

namespace torchstone {
namespace {

constexpr double steal_that_matters_pct = 1;

}  // namespace

std::vector<std::string> machine_doubts(const Facts& machine) {
  const auto fact = [&](const char* key) {
    const auto found = machine.find(key);
    return found == machine.end() ? std::string() : found->second;
  };
  std::vector<std::string> doubts;
  const std::string governor = fact("governor");
  if (governor == "powersave" || governor == "conservative" || governor == "ondemand" || governor == "schedutil")
    doubts.push_back(fmt::format("The frequency governor is {}: the clock follows the load.", governor));
  if (fact("turbo") == "on")
    doubts.emplace_back("Turbo is on: the clock depends on how warm the processor and how many of its cores are busy.");
  if (fact("smt") == "on")
    doubts.emplace_back("SMT is on: a program on the other hardware thread of a core slows what is timed on it.");
  if (fact("transparent_hugepages") == "always")
    doubts.emplace_back(
        "Transparent huge pages are always on: which memory gets them differs from one process to the next.");
  if (fact("virtual_machine") == "yes")
    doubts.emplace_back("This is a virtual machine: its neighbours on the host share caches and memory with it.");
  if (const auto steal = parse_number(fact("steal_since_boot_pct")); steal && *steal > steal_that_matters_pct)
    doubts.push_back(fmt::format("The host has taken {:.1f} % of the cores' time since the start (steal).", *steal));
  const auto quota = parse_number(fact("cpu_quota")), cores = parse_number(fact("usable_cores"));
  if (quota && cores && *quota < *cores)
    doubts.push_back(
        fmt::format("The cgroup allows the time of {:.4g} of {:.0f} usable cores: busy threads are stopped "
                    "when it is used up.",
                    *quota, *cores));
  return doubts;
}

std::vector<std::string> machine_doubts(const std::vector<Result>& results, const Facts& machine) {
  const auto is_timed = [](const Result& result) { return result.outcome.metrics.contains("speedup"); };
  if (std::ranges::none_of(results, is_timed)) return {};
  return machine_doubts(machine);
}

}  // namespace torchstone
