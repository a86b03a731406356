#include "reports/record/own_model.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/text.h"
#include "reports/record/compile_cost.h"
#include "reports/record/doubts.h"
#include "reports/record/summary.h"
#include "reports/record/verdict.h"

namespace torchstone {
namespace {

constexpr size_t longest_reason = 200, longest_sizes = 80;

/// Shortens a reason at a space, so that no number loses digits.
std::string shortened_to_words(const std::string& reason) {
  const std::string text = shortened(reason, longest_reason);
  const size_t space = text == reason ? std::string::npos : text.rfind(' ');
  return space == std::string::npos ? text : text.substr(0, space) + " …";
}

/// Returns status and reason: "fail_to_compile: no C++ compiler".
std::string status_words(const Result& r) {
  if (!r.finished) return "started, never finished";
  std::string reason = shortened_to_words(first_line(r.outcome.reason));
  while (reason.ends_with('.')) reason.pop_back();
  return fmt::format("{}{}{}", to_string(r.outcome.status), reason.empty() ? "" : ": ", reason);
}

bool is_wrong(const Result& r) {
  return r.finished &&
         (r.outcome.status == Status::fail_accuracy || r.outcome.status == Status::not_bitwise_equivalent);
}

/// Returns how wrong an answer is: "by 3.4 times the allowed error". Empty if that is unknown.
std::string times_words(const Result& r) {
  for (const auto& [metric, allowed] :
       {std::pair{"rounding_times", "what rounding explains"}, {"error_of_limit", "the allowed error"}}) {
    const auto times = metric_of(r, metric);
    if (times && std::isfinite(*times) && *times > 1)
      return fmt::format("by {} times {}", *times < 100 ? fmt::format("{:.2g}", *times) : fmt::format("{:.0f}", *times),
                         allowed);
  }
  return "";
}

/// Returns an accuracy case's verdict on the answer.
std::string answer_words(const Result& r) {
  if (is_wrong(r)) {
    const std::string times = times_words(r);
    return times.empty() ? fmt::format("WRONG ({})", status_words(r)) : "WRONG, " + times;
  }
  if (r.finished && is_beyond_a_limit(r.outcome.status)) return fmt::format("correct, but {}", status_words(r));
  if (!r.finished || r.outcome.status != Status::pass) return fmt::format("not judged ({})", status_words(r));
  if (is_weak(r)) return "passed, but " + weak_reason(r);
  const auto limit = pass_limit(r);
  return limit ? fmt::format("correct (an error of {} would have been seen)", limit_text(limit->value)) : "correct";
}

/// Returns at which sizes a dynamic program was judged; empty without any.
std::string sizes_words(const Result& r) {
  const std::string sizes = first_line(value_in(r.outcome.notes, "dynamic_judged"));
  return sizes.empty() ? "" : "judged at " + shortened(sizes, longest_sizes);
}

/// Returns the speed-up in words, with its interval: "1.26x faster [1.14, 1.39]".
std::string ratio_words(const Result& r, double speedup) {
  const auto low = metric_of(r, "speedup_low"), high = metric_of(r, "speedup_high");
  if (!low || !high) return fmt::format("{:.2f}x, without an interval", speedup);
  if (is_unknown(r, "speedup")) {
    const std::string text = speedup_text(r, 2);
    return text == "unknown" ? "speed unknown, its interval says nothing" : text + (*low > 1 ? " faster" : ", slower");
  }
  const std::string interval = fmt::format("[{:.2f}, {:.2f}]{}", *low, *high, is_noisy(r) ? ", noisy" : "");
  if (*low > 1) return fmt::format("{:.2f}x faster {}", speedup, interval);
  if (*high < 1) return fmt::format("slower, {:.2f}x {}", speedup, interval);
  return fmt::format("as fast as eager within its interval, {:.2f}x {}", speedup, interval);
}

bool is_timed(const Result& r) {
  const auto speedup = metric_of(r, "speedup");
  return r.finished && speedup && std::isfinite(*speedup) && *speedup > 0 && !is_wrong(r);
}

/// Returns a performance case's verdict on the speed.
std::string speed_words(const Result& r) {
  // The reason itself begins with "not timed", so it is left out.
  if (const std::string times = is_wrong(r) ? times_words(r) : ""; !times.empty())
    return "not timed, because the answer is WRONG, " + times;
  if (!is_timed(r)) return fmt::format("not timed ({})", status_words(r));
  const Status status = r.outcome.status;
  std::string text = ratio_words(r, *metric_of(r, "speedup"));
  const auto required = metric_of(r, "required_speedup");
  if (required && status == Status::fail_speedup) return text + fmt::format(", below the required {:.2f}x", *required);
  if (required && status == Status::undecided)
    return text + fmt::format(", undecided about the required {:.2f}x", *required);
  return status == Status::pass ? text : fmt::format("{} ({})", text, status_words(r));
}

/// Returns a number of calls with two digits, rounded up.
std::string calls_words(double calls) {
  const double step = calls < 100 ? 1 : std::pow(10, std::floor(std::log10(calls)) - 1);
  const double rounded = std::max(1.0, std::ceil(calls / step) * step);
  return fmt::format("{:.0f} call{}", rounded, rounded == 1 ? "" : "s");
}

/// Returns the seconds of the first of these cases that did not compile with warm caches.
std::optional<double> cold_compile_s(const std::vector<const Result*>& cases) {
  for (const Result* r : cases)
    if (const auto seconds = metric_of(*r, "compile_s"); seconds && !is_warm_compile(r->outcome.metrics))
      return seconds;
  return std::nullopt;
}

/// Returns after how many calls compiling pays off. Empty if the interval of the speed-up says nothing. For a row that
/// was compiled with warm caches, it uses the cold compile of another case of the same combination.
std::string pay_words(const Result& r, const std::vector<const Result*>& cases) {
  const auto high = metric_of(r, "speedup_high");
  if (!is_timed(r) || !high || is_unknown(r, "speedup")) return "";
  if (*high < 1) return "compiling does not pay";
  auto calls = metric_of(r, "break_even_calls");
  if (const auto cold = cold_compile_s(cases); !calls && is_warm_compile(r.outcome.metrics) && cold)
    calls = calls_to_pay(r.outcome.metrics, *cold);
  return calls && std::isfinite(*calls) && *calls > 0 ? "pays for its compile after " + calls_words(*calls) : "";
}

/// Returns the verdict of another check: "largest_batch pass".
std::string other_words(const Result& r) {
  const std::string numbers = numbers_line(r);
  return fmt::format("{} {}{}{}", r.check, status_words(r), numbers.empty() ? "" : ", ", numbers);
}

/// Returns how the case compares with what the user stated: an expected status, or a baseline.
std::string expectation_words(const Result& r) {
  if (r.is_red_by_baseline())
    return r.baseline.reason.empty() ? baseline_verdict_words(r) : shortened_to_words(first_line(r.baseline.reason));
  if (r.expected == "pass") return "";
  return is_fine(r) ? "as expected" : "expected " + expected_words(r);
}

/// The cases of one backend, mode and dtype.
struct Combination {
  std::string title;
  std::vector<const Result*> cases{};
};

std::string title_of(const Result& r, bool with_model, bool with_preset) {
  std::string title = fmt::format("{}, {}, {}", r.backend, r.mode, r.dtype);
  if (with_preset) title += ", " + r.preset;
  if (r.device != "cpu") title += ", " + r.device;
  if (r.dynamic != "off") title += ", dynamic " + r.dynamic;
  return with_model ? fmt::format("{}: {}", r.model, title) : title;
}

/// Order of marks by urgency, the most urgent first.
size_t urgency_of(char mark) { return std::string_view("!*~x ").find(mark); }

OwnModelSentence sentence_of(const Combination& of) {
  OwnModelSentence sentence;
  std::vector<std::string> parts;
  const auto add = [&](const std::string& part) {
    if (!part.empty() && std::ranges::find(parts, part) == parts.end()) parts.push_back(part);
  };
  const bool wrong = std::ranges::any_of(of.cases, [](const Result* r) { return is_wrong(*r); });
  std::string why_not_judged;
  for (const Result* r : of.cases) {
    const char mark = verdict_of(*r).mark;
    if (urgency_of(mark) < urgency_of(sentence.mark)) sentence.mark = mark;
    if (r->check == "accuracy") {
      add(answer_words(*r));
      if (!r->finished || r->outcome.status != Status::pass) why_not_judged = status_words(*r);
      add(sizes_words(*r));
      add(unjudged_text(*r));
    } else if (r->check != "performance") {
      add(other_words(*r));
    } else if (wrong && !is_wrong(*r) && metric_of(*r, "speedup")) {
      add("its speed does not count");
    } else if (!is_timed(*r) && status_words(*r) == why_not_judged) {
      add("not timed for the same reason");
    } else {
      add(speed_words(*r));
      add(pay_words(*r, of.cases));
    }
    add(expectation_words(*r));
  }
  sentence.text = fmt::format("{}: {}.", of.title, fmt::join(parts, "; "));
  return sentence;
}

}  // namespace

bool are_of_own_model(const std::vector<Result>& results) {
  return !results.empty() && std::ranges::all_of(results, &Result::own_model);
}

bool is_own_without_expectations(const std::vector<Result>& results) {
  const auto is_expected = [](const Result& r) { return r.expected != "pass" || r.is_red_by_baseline(); };
  return are_of_own_model(results) && std::ranges::none_of(results, is_expected);
}

std::string model_names(const std::vector<Result>& results) {
  std::vector<std::string> names;
  for (const auto& r : results)
    if (std::ranges::find(names, r.model) == names.end()) names.push_back(r.model);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<OwnModelSentence> own_model_sentences(const std::vector<Result>& results) {
  const auto differ = [&](auto member) {
    return std::ranges::any_of(results, [&](const Result& r) { return r.*member != results.front().*member; });
  };
  const bool with_model = differ(&Result::model), with_preset = differ(&Result::preset);
  std::vector<Combination> combinations;
  for (const Result* r : one_of_each_name(results)) {
    const std::string title = title_of(*r, with_model, with_preset);
    auto found = std::ranges::find(combinations, title, &Combination::title);
    if (found == combinations.end()) found = combinations.insert(found, {title});
    found->cases.push_back(r);
  }
  std::vector<OwnModelSentence> sentences;
  for (auto& [title, cases] : combinations) {
    std::ranges::stable_sort(cases, {}, [](const Result* r) {
      return r->check == "accuracy" ? 0 : r->check == "performance" ? 1 : 2;
    });
    sentences.push_back(sentence_of({title, cases}));
  }
  return sentences;
}

}  // namespace torchstone
