#pragma once
#include <string>

#include <torchstone/model_info.h>

namespace torchstone::formats {

/// A TorchScript file (torch.jit.save, or a traced C++ module) as a model, named after the file's stem made an
/// identifier. `inputs_path` holds the list or tuple of tensors that forward takes, or a single tensor, as torch.save
/// writes it in Python and torch::pickle_save in C++. The first call of `example_inputs` of each model returns these;
/// later ones draw others of the same shapes: floats normal with the mean and deviation of the file's, integers a
/// random permutation of the file's. The batch size is the file's, whatever the options say (`fixed_batch`). Throws
/// std::runtime_error when a file is missing, is no zip archive, or holds something else.
ModelInfo script_model_info(const std::string& path, const std::string& inputs_path);

}  // namespace torchstone::formats
