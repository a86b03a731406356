#pragma once
#include <string>

#include <torchstone/model_info.h>

namespace torchstone::formats {

/// A TorchScript file (torch.jit.save, or a traced C++ module) as a model, named by model_name_of(). `inputs_path` is a
/// file for read_pt() (models/formats/pickle/pickle.h) that holds what forward takes: a list or tuple of tensors, or a
/// single tensor. Each model returns these from the first call of `example_inputs`. Later calls draw others of the same
/// shapes: floats normal with the mean and deviation of the file's, integers a random permutation of the file's. The
/// batch size is the file's, whatever the options say (`fixed_batch`). Throws std::runtime_error when the script is
/// missing or no TorchScript, PickleError when the inputs cannot be read, and std::runtime_error when they are
/// something else than tensors.
ModelInfo script_model_info(const std::string& path, const std::string& inputs_path);

}  // namespace torchstone::formats
