// A planted fault of OpenVINO: `fault_openvino` is openvino with one weight of the captured program changed before it
// is converted.
#include <torchstone/backend.h>

#include "fixtures/backends/registry.h"

namespace torchstone {
namespace {

class WrongWeight : public Backend {
 public:
  std::optional<std::string> unsupported(const Case& c) const override { return backend_of("openvino").unsupported(c); }
  std::unique_ptr<Compiled> compile(Captured captured, const Case& c) const override {
    for (auto& [name, tensor] : captured.constants)
      if (tensor.dim() > 1 && tensor.is_floating_point()) {
        tensor = tensor.detach() * 1.05;
        break;
      }
    Case right = c;
    right.backend = {"openvino", {}};
    return backend_of("openvino").compile(std::move(captured), right);
  }
};

TORCHSTONE_BACKEND(fault_openvino, WrongWeight);

}  // namespace
}  // namespace torchstone
