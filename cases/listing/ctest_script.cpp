#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/listing/listing.h"
#include "fixtures/core/check_registry.h"

namespace torchstone::listing {
namespace {

constexpr double slack_s = 60;  // start of the process, loading, writing results

// CMake's bracket argument: taken as it stands, whatever it holds.
std::string bracketed(const std::string& text) {
  std::string equals = "=";
  while (text.find("]" + equals + "]") != std::string::npos || text.ends_with("]" + equals)) equals += "=";
  // A line break right after the opening bracket would be dropped.
  return fmt::format("[{0}[{1}{2}]{0}]", equals, text.starts_with('\n') ? "\n" : "", text);
}

/// Returns the flags that make a difference to the case. The program refuses others.
std::vector<std::string> own_flags(const flags::Flags& flags, const Case& c) {
  static const std::vector<std::string> of_listing{"list",   "format", "explain",        "print_program",
                                                   "report", "help",   "update_expected"};
  std::vector<std::string> words;
  for (const auto& [name, value] : flags.given)
    if (std::find(of_listing.begin(), of_listing.end(), name) == of_listing.end() && makes_a_difference(flags, name, c))
      words.push_back(fmt::format("--torchstone_{}={}", name, value));
  return words;
}

std::string labels_of(const Case& c, const selection::Known& known) {
  std::vector<std::string> labels{
      c.check, c.suite, to_string(c.mode), to_string(c.dtype), label_of(c.backend), c.device, to_string(c.preset)};
  if (c.dynamic != Dynamic::off) labels.push_back("dynamic_" + to_string(c.dynamic));
  const ModelInfo* info = known.model(c.model);
  if (info && !info->family.empty()) labels.push_back(info->family);
  return fmt::format("{}", fmt::join(labels, ";"));
}

// Nothing runs beside a timing. Beside other tests a thread that spins while it waits would take their core.
const char* beside_others(const Case& c) {
  return check_of(c).timed ? " RUN_SERIAL TRUE" : " ENVIRONMENT OMP_WAIT_POLICY=passive";
}

}  // namespace

std::string ctest_script(const std::vector<Case>& cases, const flags::Flags& flags, const selection::Known& known) {
  std::string script;
  for (const auto& c : cases) {
    const std::string name = bracketed(name_of(c));
    std::vector<std::string> command{bracketed(flags.run.program)};
    for (const auto& word : own_flags(flags, c)) command.push_back(bracketed(word));
    command.push_back(bracketed("--torchstone_report=none"));
    command.push_back(bracketed("--gtest_filter=" + name_of(c)));
    const double diagnosis_s = flags.run.diagnose == Diagnose::never ? 0 : flags.run.diagnose_limit_s;
    const double limit = std::ceil(c.time_limit_s + flags.run.compile_limit_s + diagnosis_s + slack_s);
    script += fmt::format("add_test({} {})\n", name, fmt::join(command, " "));
    script += fmt::format(
        "set_tests_properties({} PROPERTIES LABELS {} TIMEOUT {:.0f} FIXTURES_REQUIRED torchstone_results{})\n", name,
        bracketed(labels_of(c, known)), limit, beside_others(c));
  }
  return script;
}

}  // namespace torchstone::listing
