#pragma once
#include <string>
#include <vector>

namespace torchstone {

/// The tensors of a program by dotted name, in the order in which torch.export's graph signature lists them.
struct TensorNames {
  std::vector<std::string> parameters, buffers;
  std::vector<std::string> constants;  ///< tensors that are neither, whose values belong to the program
};

/// A model whose tensors have an order of their own: that of an exported program's signature, which need not be the
/// order of any module's children.
class TensorOrder {
 public:
  virtual ~TensorOrder() = default;
  virtual TensorNames tensor_order() const = 0;
};

}  // namespace torchstone
