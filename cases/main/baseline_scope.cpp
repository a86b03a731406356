#include "cases/main/baseline_scope.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "cases/main/gtest_flags.h"

namespace torchstone {
namespace {

/// The values of an axis as a record has them.
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
  narrow(&Result::preset, spelt(flags.axes.presets, word));
  narrow(&Result::dynamic, spelt(flags.axes.dynamic, word));
  if (!flags.only.empty()) narrow(&Result::model, {selection::only_model(flags)});
  // A file's rows are of suites for files, which no other run has.
  std::set<std::string> known, of_files;
  for (const auto& suite : suites) (suite.own_files ? of_files : known).insert(suite.name);
  const bool file = selection::only_is_file(flags);
  if (file || !flags.suites_folder.empty())
    narrow(&Result::suite, file ? of_files : known);
  else
    narrowings_.emplace_back([of_files](const Result& result) { return !of_files.contains(result.suite); });
}

bool BaselineScope::misses(const Result& of_baseline) const {
  if (empty_ || accounted_for_.contains(of_baseline.name)) return false;
  return std::ranges::all_of(narrowings_, [&](const auto& keeps) { return keeps(of_baseline); }) &&
         filter_keeps(GTEST_FLAG_GET(filter), of_baseline.name);
}

}  // namespace torchstone
