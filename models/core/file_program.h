#pragma once
#include <string>
#include <vector>

#include <torchstone/model.h>

namespace torchstone {

/// Description of what a model from a file computes, without the values of its parameters and buffers. Source locations
/// and names that the loader generates are left out, so two exports of one model have the same description.
struct ProgramDescription {
  std::string text{};
  Tensors constants{};  ///< tensors that the program holds itself, in their order
};

/// The tensors of a program by dotted name, in the order in which torch.export's graph signature lists them.
struct TensorNames {
  std::vector<std::string> parameters, buffers;
  std::vector<std::string> constants;  ///< tensors that are neither, whose values belong to the program
};

/// A model that was read from a file with a program.
class FileProgram {
 public:
  virtual ~FileProgram() = default;
  virtual ProgramDescription program_description() const = 0;
  /// The order of an exported program's signature, which need not be the order of any module's children. Empty where
  /// the file has none: a TorchScript file has the order of its module.
  virtual TensorNames tensor_order() const { return {}; }
};

}  // namespace torchstone
