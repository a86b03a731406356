#include "models/model.h"

#include "models/loss.h"

namespace torchstone {

torch::Tensor Model::loss(const c10::IValue& output) const { return reduce_to_scalar_loss(output); }

}  // namespace torchstone
