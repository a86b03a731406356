#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "cases/config/nearest.h"
#include "cases/selection/expand.h"
#include "fixtures/core/check_registry.h"

namespace torchstone::selection {
namespace {

bool is_expectation(const config::Settings::value_type& setting) {
  return setting.first == "expected" || setting.first == "reason";
}

// `rows` are those of one check.
template <typename T>
std::vector<suite::Row> select(const std::vector<suite::Row>& rows, config::Choices<T> config::Axes::*axis,
                               const config::Choices<T>& given) {
  if (given.empty() || rows.empty()) return rows;
  std::vector<suite::Row> selected;
  for (suite::Row row : rows) {
    std::erase_if(row.axes.*axis, [&](const auto& choice) { return !contains(given, choice.value); });
    if (!(row.axes.*axis).empty()) selected.push_back(std::move(row));
  }
  // A value that no row has (one that a row keeps to some models is not there for the others): every row is run with
  // it.
  config::Choices<T> added;
  for (const auto& choice : given) {
    const bool had = std::any_of(rows.begin(), rows.end(), [&](const suite::Row& row) {
      return row.models.empty() && contains(row.axes.*axis, choice.value);
    });
    if (!had && !contains(added, choice.value)) added.push_back(choice);
  }
  if (added.empty()) return selected;
  for (suite::Row row : rows) {
    row.axes.*axis = added;
    row.widened = true;
    // A known failure was seen with the row's own values; of the size alone it seldom depends.
    if constexpr (!std::is_same_v<T, Preset>) std::erase_if(row.settings, is_expectation);
    selected.push_back(std::move(row));
  }
  return selected;
}

std::vector<suite::Row> rows_of(const std::vector<suite::Row>& rows, const std::string& check) {
  std::vector<suite::Row> found;
  for (suite::Row row : rows) {
    std::erase_if(row.axes.checks, [&](const auto& choice) { return choice.value != check; });
    if (!row.axes.checks.empty()) found.push_back(std::move(row));
  }
  return found;
}

/// A check that no row names is run on the rows of the check whose policy it shares. What these expect is of another
/// check.
std::vector<suite::Row> rows_for(const std::vector<suite::Row>& rows, const config::Choice<std::string>& check) {
  const CheckInfo* info = find_check(check.value);
  if (!info)
    fail(check.place,
         fmt::format("unknown check {} ({})", check.value, config::expected_one_of(check.value, check_names())));
  auto found = rows_of(rows, info->name);
  if (!found.empty()) return found;
  found = rows_of(rows, info->policy);
  for (suite::Row& row : found) {
    row.axes.checks = {check};
    row.widened = true;
    std::erase_if(row.settings, is_expectation);
  }
  return found;
}

template <typename T>
void unite(config::Choices<T>& all, const config::Choices<T>& more) {
  for (const auto& choice : more)
    if (!contains(all, choice.value)) all.push_back(choice);
}

}  // namespace

std::vector<suite::Row> full_matrix(std::vector<suite::Row> rows, const config::Place& place) {
  suite::Row full;
  full.place = place;
  full.widened = true;
  full.axes.modes = {{Mode::inference, place}, {Mode::training, place}};
  full.axes.dtypes = {{DType::float32, place}, {DType::bfloat16, place}, {DType::float16, place}, {DType::amp, place}};
  for (const suite::Row& row : rows) {
    unite(full.axes.checks, row.axes.checks);
    unite(full.axes.backends, row.axes.backends);
    unite(full.axes.devices, row.axes.devices);
    unite(full.axes.presets, row.axes.presets);
    unite(full.axes.dynamic, row.axes.dynamic);
  }
  std::erase_if(full.axes.backends, [](const auto& choice) { return choice.value.name == "eager"; });
  if (!full.axes.backends.empty()) rows.push_back(std::move(full));
  return rows;
}

std::vector<suite::Row> select_rows(const std::vector<suite::Row>& rows, const config::Axes& given) {
  config::Choices<std::string> checks = given.checks;
  if (checks.empty())
    for (const suite::Row& row : rows) unite(checks, row.axes.checks);
  std::ranges::stable_sort(checks, {}, &config::Choice<std::string>::value);
  std::vector<suite::Row> selected;
  for (const auto& check : checks) {
    auto of_check = rows_for(rows, check);
    of_check = select(of_check, &config::Axes::modes, given.modes);
    of_check = select(of_check, &config::Axes::dtypes, given.dtypes);
    if (!given.dtypes.empty())
      for (suite::Row& row : of_check) row.axes.own_dtype.reset();
    of_check = select(of_check, &config::Axes::backends, given.backends);
    of_check = select(of_check, &config::Axes::devices, given.devices);
    of_check = select(of_check, &config::Axes::presets, given.presets);
    of_check = select(of_check, &config::Axes::dynamic, given.dynamic);
    selected.insert(selected.end(), of_check.begin(), of_check.end());
  }
  return selected;
}

}  // namespace torchstone::selection
