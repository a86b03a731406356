#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <torchstone/case.h>

#include "cases/settings/yaml.h"
#include "models/operators/operator_model.h"

namespace torchstone::config {

/// A value of an axis and where it was written.
template <typename T>
struct Choice {
  T value;
  Place place;
};
template <typename T>
using Choices = std::vector<Choice<T>>;

template <typename T>
bool contains(const Choices<T>& choices, const T& value) {
  return std::ranges::any_of(choices, [&](const auto& choice) { return choice.value == value; });
}

/// What a row multiplies.
struct Axes {
  Choices<std::string> checks;
  Choices<Mode> modes;
  Choices<DType> dtypes;
  Choices<BackendSpec> backends;
  Choices<std::string> devices;
  Choices<Preset> presets;
  Choices<Dynamic> dynamic;
  std::optional<Place> own_dtype{};  ///< where the dtypes of a suite contain `own`: the file's (selection::Known)
};

// One value as suites and flags write it; each throws ConfigError.
/// A registered check, so that plug-ins are loaded before.
std::string check_name_of(const Yaml& node);
Mode mode_of(const Yaml& node);
DType dtype_of(const Yaml& node);
/// Also accepts as_written, which rows may have but no flag and no suite can ask for.
DType row_dtype_of(const Yaml& node);
Preset preset_of(const Yaml& node);
Dynamic dynamic_of(const Yaml& node);
/// cpu, cuda or cuda:N.
std::string device_of(const Yaml& node);
/// `inductor`, `inductor:freezing=true`, or the map {inductor: {freezing: true}}.
BackendSpec backend_spec_of(const Yaml& node);

/// One layout: recorded or channels_last; throws ConfigError.
operators::OperatorLayout layout_of(const Yaml& node);

}  // namespace torchstone::config
