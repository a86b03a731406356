#pragma once
#include <map>
#include <string>

#include <torch/torch.h>

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

}  // namespace torchstone::formats
