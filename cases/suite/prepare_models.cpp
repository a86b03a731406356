#include "cases/suite/prepare_models.h"

#include "cases/suite/operators.h"
#include "models/fastrnns/executor.h"
#include "models/fastrnns/sizes.h"

namespace torchstone::suite {

void prepare_models(std::vector<Suite>& suites, const flags::Flags& flags) {
  fastrnns::recurrent_flags() = flags.fastrnns.sizes;
  fastrnns::set_executor(flags.fastrnns.fuser, flags.fastrnns.executor);
  add_operators(suites, flags);
}

}  // namespace torchstone::suite
