#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <torchstone/case.h>

#include "cases/settings/yaml.h"
#include "models/operators/operator_call.h"

namespace torchstone::config {

/// A value of an axis, and its source.
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

/// Axes of a row. The row's cases are their cartesian product.
struct Axes {
  Choices<std::string> checks;
  Choices<Mode> modes;
  Choices<DType> dtypes;
  Choices<BackendSpec> backends;
  Choices<std::string> devices;
  Choices<Preset> presets;
  Choices<Dynamic> dynamic;
  std::optional<Place> own_dtype{};  ///< set where the dtypes contain `own`, the dtype of the file (selection::Known)
};

// Each reads one value as suites and flags write it, and throws ConfigError.
/// Accepts registered checks only, so plug-ins must be loaded first.
std::string check_name_of(const Yaml& node);
Mode mode_of(const Yaml& node);
DType dtype_of(const Yaml& node);
/// Also accepts as_written, a dtype that cases may have but flags and suites cannot select.
DType row_dtype_of(const Yaml& node);
Preset preset_of(const Yaml& node);
Dynamic dynamic_of(const Yaml& node);
/// Accepts cpu, cuda or cuda:N.
std::string device_of(const Yaml& node);
/// Accepts `inductor`, `inductor:freezing=true`, or the map {inductor: {freezing: true}}.
BackendSpec backend_spec_of(const Yaml& node);
/// Accepts recorded or channels_last.
operators::OperatorLayout layout_of(const Yaml& node);

}  // namespace torchstone::config
