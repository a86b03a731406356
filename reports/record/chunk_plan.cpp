#include "reports/record/chunk_plan.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/record/report_json.h"
#include "reports/record/result_json.h"
#include "reports/record/summary.h"
#include "reports/statistics/statistics.h"

namespace torchstone {
namespace {

/// Linux allows 128 KiB for one variable or argument.
constexpr size_t longest_filter = 100'000;

/// Whether cases of a check are timed. Results and lists of older versions have no field for it.
bool is_timed_check(const std::string& check) {
  constexpr std::array<std::string_view, 3> timed = {"performance", "compile_time", "tournament"};
  return std::ranges::find(timed, check) != timed.end();
}

std::optional<double> seconds_of(const Result& result) {
  return result.finished && result.duration_s > 0 ? std::optional(result.duration_s) : std::nullopt;
}

PlannedCase listed_case(const nlohmann::json& json, const std::string& path,
                        const std::map<std::string, std::optional<double>>& seconds) {
  const Members listed(json, path);
  PlannedCase planned{listed.required_text("name"), listed.boolean("timed", is_timed_check(listed.text("check")))};
  if (const auto found = seconds.find(planned.name); found != seconds.end()) planned.seconds = found->second;
  return planned;
}

/// Median durations of cases, by kind.
struct Medians {
  std::optional<double> judged{}, timed{}, all{};
  double of(const PlannedCase& planned) const { return (planned.timed ? timed : judged).value_or(all.value_or(0)); }
};

Medians medians_of(const std::vector<PlannedCase>& cases) {
  const auto median = [&](const std::function<bool(const PlannedCase&)>& counts) {
    std::vector<double> seconds;
    for (const auto& planned : cases)
      if (planned.seconds && counts(planned)) seconds.push_back(*planned.seconds);
    return seconds.empty() ? std::nullopt : std::optional(statistics::median(seconds));
  };
  return {median([](const PlannedCase& c) { return !c.timed; }), median([](const PlannedCase& c) { return c.timed; }),
          median([](const PlannedCase&) { return true; })};
}

void require_selectable(const std::string& name) {
  if (name.find_first_of("-:*?") != std::string::npos)
    throw std::invalid_argument(
        fmt::format("{}: no --gtest_filter selects this case alone (its name has one of - : * ?)", name));
}

/// The chunks of one kind while they are filled.
class Chunks {
 public:
  Chunks(bool timed, double length_s) : timed_(timed), length_s_(length_s) {}

  void add(const std::string& name, double seconds) {
    size_t at = 0;
    while (at < chunks_.size() && !has_room(at, name, seconds)) ++at;
    if (at == chunks_.size()) {
      chunks_.push_back({timed_, 0, {}});
      bytes_.push_back(0);
    }
    chunks_[at].seconds += seconds;
    chunks_[at].cases.push_back(name);
    bytes_[at] += name.size() + 1;
  }

  std::vector<Chunk> take() {
    std::ranges::stable_sort(chunks_, std::greater(), &Chunk::seconds);
    return std::move(chunks_);
  }

 private:
  bool has_room(size_t at, const std::string& name, double seconds) const {
    return chunks_[at].seconds + seconds <= length_s_ && bytes_[at] + name.size() < longest_filter;
  }

  bool timed_;
  double length_s_;
  std::vector<Chunk> chunks_{};
  std::vector<size_t> bytes_{};  ///< size of each chunk's filter
};

}  // namespace

std::vector<PlannedCase> cases_of(const std::vector<Result>& results) {
  std::vector<PlannedCase> cases;
  for (const Result* result : one_of_each_name(results)) {
    const bool timed = is_timed_check(result->check) || !samples_of(*result, "eager_s").empty();
    cases.push_back({result->name, timed, seconds_of(*result)});
  }
  return cases;
}

std::vector<PlannedCase> cases_of_list(const std::string& list, const std::string& file,
                                       const std::vector<Result>& results) try {
  check_json_limits(list);
  const auto json = nlohmann::json::parse(list);
  if (!json.is_array()) throw std::invalid_argument("expected an array of cases");
  std::map<std::string, std::optional<double>> seconds;
  for (const Result* result : one_of_each_name(results)) seconds.emplace(result->name, seconds_of(*result));
  std::vector<PlannedCase> cases;
  std::set<std::string> names;
  for (const auto& item : json) {
    PlannedCase planned = listed_case(item, fmt::format("[{}]", cases.size()), seconds);
    if (!names.insert(planned.name).second) throw std::invalid_argument(planned.name + ": listed twice");
    cases.push_back(std::move(planned));
  }
  return cases;
} catch (const nlohmann::json::exception& error) {
  throw ReportError(fmt::format("{}: not a list of cases: {}", file, shortened(printable(error.what()), 300)));
} catch (const std::invalid_argument& error) {
  throw ReportError(fmt::format("{}: not a list of cases: {}", file, error.what()));
}

ChunkPlan plan_chunks(const std::vector<PlannedCase>& cases, double length_s, std::optional<double> assumed_s) {
  const Medians medians = medians_of(cases);
  ChunkPlan plan{length_s};
  std::vector<std::pair<double, const PlannedCase*>> order;
  for (const auto& planned : cases) {
    require_selectable(planned.name);
    if (!planned.seconds) plan.assumed.push_back(planned.name);
    order.emplace_back(planned.seconds.value_or(assumed_s.value_or(medians.of(planned))), &planned);
  }
  if (!cases.empty() && plan.assumed.size() == cases.size() && !assumed_s)
    throw std::invalid_argument(
        fmt::format("no result has the duration of any of the {} cases (--assume SECONDS sets it)", cases.size()));
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first > b.first; });
  Chunks judged(false, length_s), timed(true, length_s);
  for (const auto& [seconds, planned] : order) (planned->timed ? timed : judged).add(planned->name, seconds);
  for (auto* kind : {&judged, &timed})
    for (auto& chunk : kind->take()) plan.chunks.push_back(std::move(chunk));
  return plan;
}

std::string filter_of(const Chunk& chunk) { return fmt::format("{}", fmt::join(chunk.cases, ":")); }

std::string kind_of(const Chunk& chunk) { return chunk.timed ? "timed" : "judged"; }

}  // namespace torchstone
