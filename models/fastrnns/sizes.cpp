#include "models/fastrnns/sizes.h"

namespace torchstone::fastrnns {

RecurrentFlags& recurrent_flags() {
  static RecurrentFlags flags;
  return flags;
}

RecurrentSizes recurrent_sizes(Preset preset) {
  const RecurrentSizes of_preset =
      preset == Preset::full ? RecurrentSizes{100, 1, 512, 512} : RecurrentSizes{5, 1, 16, 16};
  const RecurrentFlags& flags = recurrent_flags();
  return {flags.steps.value_or(of_preset.steps), flags.layers.value_or(of_preset.layers),
          flags.input.value_or(of_preset.input), flags.hidden.value_or(of_preset.hidden)};
}

}  // namespace torchstone::fastrnns
