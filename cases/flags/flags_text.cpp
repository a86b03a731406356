#include <fmt/format.h>

#include "cases/flags/flags.h"
#include "reports/base/secrets.h"

namespace torchstone::flags {
namespace {

bool is_plain(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-@%") ==
             std::string::npos;
}

}  // namespace

std::vector<std::string> environment_names() {
  std::vector<std::string> names;
  for (const auto& flag : flag_table()) names.push_back(environment_name(flag));
  return names;
}

std::string flags_help() {
  std::string text =
      "Torchstone's own flags. Each has an environment twin (--torchstone_out=X is TORCHSTONE_OUT=X); the flag "
      "wins.\n\n";
  for (const auto& flag : flag_table()) {
    const std::string range = flag.range.empty() ? "" : fmt::format(", {}", flag.range);
    const std::string fallback = flag.fallback.empty() ? "" : fmt::format(" (default: {})", flag.fallback);
    text += fmt::format("  --torchstone_{}={}{}\n      {}{}\n", flag.name, flag.value, range, flag.help, fallback);
  }
  return text;
}

std::string shell_quoted(const std::string& text) {
  if (is_plain(text)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

bool makes_a_difference(const Flags& flags, const std::string& name, const Case& c) {
  const auto& reaches = find_flag(name)->use.reaches;
  return !reaches || reaches(c, flags.facts);
}

std::string reproduce_arguments(const Flags& flags, const Case* c) {
  std::string line;
  for (const auto& [name, value] : flags.given) {
    if (find_flag(name)->reproduces && (c == nullptr || makes_a_difference(flags, name, *c)))
      line += (line.empty() ? "" : " ") + shell_quoted(without_secret(fmt::format("--torchstone_{}={}", name, value)));
  }
  return line;
}

std::string reproduce_line(const Flags& flags, const Case& c) {
  const std::string arguments = reproduce_arguments(flags, &c);
  return fmt::format("{}{}{} {}", shell_quoted(flags.run.program), arguments.empty() ? "" : " ", arguments,
                     shell_quoted("--gtest_filter=" + name_of(c)));
}

}  // namespace torchstone::flags
