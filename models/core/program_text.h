#pragma once
#include <string>

#include <torchstone/model.h>

namespace torchstone {

/// What a model from a file computes, apart from the values of its parameters and buffers. The same for two files that
/// differ in nothing but places in the source or names that the loader makes up.
struct ProgramDescription {
  std::string text{};
  Tensors constants{};  ///< tensors that the program holds itself, in their order
};

/// What a model is besides when it was read from a file with a program.
class DescribesProgram {
 public:
  virtual ~DescribesProgram() = default;
  virtual ProgramDescription program_description() const = 0;
};

}  // namespace torchstone
