#pragma once
#include <string>

#include <torchstone/model_info.h>

namespace torchstone::formats {

/// Whether a path is taken for an exported program: it ends with .pt2, or is a folder that holds eval.pt2, train.pt2 or
/// both.
bool is_exported_model(const std::string& path);

/// An exported program, as torch.export.save of PyTorch 2.11 to 2.13 writes it, as a model named after the file's stem
/// made an identifier. Inputs are the archive's sample inputs; further calls of `example_inputs` draw others like them.
/// The batch size can be changed where the first dimension of the inputs is a symbol of the program, within its range;
/// otherwise it is the file's (`fixed_batch`), and the other symbols may still vary (`dimensions_alone`).
///
/// Training takes the program `train` of the archive (or the folder's train.pt2), inference the program `model` (or
/// eval.pt2). A file with one program serves both when none of its operators depends on the mode.
///
/// The graph and the sample inputs are read here: throws std::runtime_error with the file, the place in it and what was
/// expected. Weights are read when a model is made, and there the outputs that the exporter stored
/// (torchstone/outputs.pt) are compared with the program's own, once a process.
ModelInfo exported_model_info(const std::string& path);

}  // namespace torchstone::formats
