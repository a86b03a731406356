#include "reports/judge/comparison/change.h"

#include <array>
#include <cmath>

namespace torchstone::judge {
namespace {

Change direction(bool grown, Better better) {
  if (better == Better::neither) return Change::ambiguous;
  return grown == (better == Better::higher) ? Change::faster : Change::slower;
}

}  // namespace

std::string_view to_string(Change change) {
  static constexpr std::array<std::string_view, 7> words = {"SAME", "FASTER", "SLOWER",         "AMBIGUOUS",
                                                            "NEW",  "GONE",   "DIFFERENT MODEL"};
  return words.at(static_cast<size_t>(change));
}

Change judge(const Estimate& log_ratio, double tolerance, Better better) {
  const double band = std::log1p(tolerance);
  if (log_ratio.low >= -band && log_ratio.high <= band) return Change::same;
  if (log_ratio.low > band) return direction(true, better);
  if (log_ratio.high < -band) return direction(false, better);
  return Change::ambiguous;
}

Change judge_exactly(double before, double after, Better better) {
  if (before == after || (std::isnan(before) && std::isnan(after))) return Change::same;
  if (std::isnan(after)) return Change::slower;
  if (std::isnan(before)) return Change::faster;
  return direction(after > before, better);
}

}  // namespace torchstone::judge
