#include "cases/main/own_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "cases/selection/expand.h"
#include "models/core/registry.h"
#include "models/formats/script_model.h"

namespace torchstone {

void register_own_model(const flags::Flags& flags) {
  if (flags.inputs.empty()) {
    fail(flags.only_place,
         "a TorchScript file needs its inputs (expected --torchstone_inputs=FILE.pt, a list of tensors as torch.save "
         "writes it)");
  }
  const auto batch =
      std::ranges::find(flags.overrides, "batch_size", [](const auto& setting) { return setting.first; });
  ModelInfo info = formats::script_model_info(flags.only, flags.inputs);
  if (batch != flags.overrides.end() && config::integer_of(batch->second, 1, 1'000'000) != info.eval_batch)
    fail(batch->second, fmt::format("{} runs with the {} samples of {} (expected no batch size, or other inputs)",
                                    flags.only, info.eval_batch, flags.inputs));
  info.name = selection::only_model(flags);
  register_model(info, flags.only.c_str(), 0);
}

int64_t mini_parameters(const ModelInfo& info) { return count_parameters(*info.make(ModelOptions{})); }

}  // namespace torchstone
