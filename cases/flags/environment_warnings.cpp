#include "cases/flags/environment_warnings.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include "cases/config/nearest.h"
#include "cases/flags/flags.h"
#include "fixtures/isolate/case_server.h"
#include "reports/base/text.h"

namespace torchstone::flags {
namespace {

constexpr std::string_view variable_prefix = "TORCHSTONE_";

std::string name_of_variable(std::string_view entry) { return std::string(entry.substr(0, entry.find('='))); }

}  // namespace

std::vector<std::string> environment_warnings() {
  const auto twins = environment_names();
  std::vector<std::string> flag_names;
  for (const auto& flag : flag_table()) flag_names.push_back(flag.name);
  std::set<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::string_view(*entry).starts_with(variable_prefix)) names.insert(name_of_variable(*entry));
  std::vector<std::string> warnings;
  if (names.contains(isolate::pipes_variable)) return warnings;
  for (const auto& name : names) {
    if (std::ranges::find(twins, name) != twins.end()) continue;
    std::string flag = name.substr(variable_prefix.size());
    std::ranges::transform(flag, flag.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::string guess = config::nearest(flag, flag_names);
    std::ranges::transform(guess, guess.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (!guess.empty())
      warnings.push_back(fmt::format("unknown variable {} (did you mean {}{}?)", shortened(printable(name), 100),
                                     variable_prefix, guess));
  }
  return warnings;
}

}  // namespace torchstone::flags
