// Planted faults for backends that convert a program together with its weights. `fault_openvino`, `fault_onnxruntime`,
// `fault_executorch` and `fault_nativert` make one weight of the captured program 5 % larger before the conversion.
#include <torchstone/backend.h>

#include "fixtures/backends/backend_registry.h"

namespace torchstone::converting_faults {
namespace {

class WrongWeight : public Backend {
 public:
  explicit WrongWeight(std::string name) : name_(std::move(name)) {}
  std::optional<std::string> unsupported(const Case& c) const override { return backend_named(name_).unsupported(c); }
  std::unique_ptr<Compiled> compile(Captured captured, const Case& c) const override {
    for (auto& [name, tensor] : captured.constants)
      if (tensor.dim() > 1 && tensor.is_floating_point()) {
        tensor = tensor.detach() * 1.05;
        break;
      }
    Case right = c;
    right.backend = {name_, {}};
    return backend_named(name_).compile(std::move(captured), right);
  }

 private:
  std::string name_;
};

[[maybe_unused]] const bool registered =
    register_backend("fault_openvino", std::make_unique<WrongWeight>("openvino"), __FILE__, __LINE__) &&
    register_backend("fault_nativert", std::make_unique<WrongWeight>("nativert"), __FILE__, __LINE__) &&
    register_backend("fault_executorch", std::make_unique<WrongWeight>("executorch"), __FILE__, __LINE__) &&
    register_backend("fault_onnxruntime", std::make_unique<WrongWeight>("onnxruntime"), __FILE__, __LINE__);

}  // namespace
}  // namespace torchstone::converting_faults
