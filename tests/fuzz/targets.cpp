#include <stdexcept>

#include <fmt/format.h>

#include "tests/fuzz/target.h"

namespace torchstone::fuzz {

const std::vector<Target>& targets() {
  static const std::vector<Target> table = [] {
    std::vector<Target> all = reports_targets();
    for (const auto* further : {&formats_targets(), &cases_targets()})
      all.insert(all.end(), further->begin(), further->end());
    return all;
  }();
  return table;
}

const Target& target_of(std::string_view name) {
  std::string known;
  for (const auto& target : targets()) {
    if (target.name == name) return target;
    known += fmt::format(" {}", target.name);
  }
  throw std::invalid_argument(fmt::format("no fuzz target \"{}\" (expected one of{})", name, known));
}

}  // namespace torchstone::fuzz
