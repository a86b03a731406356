#include "reports/record/doubts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/text.h"
#include "reports/record/metric.h"
#include "reports/record/verdict.h"

namespace torchstone {
namespace {

constexpr double weak_above = 0.1, steal_that_matters_pct = 1, foreign_that_matters_pct = 10;

bool passed(const Result& r) { return r.finished && r.outcome.status == Status::pass; }

std::string model_of(const Result& r) { return r.model.empty() ? short_name(r.name) : r.model; }

/// Returns why an interval is too wide; empty for an interval that is narrow enough.
std::string wide_interval(double ratio, double low, double high) {
  if (!statistics::is_too_wide(ratio, low, high)) return "";
  if (!statistics::is_bounded(low, high)) return "its interval has no bound: it was measured too few times";
  if (statistics::says_nothing(low, high) && (low > 1 || high < 1))
    return fmt::format("its interval says no more than {}", ratio_text(ratio, low, high, 2));
  if (statistics::says_nothing(low, high))
    return fmt::format("its interval says nothing: the bounds differ by a factor of {:.2g}", high / low);
  return fmt::format("its interval is ±{:.0f} % wide", 100 * (high - low) / 2 / ratio);
}

}  // namespace

std::optional<statistics::Interval> interval_of(const Result& r, const std::string& key) {
  const auto low = metric_of(r, (key + "_low").c_str()), high = metric_of(r, (key + "_high").c_str());
  return low && high ? std::optional(statistics::Interval{*low, *high}) : std::nullopt;
}

std::string noisy_reason(const Result& r) {
  const auto speedup = metric_of(r, "speedup");
  if (!r.finished || !speedup || !std::isfinite(*speedup) || *speedup <= 0) return "";
  if (!r.outcome.why_noisy.empty()) return first_line(r.outcome.why_noisy);
  const auto interval = interval_of(r);
  return interval ? wide_interval(*speedup, interval->low, interval->high) : "";
}

bool is_noisy(const Result& r) { return !noisy_reason(r).empty(); }

std::string other_doubts(const Result& r) {
  if (!r.finished) return "";
  std::string doubts = first_line(value_in(r.outcome.notes, "doubts"));
  const std::string noisy = noisy_reason(r);
  if (const size_t at = noisy.empty() ? std::string::npos : doubts.find(noisy); at != std::string::npos)
    doubts.erase(at, noisy.size() + 1);  // with the space before the next sentence
  return trimmed(doubts);
}

bool is_unknown(const Result& r, const std::string& key) {
  const auto interval = interval_of(r, key);
  return interval && r.outcome.metrics.contains(key) && statistics::says_nothing(interval->low, interval->high);
}

bool follows_from_unknown(const Result& r, std::string_view metric) {
  // These are other estimates of the unknown metric, or derived from it.
  if (metric == "hodges_lehmann" || metric == "break_even_calls") return is_unknown(r, "speedup");
  if (metric == "eager_exposed_pct") return is_unknown(r, "eager_exchange_cost");
  if (metric == "compiled_exposed_pct") return is_unknown(r, "compiled_exchange_cost");
  for (const std::string_view end : {"_low", "_high"})
    if (metric.ends_with(end) && is_unknown(r, std::string(metric.substr(0, metric.size() - end.size())))) return true;
  return false;
}

std::string ratio_text(double ratio, double low, double high, int digits) {
  if (!statistics::says_nothing(low, high))
    return fmt::format("{:.{}f}x [{:.{}f} {:.{}f}]", ratio, digits, low, digits, high, digits);
  if (low > 1 && std::isfinite(low)) return fmt::format("at least {:.{}f}x", low, digits);
  return high > 0 && high < 1 ? fmt::format("at most {:.{}f}x", high, digits) : "unknown";
}

std::string speedup_text(const Result& r, int digits) {
  const auto speedup = metric_of(r, "speedup");
  if (!speedup) return "";
  if (!std::isfinite(*speedup)) return format_metric("speedup", *speedup);
  const auto interval = interval_of(r);
  return interval ? ratio_text(*speedup, interval->low, interval->high, digits)
                  : fmt::format("{:.{}f}x", *speedup, digits);
}

std::string noisy_words(const std::vector<Result>& results) {
  const auto count = std::ranges::count_if(results, is_noisy);
  return count == 0 ? "" : fmt::format("{} noisy", count);
}

std::optional<PassLimit> pass_limit(const Result& r) {
  std::optional<PassLimit> smallest;
  for (const auto& [metric, rule] : {std::pair{"detection_limit", "tolerance"}, {"rounding_limit", "rounding"}}) {
    const auto limit = metric_of(r, metric);
    if (limit && (!smallest || *limit < smallest->value))
      smallest = {*limit, rule, first_line(value_in(r.outcome.notes, std::string(metric) + "_of"))};
  }
  return smallest;
}

bool is_weak(const Result& r) {
  const auto limit = pass_limit(r);
  return passed(r) && limit && limit->value > weak_above;
}

std::string rounding_text(const Result& r) {
  const auto times = metric_of(r, "rounding_times"), limit = metric_of(r, "rounding_limit");
  if (!times) return "";
  const bool shows_limit = limit && !is_weak(r);  // weak_limits() shows the limits of a weak row
  return fmt::format("{:.2g}× rounding{}", *times, shows_limit ? fmt::format(" (limit {})", limit_text(*limit)) : "");
}

std::string weak_limits(const Result& r) {
  if (!is_weak(r)) return "";
  const PassLimit least = *pass_limit(r);
  const std::string text = "weak: limit " + limit_text(least.value);
  const auto tolerance = metric_of(r, "detection_limit"), rounding = metric_of(r, "rounding_limit");
  if (!tolerance || !rounding) return fmt::format("{} ({})", text, least.rule);
  return text + (*rounding < *tolerance ? fmt::format(" (tolerance alone {})", limit_text(*tolerance))
                                        : fmt::format(" (rounding alone {})", limit_text(*rounding)));
}

std::string unjudged_text(const Result& r) {
  constexpr size_t longest = 100;
  if (!passed(r)) return "";
  std::vector<std::string> texts;
  for (const auto& [note, title] : {std::pair("unjudged_outputs", "not judged"), std::pair("eager_nan", "NaN")})
    if (const std::string text = first_line(value_in(r.outcome.notes, note)); !text.empty())
      texts.push_back(fmt::format("{}: {}", title, shortened(text, longest)));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string weak_reason(const Result& r) {
  if (!is_weak(r)) return "";
  const PassLimit limit = *pass_limit(r);
  const std::string error =
      std::isinf(limit.value) ? "any error" : fmt::format("an error of up to {}", limit_text(limit.value));
  // Says so, because the accuracy case of the same model may be judged by rounding too and have a smaller limit.
  const char* by =
      r.check == "performance" && limit.rule == "tolerance" ? " (by the tolerance, the only rule here)" : "";
  return fmt::format("{} would have passed too{}", error, by);
}

Detection detection_of(const std::vector<Result>& results) {
  Detection found;
  std::vector<const Result*> limited;
  for (const auto& r : results)
    if (passed(r) && pass_limit(r)) limited.push_back(&r);
  if (limited.empty()) return found;
  const auto limit = [](const Result* r) { return pass_limit(*r)->value; };
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
  const bool short_as_integer = limit >= weak_above && limit < 1e4;
  if (!short_as_integer) return fmt::format("{:.2g} %", 100 * limit);
  std::string text = fmt::format("{:.0f} %", 100 * limit);
  // A limit just above the threshold for weak rows gets more digits, so that it does not print like the threshold.
  for (int digits = 1; digits <= 3 && limit > weak_above && parse_number(text.substr(0, text.size() - 2)) <= 10;
       ++digits)
    text = fmt::format("{:.{}f} %", 100 * limit, digits);
  return text;
}

std::string detection_words(const Detection& detection) {
  if (detection.n == 0) return "";
  const std::string tensor = pass_limit(*detection.least)->tensor;
  return fmt::format("detection limit: median {}, worst {} ({}{}) over {}", limit_text(detection.median),
                     limit_text(detection.worst), model_of(*detection.least), tensor.empty() ? "" : ", " + tensor,
                     detection.n);
}

std::string weak_words(const Detection& detection) {
  if (detection.weak.empty()) return "";
  std::vector<std::string> names;
  for (const Result* r : detection.weak) names.push_back(fmt::format("{} {}", model_of(*r), r->mode));
  return fmt::format("weak, an error over 10 % would pass too: {} of {}: {}", detection.weak.size(), detection.n,
                     fmt::join(names, ", "));
}

namespace {

/// A fact of the machine that disturbs timings.
struct MachineDoubt {
  std::string name;      ///< a few words
  std::string sentence;  ///< its effect, and what to do about it
};

std::vector<MachineDoubt> doubts_of(const Facts& machine) {
  const auto fact = [&](const char* key) { return value_in(machine, key); };
  std::vector<MachineDoubt> doubts;
  const std::string governor = fact("governor");
  if (governor == "powersave" || governor == "conservative" || governor == "ondemand" || governor == "schedutil")
    doubts.push_back(
        {fmt::format("governor {}", governor),
         fmt::format("The frequency governor is {}: the clock follows the load. Set it to performance.", governor)});
  if (fact("turbo") == "on")
    doubts.push_back({"turbo",
                      "Turbo is on: the clock depends on how warm the processor and how many of its cores are busy. "
                      "Turn it off."});
  if (fact("smt") == "on")
    doubts.push_back({"SMT",
                      "SMT is on: a program on the other hardware thread of a core slows what is timed on it. Turn it "
                      "off, or set --torchstone_pin_threads=cores."});
  if (fact("transparent_hugepages") == "always")
    doubts.push_back({"huge pages",
                      "Transparent huge pages are always on: which memory gets them differs from one process to the "
                      "next. Set them to madvise."});
  if (fact("virtual_machine") == "yes")
    doubts.push_back({"virtual machine",
                      "This is a virtual machine: its neighbours on the host share caches and memory with it. Use a "
                      "machine of your own."});
  if (const auto steal = parse_number(fact("steal_since_boot_pct")); steal && *steal > steal_that_matters_pct)
    doubts.push_back({fmt::format("{:.1f} % steal", *steal),
                      fmt::format("The host has taken {:.1f} % of the cores' time since the start (steal). Use another "
                                  "host.",
                                  *steal)});
  const auto quota = parse_number(fact("cpu_quota")), cores = parse_number(fact("usable_cores"));
  if (quota && cores && *quota < *cores)
    doubts.push_back(
        {"CPU quota", fmt::format("The cgroup allows the time of {:.4g} of {:.0f} usable cores: busy threads are "
                                  "stopped when it is used up. Set --torchstone_threads to at most the quota.",
                                  *quota, *cores)});
  return doubts;
}

std::vector<std::string> sentences_of(const std::vector<MachineDoubt>& doubts) {
  std::vector<std::string> sentences;
  for (const auto& doubt : doubts) sentences.push_back(doubt.sentence);
  return sentences;
}

bool any_timed(const std::vector<Result>& results) {
  return std::ranges::any_of(results, [](const Result& r) { return r.outcome.metrics.contains("speedup"); });
}

/// Returns the doubt that other programs ran while the cases were timed; nothing if they used little.
std::optional<MachineDoubt> other_programs(const std::vector<Result>& results) {
  std::vector<double> shares;
  for (const auto& r : results)
    if (const auto share = metric_of(r, "foreign_cpu_pct"); share && metric_of(r, "speedup")) shares.push_back(*share);
  if (shares.empty()) return std::nullopt;
  const double share = statistics::median(shares);
  if (!(share > foreign_that_matters_pct)) return std::nullopt;
  return MachineDoubt{fmt::format("other programs used {:.0f} % of the cores", share),
                      fmt::format("Other programs used {:.0f} % of the cores while cases were timed (median of the "
                                  "cases). Stop them, and time the cases again.",
                                  share)};
}

/// Returns the doubts of a run that timed something. Other programs come first, because they disturb most.
std::vector<MachineDoubt> doubts_of(const std::vector<Result>& results, const Facts& machine) {
  if (!any_timed(results)) return {};
  std::vector<MachineDoubt> doubts = doubts_of(machine);
  if (const auto others = other_programs(results)) doubts.insert(doubts.begin(), *others);
  return doubts;
}

}  // namespace

std::vector<std::string> machine_doubts(const Facts& machine) { return sentences_of(doubts_of(machine)); }

std::vector<std::string> machine_doubts(const std::vector<Result>& results, const Facts& machine) {
  return sentences_of(doubts_of(results, machine));
}

std::string machine_doubts_line(const std::vector<Result>& results, const Facts& machine) {
  const auto doubts = doubts_of(results, machine);
  if (doubts.empty()) return "";
  std::vector<std::string> names;
  for (const auto& doubt : doubts) names.push_back(doubt.name);
  return fmt::format("Timings vary on this machine ({})", fmt::join(names, ", "));
}

}  // namespace torchstone
