#include "cases/main/baseline_gate.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "cases/main/gtest_flags.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/judge/baseline_report.h"
#include "reports/record/summary.h"

namespace torchstone {
namespace {

/// Returns the values of an axis in the spelling of records.
template <typename T, typename Spell>
std::set<std::string> spelt(const config::Choices<T>& choices, Spell spell) {
  std::set<std::string> values;
  for (const auto& choice : choices) values.insert(spell(choice.value));
  return values;
}

}  // namespace

BaselineScope::BaselineScope(const flags::Flags& flags, const std::vector<suite::Suite>& suites,
                             const selection::Expansion& expansion)
    : empty_(false) {
  for (const auto& c : expansion.cases) accounted_for_.insert(name_of(c));
  if (flags.fast)
    for (const auto& skipped : expansion.skipped) accounted_for_.insert(skipped.name);
  const auto narrow = [this](std::string Result::*member, std::set<std::string> values) {
    if (values.empty()) return;
    narrowings_.emplace_back([=](const Result& result) { return values.contains(result.*member); });
  };
  const auto itself = [](const auto& value) { return value; };
  const auto word = [](const auto& value) { return to_string(value); };
  narrow(&Result::suite, spelt(flags.suites, itself));
  narrow(&Result::check, spelt(flags.axes.checks, itself));
  narrow(&Result::mode, spelt(flags.axes.modes, word));
  narrow(&Result::dtype, spelt(flags.axes.dtypes, word));
  narrow(&Result::backend, spelt(flags.axes.backends, label_of));
  narrow(&Result::device, spelt(flags.axes.devices, itself));
  auto presets = spelt(flags.axes.presets, word);
  if (!presets.empty()) presets.insert("");  // models of one size have no preset
  narrow(&Result::preset, presets);
  narrow(&Result::dynamic, spelt(flags.axes.dynamic, word));
  narrow(&Result::model, spelt(flags.only, selection::only_model));
  // The user's own models have suites of their own. Only runs that select such a model have these suites.
  std::set<std::string> known, of_user;
  for (const auto& suite : suites) (suite.own_files || suite.own_modules ? of_user : known).insert(suite.name);
  const auto is_own = [](const config::Choice<std::string>& only) {
    const ModelInfo* info = find_model(only.value);
    return selection::only_is_file(only.value) || (info != nullptr && !info->python.empty());
  };
  const auto own = static_cast<size_t>(std::ranges::count_if(flags.only, is_own));
  if (own > 0 && own < flags.only.size()) return;  // models of both kinds: the names suffice
  if (own > 0 || !flags.suites_folder.empty())
    narrow(&Result::suite, own > 0 ? of_user : known);
  else
    narrowings_.emplace_back([of_user](const Result& result) { return !of_user.contains(result.suite); });
}

bool BaselineScope::misses(const Result& of_baseline) const {
  if (empty_ || accounted_for_.contains(of_baseline.name)) return false;
  return std::ranges::all_of(narrowings_, [&](const auto& keeps) { return keeps(of_baseline); }) &&
         filter_keeps(GTEST_FLAG_GET(filter), of_baseline.name);
}

namespace {

/// Whether the baseline no longer exists. One in the results folder is removed when the run begins, or overwritten by
/// the new results.
bool is_replaced(const std::string& path, const flags::Flags& flags) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path baseline = fs::weakly_canonical(path, error), out = fs::weakly_canonical(flags.run.out, error);
  return baseline == out || baseline == out / "results.json" || !fs::exists(baseline, error);
}

/// Returns the command that repeats the comparison. Empty if a baseline no longer exists. `outside`: number of baseline
/// cases that the run did not select.
std::string again_words(const flags::Flags& flags, size_t outside) {
  std::string words = "torchstone-report compare";
  for (const auto& path : flags.baseline) {
    if (is_replaced(path, flags)) return "";
    words += " " + flags::shell_quoted(path);
  }
  words += " " + flags::shell_quoted(flags.run.out);
  if (!flags.baseline_history.empty()) words += " --history " + flags::shell_quoted(flags.baseline_history);
  const auto fail_on = config::texts_of(flags.baseline_fail_on, &config::Choice<std::string>::value);
  if (!fail_on.empty()) words += fmt::format(" --fail-on {}", fmt::join(fail_on, ","));
  if (flags.baseline_other_torch) words += " --other-torch";
  return outside == 0 ? words : words + " --allow-absent";
}

/// Returns the flags that repeat the comparison in another run. They include the results folder, because the default
/// one may hold the baseline. Empty if a baseline no longer exists.
std::string baseline_arguments(const flags::Flags& flags) {
  for (const auto& path : flags.baseline)
    if (is_replaced(path, flags)) return "";
  std::string arguments;
  for (const auto& [name, value] : flags.given)
    if (name.starts_with("baseline") || name == "out")
      arguments += " " + flags::shell_quoted(without_secret(fmt::format("--torchstone_{}={}", name, value)));
  return arguments;
}

std::vector<judge::Change> fail_on_of(const flags::Flags& flags) {
  try {
    return judge::parse_fail_on(config::texts_of(flags.baseline_fail_on, &config::Choice<std::string>::value));
  } catch (const std::invalid_argument& error) {
    fail(flags.baseline_fail_on.front().place, error.what());
  }
}

std::string why_of(int exit_code, const judge::BaselineComparison& comparison,
                   const std::vector<judge::Change>& fail_on) {
  if (exit_code == ExitCode::gate_failed) {
    const auto sentences = judge::red_sentences(comparison, fail_on);
    return fmt::format("{}{}", fmt::join(sentences, "; "),
                       judge::is_red_by_coverage(comparison, fail_on)
                           ? " (if that is meant, make a new baseline, or set "
                             "--torchstone_baseline_fail_on=slower)"
                           : "");
  }
  const std::string refusal = judge::refusal_words(comparison);
  return exit_code == ExitCode::usage_error
             ? fmt::format("{} (torchstone-report compare {} compares them all the same)", refusal,
                           judge::allowing_options(comparison))
             : refusal;
}

/// Returns all reasons why the baseline makes a case red: first a loss, then a different model. A worse status is no
/// such reason, because it is red by itself.
BaselineFinding finding_of(const judge::CaseChange& change, const std::vector<judge::Change>& fail_on,
                           const Result& now) {
  BaselineFinding finding;
  if (judge::fails_by_change(change, fail_on)) {
    if (!judge::fails_as_worse(change, fail_on))
      finding = {BaselineChange::changed, "changed since the baseline: " + judge::red_words(change, fail_on)};
    else if (is_skipped(now))
      finding = {BaselineChange::gone, "gone since the baseline: " + judge::red_words(change, fail_on)};
    else
      finding = {BaselineChange::worse, judge::worse_words(change, fail_on)};
  }
  if (!judge::fails_as_other_model(change, fail_on)) return finding;
  const std::string words = judge::other_model_words(change);
  if (finding.change == BaselineChange::none) return {BaselineChange::different_model, words};
  finding.reason += "; " + words;
  return finding;
}

/// Sets the finding of each compared record, and adds the baseline's flags to the command that reproduces it. If a case
/// has several records, only the one that counts is changed.
void set_findings(const judge::BaselineComparison& comparison, const std::vector<judge::Change>& fail_on,
                  const flags::Flags& flags, std::vector<Result>& results) {
  const std::string arguments = baseline_arguments(flags);
  std::map<std::string_view, Result*> compared;
  for (const Result* one : one_of_each_name(results))
    compared[one->name] = &results[static_cast<size_t>(one - results.data())];
  for (const auto& change : comparison.cases) {
    const auto found = compared.find(change.name);
    if (found == compared.end()) continue;
    auto finding = finding_of(change, fail_on, *found->second);
    if (finding.change == BaselineChange::none) continue;
    Result& result = *found->second;
    result.baseline = std::move(finding);
    if (!result.reproduce.empty()) result.reproduce += arguments;
  }
}

}  // namespace

std::optional<judge::Baseline> read_baseline(const flags::Flags& flags) {
  if (flags.baseline.empty()) return std::nullopt;
  judge::Baseline baseline = judge::read_baseline(flags.baseline);
  for (const auto& warning : baseline.warnings) print_error("warning: " + warning);
  return baseline;
}

judge::BaselineOptions baseline_options(const flags::Flags& flags) {
  judge::BaselineOptions options;
  options.other_torch = flags.baseline_other_torch;
  fail_on_of(flags);  // refuses an unknown word before anything runs
  std::vector<std::string> warnings;
  if (!flags.baseline_history.empty()) options.history = judge::read_history(flags.baseline_history, &warnings);
  for (const auto& warning : warnings) print_error("warning: " + warning);
  return options;
}

void require_matching(const judge::Baseline& baseline, const std::vector<Result>& planned) {
  if (baseline.table) judge::match(*baseline.table, {{}, planned});
}

BaselineVerdict judge_against(const judge::Baseline& baseline, const judge::BaselineOptions& options,
                              const flags::Flags& flags, const BaselineScope& scope, Report& run) {
  const auto fail_on = fail_on_of(flags);
  std::set<std::string> names;
  for (const auto& result : run.results) names.insert(result.name);
  judge::Baseline same_cases = baseline;
  const size_t outside = std::erase_if(same_cases.report.results, [&](const Result& result) {
    return !names.contains(result.name) && !scope.misses(result);
  });
  auto comparison = judge::compare_with(same_cases, run, options);
  if (outside > 0)
    comparison.notes.push_back(
        fmt::format("{} not run here (flags, --gtest_filter or shard) and not compared",
                    outside == 1 ? "1 case of the baseline is" : fmt::format("{} cases of the baseline are", outside)));
  run.run.baseline = BaselineFacts{fmt::format("{}", fmt::join(flags.baseline, ", ")), judge::counts_line(comparison),
                                   judge::comparison_remarks(comparison), again_words(flags, outside)};
  set_findings(comparison, fail_on, flags, run.results);
  const int exit_code = exit_code_of(comparison, fail_on);
  return {exit_code, why_of(exit_code, comparison, fail_on), write_comparison(comparison)};
}

}  // namespace torchstone
