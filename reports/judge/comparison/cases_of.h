#pragma once
#include <map>
#include <string>
#include <utility>

#include "reports/record/json.h"
#include "reports/record/repetitions.h"

namespace torchstone::judge {

/// The record that stands for each case, by name and device (reports/record/repetitions.h). `AnyReport` is Report or
/// const Report, which has to outlive the pointers.
template <typename AnyReport>
auto cases_of(AnyReport& report) {
  std::map<std::pair<std::string, std::string>, decltype(report.results.data())> cases;
  for (auto& result : report.results) {
    const auto [place, is_new] = cases.emplace(std::pair(result.name, result.device), &result);
    if (!is_new && counts_instead(result, *place->second)) place->second = &result;
  }
  return cases;
}

}  // namespace torchstone::judge
