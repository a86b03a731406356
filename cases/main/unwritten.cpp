#include "cases/main/unwritten.h"

#include <iostream>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/text.h"
#include "reports/console/progress.h"

namespace torchstone {

void Unwritten::attempt(const std::string& what, const std::function<void()>& write) {
  try {
    write();
    causes_.erase(what);
  } catch (const std::system_error& error) {  // std::filesystem::filesystem_error too
    causes_[what] = error.what();
    if (std::exchange(said_, true)) return;
    console::clear_progress();
    std::cerr << fmt::format("warning: {}: {}: the run goes on, and its results are kept in memory\n", what,
                             printable(error.what()));
  }
}

std::string Unwritten::line() const {
  constexpr size_t most = 3;
  std::vector<std::string> names;
  for (const auto& [what, cause] : causes_)
    if (names.size() < most) names.push_back(printable(what));
  const std::string more = causes_.size() > most ? fmt::format(" and {} more", causes_.size() - most) : "";
  const std::string cause = causes_.empty() ? "" : printable(causes_.begin()->second);
  return fmt::format("{} {} could not be written: {}{} ({})", causes_.size(),
                     causes_.size() == 1 ? "record" : "records", fmt::join(names, ", "), more, cause);
}

}  // namespace torchstone
