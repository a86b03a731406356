#include "cases/config/use.h"

#include "fixtures/core/check_registry.h"
#include "models/core/registry.h"
#include "models/fastrnns/sizes.h"

namespace torchstone::config {
namespace {

bool is_timed(const Case& c, const UseFacts& /*facts*/) { return check_of(c).timed; }

}  // namespace

Use timed_cases() { return {"cases of performance (--torchstone_checks=performance)", is_timed}; }

Use timed_cases_of_this_process() {
  return {"cases of performance whose backend is not torch_compile, which runs in a process of Python",
          [](const Case& c, const UseFacts& facts) { return is_timed(c, facts) && c.backend.name != "torch_compile"; }};
}

Use accuracy_cases() {
  return {"cases of accuracy (--torchstone_checks=accuracy)",
          [](const Case& c, const UseFacts&) { return c.check == "accuracy"; }};
}

Use training_cases() {
  return {"cases of training (--torchstone_modes=training)",
          [](const Case& c, const UseFacts&) { return c.mode == Mode::training; }};
}

Use amp_cases() {
  return {"cases of dtype amp (--torchstone_dtypes=amp)",
          [](const Case& c, const UseFacts&) { return c.dtype == DType::amp; }};
}

Use dynamic_cases() {
  return {"cases of dynamic sizes (--torchstone_dynamic)",
          [](const Case& c, const UseFacts&) { return c.dynamic != Dynamic::off; }};
}

Use cases_of_free_batch() {
  return {"models whose batch size is not fixed", [](const Case& c, const UseFacts&) { return !c.fixed_batch; }};
}

Use operators_of_a_log() {
  return {"operators of a log",
          [](const Case& c, const UseFacts& facts) { return facts.operator_suites.contains(c.suite); }};
}

Use recurrent_models() {
  return {"recurrent models of fastrnns", [](const Case& c, const UseFacts&) {
            const ModelInfo* model = find_model(c.model);
            return model != nullptr && model->family == fastrnns::family;
          }};
}

}  // namespace torchstone::config
