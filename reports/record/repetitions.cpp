#include "reports/record/repetitions.h"

#include <map>
#include <string_view>

#include "reports/record/summary.h"

namespace torchstone {

bool counts_instead(const Result& later, const Result& earlier) { return is_fine(earlier) || !is_fine(later); }

std::vector<const Result*> one_of_each_name(const std::vector<Result>& results) {
  std::map<std::string_view, const Result*> chosen;
  for (const auto& result : results) {
    const auto [place, is_new] = chosen.emplace(result.name, &result);
    if (!is_new && counts_instead(result, *place->second)) place->second = &result;
  }
  std::vector<const Result*> ordered;
  for (const auto& result : results)
    if (chosen.at(result.name) == &result) ordered.push_back(&result);
  return ordered;
}

}  // namespace torchstone
