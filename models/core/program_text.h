#pragma once
#include <string>

#include <torchstone/model.h>

namespace torchstone {

/// Description of what a model from a file computes, without the values of its parameters and buffers. Source locations
/// and names that the loader generates are left out, so two exports of one model have the same description.
struct ProgramDescription {
  std::string text{};
  Tensors constants{};  ///< tensors that the program holds itself, in their order
};

/// A model that was read from a file with a program.
class DescribesProgram {
 public:
  virtual ~DescribesProgram() = default;
  virtual ProgramDescription program_description() const = 0;
};

}  // namespace torchstone
