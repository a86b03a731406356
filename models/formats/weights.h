#pragma once
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "models/core/model_state.h"

namespace torchstone::formats {

/// The tensors of a published checkpoint by their names, on the CPU. `path` is one of
///   FILE.safetensors                        see safetensors.h
///   any other file                          a state_dict as torch.save writes it (see pickle/pickle.h), or a dict that
///                                           holds it as `state_dict`, `model_state_dict` or `model`
///   a folder as Hugging Face publishes it   model.safetensors, pytorch_model.bin or diffusers' names; or the index of
///                                           several such files beside it (….index.json)
/// A prefix `module.` of all names (torch.nn.DataParallel) is dropped. Throws std::runtime_error that names the file
/// and what was expected.
std::map<std::string, torch::Tensor> read_checkpoint(const std::string& path);

/// what() lists every tensor that is missing, left over, or of another shape.
class UnfitWeights : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Loads a checkpoint and returns the names of the tensors that the model has no use for, sorted.
/// The checkpoint must hold every tensor of the model in its shape; floating-point ones are cast, as
/// torch.nn.Module.load_state_dict does, and others must have the model's dtype. Three kinds may be missing: buffers
/// that are not in the state_dict; all but one name of a tied tensor, because Python's save_model keeps one (several
/// must agree); and num_batches_tracked, which old weights lack. Throws UnfitWeights, or std::runtime_error for a file
/// that cannot be read, and leaves the model as it was.
std::vector<std::string> load_weights(Model& model, const std::string& path);
/// Writes the state_dict, a tied tensor under each of its names. Throws std::runtime_error.
void save_weights(const Model& model, const std::string& path);

}  // namespace torchstone::formats
