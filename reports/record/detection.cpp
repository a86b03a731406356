#include "reports/record/detection.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/text.h"
#include "reports/record/row.h"

namespace torchstone {
namespace {

constexpr double weak_above = 0.1;

bool passed(const Result& r) { return r.finished && r.outcome.status == Status::pass; }

std::string model_of(const Result& r) { return r.model.empty() ? short_name(r.name) : r.model; }

}  // namespace

bool is_weak(const Result& r) { return passed(r) && metric_of(r, "detection_limit").value_or(0) > weak_above; }

std::string weak_reason(const Result& r) {
  if (!is_weak(r)) return "";
  const double limit = *metric_of(r, "detection_limit");
  return std::isinf(limit) ? "any error would have passed too"
                           : fmt::format("an error of up to {} would have passed too", limit_text(limit));
}

Detection detection_of(const std::vector<Result>& results) {
  Detection found;
  std::vector<const Result*> limited;
  for (const auto& r : results)
    if (passed(r) && metric_of(r, "detection_limit")) limited.push_back(&r);
  if (limited.empty()) return found;
  const auto limit = [](const Result* r) { return *metric_of(*r, "detection_limit"); };
  std::ranges::stable_sort(limited, std::ranges::greater(), limit);
  found.n = limited.size();
  found.least = limited.front();
  found.worst = limit(found.least);
  const double upper = limit(limited[(found.n - 1) / 2]), lower = limit(limited[found.n / 2]);
  found.median = upper == lower ? upper : (upper + lower) / 2;
  std::ranges::copy_if(limited, std::back_inserter(found.weak), [](const Result* r) { return is_weak(*r); });
  return found;
}

std::string limit_text(double limit) {
  if (std::isinf(limit)) return "none";
  const bool short_as_integer = limit >= 0.1 && limit < 1e4;
  return short_as_integer ? fmt::format("{:.0f} %", 100 * limit) : fmt::format("{:.2g} %", 100 * limit);
}

std::string detection_words(const Detection& detection) {
  if (detection.n == 0) return "";
  const auto& notes = detection.least->outcome.notes;
  const auto tensor = notes.find("detection_limit_of");
  return fmt::format("detection limit: median {}, worst {} ({}{}) over {}", limit_text(detection.median),
                     limit_text(detection.worst), model_of(*detection.least),
                     tensor == notes.end() ? "" : ", " + first_line(tensor->second), detection.n);
}

std::string weak_words(const Detection& detection) {
  if (detection.weak.empty()) return "";
  std::vector<std::string> names;
  for (const Result* r : detection.weak) names.push_back(fmt::format("{} {}", model_of(*r), r->mode));
  return fmt::format("weak, an error over 10 % would pass too: {} of {}: {}", detection.weak.size(), detection.n,
                     fmt::join(names, ", "));
}

}  // namespace torchstone
