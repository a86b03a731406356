#include "reports/judge/baseline_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reports/base/csv_format.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/record/result_json.h"
#include "reports/record/verdict.h"

namespace torchstone::judge {
namespace {

constexpr std::array<std::pair<std::string_view, Change>, 9> fail_on_words = {{{"slower", Change::slower},
                                                                               {"faster", Change::faster},
                                                                               {"ambiguous", Change::ambiguous},
                                                                               {"new", Change::added},
                                                                               {"gone", Change::gone},
                                                                               {"different_model", Change::other_model},
                                                                               {"more", Change::more},
                                                                               {"less", Change::less},
                                                                               {"fixed", Change::fixed}}};

/// Changes that the line of counts always has, and changes that it has only if they occur.
constexpr std::array common_changes = {Change::broken, Change::slower, Change::ambiguous, Change::gone,
                                       Change::added,  Change::faster, Change::same};
constexpr std::array rare_changes = {Change::other_model, Change::fixed, Change::more, Change::less};

/// Marks of the changes, in the order of the enum.
constexpr std::string_view marks = " *!~xx!+-*!";

char mark_of(Change change) { return marks.at(static_cast<size_t>(change)); }

char mark_of(const CaseChange& c) { return c.lost ? '!' : mark_of(c.change); }

/// Returns a ratio as gain or loss: "+12.50 %".
std::string percent(double ratio) {
  if (!std::isfinite(ratio)) return "?";
  return fmt::format("{:+.2f} %", 100 * (ratio - 1));
}

bool is_exact(const MetricChange& m) { return m.ratio_low == m.ratio && m.ratio_high == m.ratio; }

std::string change_with_interval(const MetricChange& m) {
  if (is_exact(m) || !std::isfinite(m.ratio)) return percent(m.ratio);
  if (!std::isfinite(m.ratio_high)) return percent(m.ratio) + " [no interval]";
  return fmt::format("{} [{:+.2f} {:+.2f}]", percent(m.ratio), 100 * (m.ratio_low - 1), 100 * (m.ratio_high - 1));
}

std::string metric_line(const MetricChange& m) {
  // Prints exact numbers with all digits, so that a difference of a few bytes is visible.
  const auto shown = [&](double value) {
    return is_exact(m) && std::floor(value) == value ? fmt::format("{:.0f}", value) : format_metric(m.metric, value);
  };
  const MetricInfo* info = find_metric(m.metric);
  const bool decides = info == nullptr || !info->only_shown;
  return fmt::format("    {} {:<22} {:>14} {:>14}   {:<30} {}{}{}\n", decides ? mark_of(m.change) : ' ',
                     terminal_line(m.metric), shown(m.old_value), shown(m.new_value), change_with_interval(m),
                     change_words(m), decides ? "" : " (does not decide)",
                     m.single_number ? " (a single number against this run's interval)" : "");
}

std::string case_block(const CaseChange& c, bool all) {
  std::string text = fmt::format("{} {:<9} {}", mark_of(c), to_string(c.change), terminal_line(c.name));
  if (c.other_parts.any())
    text += fmt::format("  (the {} differ{})", c.other_parts.words(), c.other_parts.weights ? "" : "s");
  if (c.old_status.empty() || c.new_status.empty())
    text += fmt::format("  ({})", terminal_line(c.old_status.empty() ? c.new_status : "was " + c.old_status));
  else if (c.old_status != c.new_status)
    text += fmt::format("  {} → {}", terminal_line(c.old_status), terminal_line(c.new_status));
  if (const std::string noisy = noisy_words(c); !noisy.empty()) text += fmt::format("  ({})", noisy);
  text += "\n";
  for (const auto& metric : c.metrics)
    if (all || metric.change != Change::same) text += metric_line(metric);
  return text;
}

size_t count(const BaselineComparison& comparison, Change change) {
  return static_cast<size_t>(std::ranges::count(comparison.cases, change, &CaseChange::change));
}

bool is_named(const std::vector<Change>& fail_on, Change change) { return std::ranges::count(fail_on, change) > 0; }

/// Whether `fail_on` names the change of any metric. The change of the case itself may be a worse one.
bool has_named_metric(const CaseChange& c, const std::vector<Change>& fail_on) {
  return std::ranges::any_of(
      c.metrics, [&](const MetricChange& m) { return is_named(fail_on, m.change) && counts_for_case(m.metric); });
}

/// Returns the text of each reason that excludes timings: another machine, another torch, or both.
std::vector<std::string_view> exclusions(const BaselineComparison& comparison, std::string_view of_machine,
                                         std::string_view of_torch) {
  std::vector<std::string_view> texts;
  if (comparison.excluded_by_machine || !comparison.excluded_by_torch) texts.push_back(of_machine);
  if (comparison.excluded_by_torch) texts.push_back(of_torch);
  return texts;
}

/// "1 case is" or "3 cases are".
std::string how_many(size_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

/// "at least 1.8 times". The change must be by far.
std::string at_least_words(const MetricChange& m) {
  return fmt::format("at least {:.1f} times", std::floor(*m.at_least * 10) / 10);
}

/// Returns "at least 1.8 times slower" for the largest such loss of a case; empty without one.
std::string far_words(const CaseChange& c) {
  const MetricChange* farthest = nullptr;
  for (const auto& m : c.metrics)
    if (m.change == Change::slower && m.at_least && counts_for_case(m.metric) &&
        (farthest == nullptr || *m.at_least > *farthest->at_least))
      farthest = &m;
  return farthest == nullptr ? "" : at_least_words(*farthest) + " slower";
}

/// Returns why a case is worse, in a few words: "at least 1.8 times slower", "pass → crash".
std::string shortest_reason(const CaseChange& c, const std::vector<Change>& fail_on) {
  if (c.status_worse) return fmt::format("{} → {}", terminal_line(c.old_status), terminal_line(c.new_status));
  const std::string far = far_words(c);
  return far.empty() ? red_words(c, fail_on) : far;
}

/// Returns at most three names, and the number of further names.
std::string first_names(const std::vector<std::string>& names) {
  constexpr size_t shown = 3;
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min(shown, names.size()); ++i) parts.push_back(terminal_line(names[i]));
  if (names.size() > shown) parts.push_back(fmt::format("and {} more", names.size() - shown));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

bool fails_by_change(const CaseChange& c, const std::vector<Change>& fail_on) {
  if (c.change == Change::gone && !c.lost) return false;
  const bool is_broken_number = c.change == Change::broken && !c.status_worse;
  const bool is_named_itself = c.change != Change::other_model && is_named(fail_on, c.change);
  return is_broken_number || is_named_itself || has_named_metric(c, fail_on);
}

bool fails_as_other_model(const CaseChange& c, const std::vector<Change>& fail_on) {
  return c.other_parts.any() && is_named(fail_on, Change::other_model);
}

bool fails(const CaseChange& c, const std::vector<Change>& fail_on) {
  return c.change == Change::broken || fails_by_change(c, fail_on) || fails_as_other_model(c, fail_on);
}

bool fails_as_worse(const CaseChange& c, const std::vector<Change>& fail_on) {
  return c.change == Change::broken || (is_worse(c) && is_named(fail_on, c.change));
}

std::string write_comparison(const BaselineComparison& comparison, bool all) {
  std::string text;
  for (const auto& remark : comparison_remarks(comparison)) text += terminal_line(remark) + "\n";
  for (const auto& c : comparison.cases)
    if (all || c.change != Change::same || c.old_status != c.new_status) text += case_block(c, all);
  return text + "Against the baseline, " + counts_line(comparison) + "\n";
}

std::string counts_line(const BaselineComparison& comparison) {
  std::vector<std::string> parts;
  const auto add = [&](Change change, size_t n) { parts.push_back(fmt::format("{} {}", n, to_string(change))); };
  for (const Change change : common_changes) add(change, count(comparison, change));
  for (const Change change : rare_changes)
    if (const size_t n = count(comparison, change); n > 0) add(change, n);
  return fmt::format("{}: {}", counted(comparison.cases.size(), "case"), fmt::join(parts, ", "));
}

std::vector<std::string> comparison_remarks(const BaselineComparison& comparison) {
  std::vector<std::string> remarks = comparison.notes;
  if (const std::string torch = torch_words(comparison); !torch.empty()) remarks.push_back(torch);
  for (const auto& difference : comparison.machine_differences) remarks.push_back("Another machine: " + difference);
  if (comparison.timings_excluded > 0)
    remarks.push_back(fmt::format("{} timings are not compared: they were {}", comparison.timings_excluded,
                                  exclusion_words(comparison)));
  return remarks;
}

std::string noisy_words(const CaseChange& change) {
  if (!change.old_noisy && !change.new_noisy) return "";
  return change.old_noisy && change.new_noisy ? "noisy in both"
         : change.new_noisy                   ? "noisy now"
                                              : "noisy in the baseline";
}

std::string red_words(const CaseChange& change, const std::vector<Change>& fail_on) {
  if (change.lost)
    return fmt::format("{} → {}", change.old_status, change.new_status.empty() ? "absent" : change.new_status);
  std::vector<std::string> parts;
  for (const auto& m : change.metrics) {
    const bool is_red = m.change == Change::broken || is_named(fail_on, m.change);
    if (!is_red || !counts_for_case(m.metric)) continue;
    parts.push_back(fmt::format("{} ({}, {})", values_words(m), change_with_interval(m), change_words(m)));
  }
  if (parts.empty()) return std::string(to_string(change.change));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string worse_words(const CaseChange& change, const std::vector<Change>& fail_on) {
  const std::string far = far_words(change);
  const std::string words = far.empty() ? "worse than the baseline" : far + " than the baseline";
  return fmt::format("{}: {}", words, red_words(change, fail_on));
}

std::string other_model_words(const CaseChange& change) {
  if (!change.other_parts.any()) return "";
  return fmt::format("different model: its {} {} not the baseline's", change.other_parts.words(),
                     change.other_parts.weights ? "are" : "is");
}

std::string change_words(const MetricChange& m) {
  std::string word(to_string(m.change));
  if (!m.at_least || (m.change != Change::slower && m.change != Change::faster)) return word;
  return fmt::format("{}, {} {}", word, at_least_words(m), m.change == Change::slower ? "slower" : "faster");
}

std::string metric_title(const std::string& key) {
  const MetricInfo* info = find_metric(key);
  return info == nullptr ? key : std::string(info->title);
}

std::string values_words(const MetricChange& m) {
  return fmt::format("{} {} → {}", metric_title(m.metric), format_metric(m.metric, m.old_value),
                     format_metric(m.metric, m.new_value));
}

std::string write_comparison_csv(const BaselineComparison& comparison) {
  std::string text = csv_line({"name", "metric", "old", "new", "ratio", "ratio_low", "ratio_high", "change", "noisy"});
  for (const auto& c : comparison.cases) {
    text += csv_line(
        {c.name, "status", c.old_status, c.new_status, "", "", "", std::string(to_string(c.change)), noisy_words(c)});
    for (const auto& m : c.metrics)
      text += csv_line({c.name, m.metric, exact(m.old_value), exact(m.new_value), exact(m.ratio), exact(m.ratio_low),
                        exact(m.ratio_high), std::string(to_string(m.change)), ""});
  }
  return text;
}

std::string write_comparison_json(const BaselineComparison& comparison) {
  nlohmann::ordered_json json = {{"schema", "torchstone/comparison/1"}};
  json["machine_differences"] = texts_to_json(comparison.machine_differences);
  json["torch_difference"] = valid_utf8(comparison.torch_difference);
  json["notes"] = texts_to_json(comparison.notes);
  json["timings_excluded"] = comparison.timings_excluded;
  for (const Change change : common_changes) json["counts"][std::string(to_string(change))] = count(comparison, change);
  for (const Change change : rare_changes) json["counts"][std::string(to_string(change))] = count(comparison, change);
  json["cases"] = nlohmann::json::array();
  for (const auto& c : comparison.cases) {
    nlohmann::ordered_json entry = {{"name", valid_utf8(c.name)},
                                    {"change", to_string(c.change)},
                                    {"old_status", valid_utf8(c.old_status)},
                                    {"new_status", valid_utf8(c.new_status)},
                                    {"status_worse", c.status_worse},
                                    {"lost", c.lost},
                                    {"other_parts", c.other_parts.words()},
                                    {"old_noisy", c.old_noisy},
                                    {"new_noisy", c.new_noisy},
                                    {"metrics", nlohmann::json::object()}};
    for (const auto& m : c.metrics) {
      auto& metric = entry["metrics"][valid_utf8(m.metric)];
      metric = {{"old", number_to_json(m.old_value)},
                {"new", number_to_json(m.new_value)},
                {"ratio", number_to_json(m.ratio)},
                {"ratio_low", number_to_json(m.ratio_low)},
                {"ratio_high", number_to_json(m.ratio_high)},
                {"change", to_string(m.change)},
                {"single_number", m.single_number}};
      if (m.at_least) metric["at_least"] = number_to_json(*m.at_least);
    }
    json["cases"].push_back(std::move(entry));
  }
  return printable_json(json.dump(1)) + "\n";
}

const std::vector<Change>& default_fail_on() {
  static const std::vector<Change> changes = {Change::slower, Change::gone, Change::other_model};
  return changes;
}

std::string default_fail_on_words() {
  std::vector<std::string_view> words;
  for (const Change change : default_fail_on())
    words.push_back(std::ranges::find(fail_on_words, change, &std::pair<std::string_view, Change>::second)->first);
  return fmt::format("{}", fmt::join(words, ","));
}

std::vector<Change> parse_fail_on(const std::vector<std::string>& words) {
  if (words.empty()) return default_fail_on();
  std::vector<Change> changes;
  for (const auto& word : words) {
    const auto found = std::ranges::find(fail_on_words, word, &std::pair<std::string_view, Change>::first);
    if (found == fail_on_words.end())
      throw std::invalid_argument(
          fmt::format("fail-on: expected slower, faster, ambiguous, new, gone, different_model, more, less or fixed, "
                      "found '{}'",
                      word));
    changes.push_back(found->second);
  }
  return changes;
}

std::string refusal_words(const BaselineComparison& comparison) {
  const int code = exit_code_of(comparison, {});
  if (code == ExitCode::usage_error)
    return fmt::format("timings not compared: the baseline is of {}",
                       fmt::join(exclusions(comparison, "another machine", "another torch"), " and "));
  return code == ExitCode::nothing_judged ? "nothing compared: the baseline has none of these cases" : "";
}

std::string allowing_options(const BaselineComparison& comparison) {
  return fmt::format("{}", fmt::join(exclusions(comparison, "--other-machine", "--other-torch"), " "));
}

std::string exclusion_words(const BaselineComparison& comparison) {
  return fmt::format(
      "taken {}",
      fmt::join(exclusions(comparison, "on different machines", "with different releases of torch"), " and "));
}

std::string torch_words(const BaselineComparison& comparison) {
  if (comparison.torch_difference.empty()) return "";
  return fmt::format("Another release of torch: {}{}", comparison.torch_difference,
                     comparison.excluded_by_torch ? "" : " (compared as asked for)");
}

int exit_code_of(const BaselineComparison& comparison, const std::vector<Change>& fail_on) {
  if (comparison.timings_excluded > 0) return ExitCode::usage_error;
  const auto is_red = [&](const CaseChange& c) { return fails(c, fail_on); };
  const auto is_compared = [](const CaseChange& c) { return !c.old_status.empty() && !c.new_status.empty(); };
  const auto& cases = comparison.cases;
  if (std::ranges::none_of(cases, is_compared)) return ExitCode::nothing_judged;
  return std::ranges::any_of(cases, is_red) ? ExitCode::gate_failed : ExitCode::success;
}

std::vector<std::string> red_sentences(const BaselineComparison& comparison, const std::vector<Change>& fail_on) {
  std::vector<std::string> gone, others, sentences;
  constexpr size_t shown_name = 36;  // so that a line has room for the reason
  std::string worst;
  size_t worse = 0, others_named = 0;
  for (const auto& c : comparison.cases) {
    if (!fails(c, fail_on)) continue;
    const bool is_other_model = fails_as_other_model(c, fail_on);
    if (is_other_model) others.push_back(c.name);
    if (c.lost)
      gone.push_back(c.name);
    else if (fails_as_worse(c, fail_on)) {
      if (worse++ == 0)
        worst = fmt::format("{}: {}", terminal_line(shortened_middle(short_name(c.name), shown_name)),
                            shortest_reason(c, fail_on));
    } else if (!is_other_model)
      ++others_named;
  }
  if (worse > 0)
    sentences.push_back(fmt::format("{} worse than the baseline{} {}", how_many(worse, "case is", "cases are"),
                                    worse == 1 ? ":" : ", first", worst));
  if (!gone.empty())
    sentences.push_back(fmt::format("{} gone: {}",
                                    how_many(gone.size(), "case of the baseline is", "cases of the baseline are"),
                                    first_names(gone)));
  if (!others.empty())
    sentences.push_back(fmt::format("{} than the baseline's: {}",
                                    how_many(others.size(), "case is another model", "cases are other models"),
                                    first_names(others)));
  if (others_named > 0) sentences.push_back(counted(others_named, "case") + " changed in a way that fail-on names");
  return sentences;
}

bool is_red_by_coverage(const BaselineComparison& comparison, const std::vector<Change>& fail_on) {
  return std::ranges::any_of(comparison.cases, [&](const CaseChange& c) {
    return (c.lost && is_named(fail_on, c.change)) || fails_as_other_model(c, fail_on);
  });
}

}  // namespace torchstone::judge
