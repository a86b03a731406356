#include "cases/main/own_model.h"

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
  ModelInfo info = formats::script_model_info(flags.only, flags.inputs);
  info.name = selection::only_model(flags);
  register_model(info, flags.only.c_str(), 0);
}

int64_t mini_parameters(const ModelInfo& info) { return count_parameters(*info.make(ModelOptions{})); }

}  // namespace torchstone
