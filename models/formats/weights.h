#pragma once
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "models/core/model_state.h"

namespace torchstone::formats {

/// Reads the tensors of a published checkpoint by their names, onto the CPU. `path` is one of
///   FILE.safetensors                        see safetensors.h
///   any other file                          a state_dict as torch.save writes it (see pickle/pickle.h), or a dict with
///                                           it as `state_dict`, `model_state_dict` or `model`
///   a folder as Hugging Face publishes it   model.safetensors, pytorch_model.bin or diffusers' names; or several such
///                                           files with an index (….index.json)
/// Removes a prefix `module.` of all names (torch.nn.DataParallel). Throws std::runtime_error with the file and what
/// was expected.
std::map<std::string, torch::Tensor> read_checkpoint(const std::string& path);

/// A checkpoint that does not fit a model. what() lists every tensor that is missing, left over, or of another shape.
class UnfitWeights : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Loads a checkpoint. Returns the names of the tensors that the model does not use, sorted. Floating-point tensors are
/// cast; shapes and other dtypes must be the model's. Only these may be missing: buffers outside the state_dict,
/// num_batches_tracked, and all but one name of a tied tensor, whose names must agree. Throws UnfitWeights, or
/// std::runtime_error for an unreadable file. The model is then unchanged.
std::vector<std::string> load_weights(Model& model, const std::string& path);

}  // namespace torchstone::formats
