#include "cases/main/baseline_scope.h"

#include <algorithm>
#include <fnmatch.h>
#include <sstream>

#include <gtest/gtest.h>

namespace torchstone {
namespace {

/// GoogleTest knows no brackets and no escapes.
std::string glob_of(const std::string& pattern) {
  std::string glob;
  for (const char c : pattern) {
    if (c == '[' || c == '\\') glob += '\\';
    glob += c;
  }
  return glob;
}

bool any_matches(const std::string& patterns, const std::string& name) {
  std::istringstream stream(patterns);
  for (std::string pattern; std::getline(stream, pattern, ':');)
    if (fnmatch(glob_of(pattern).c_str(), name.c_str(), 0) == 0) return true;
  return false;
}

/// The values of an axis as a record has them.
template <typename T, typename Spell>
std::set<std::string> spelt(const config::Choices<T>& choices, Spell spell) {
  std::set<std::string> values;
  for (const auto& choice : choices) values.insert(spell(choice.value));
  return values;
}

}  // namespace

bool filter_keeps(const std::string& filter, const std::string& name) {
  const size_t minus = filter.find('-');
  const std::string positive = filter.substr(0, minus);
  if (!positive.empty() && !any_matches(positive, name)) return false;
  return minus == std::string::npos || !any_matches(filter.substr(minus + 1), name);
}

BaselineScope::BaselineScope(const flags::Flags& flags, const std::vector<suite::Suite>& suites,
                             const selection::Expansion& expansion)
    : empty_(false), fast_(flags.fast) {
  for (const auto& c : expansion.cases) registered_.insert(name_of(c));
  for (const auto& skipped : expansion.skipped) skipped_.insert(skipped.name);
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
  if (empty_ || registered_.contains(of_baseline.name)) return false;
  if (fast_ && skipped_.contains(of_baseline.name)) return false;
  return std::ranges::all_of(narrowings_, [&](const auto& keeps) { return keeps(of_baseline); }) &&
         filter_keeps(GTEST_FLAG_GET(filter), of_baseline.name);
}

}  // namespace torchstone
