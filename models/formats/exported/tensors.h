#pragma once
#include <map>
#include <set>
#include <string>

#include <torch/torch.h>

#include "models/formats/exported/archive.h"

namespace torchstone::formats::exported {

/// A tensor of an archive.
struct StoredTensor {
  torch::Tensor tensor;  ///< on the CPU
  bool parameter = false;
  bool requires_grad = false;  ///< false for a parameter that was frozen
};
using StoredTensors = std::map<std::string, StoredTensor>;

/// The tensors of a program by their dotted names: its state_dict, and the constants with the buffers that are not in
/// the state_dict. Names of one tensor share it, and tensors that are views of one storage stay so.
struct ProgramTensors {
  StoredTensors state, constants;
};

/// Throws std::invalid_argument naming the record, the place in its JSON and what was expected: a tensor that lies
/// beyond its record, sizes that come to more than 256 MiB and eight times the file, a tensor subclass, no values.
ProgramTensors read_tensors(Archive& archive, const std::string& program);

/// Floating-point dtypes, each once.
struct StoredDtypes {
  std::set<c10::ScalarType> state{};      ///< of parameters and buffers
  std::set<c10::ScalarType> constants{};  ///< of what is neither
};

/// Returns the dtypes of a program's tensors without reading their values. `buffers`: the names of the program's
/// buffers, including those that are stored among its constants. Throws as read_tensors().
StoredDtypes stored_dtypes(Archive& archive, const std::string& program, const std::set<std::string>& buffers);

}  // namespace torchstone::formats::exported
