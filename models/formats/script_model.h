#pragma once
#include <set>
#include <string>
#include <vector>

#include <torch/script.h>
#include <torchstone/model_info.h>

namespace torchstone::formats {

/// The floating-point dtypes of a script that is called with `arguments`, each once: those of its parameters, buffers
/// and inputs, and of constants that a cast of the model would change.
std::set<c10::ScalarType> dtypes_of_script(const torch::jit::Module& module, const std::vector<c10::IValue>& arguments);

/// The same for an exported program. Reads the program and the metadata of its tensors, not their values. Throws
/// std::exception where the file cannot be read.
std::set<c10::ScalarType> dtypes_of_exported(const std::string& path);

/// A TorchScript file (torch.jit.save, or a traced C++ module) as a model, named by model_name_of(). `inputs_path` is a
/// file for read_pt() (models/formats/pickle/pickle.h) that holds the positional arguments of forward: a list or tuple,
/// or a single tensor. None, numbers and strings in it, and arguments that are left out for their default, become
/// constants of the program. Each model returns the tensors from the first call of `example_inputs`. Later calls draw
/// others of the same shapes: floats normal with the mean and deviation of the file's, integers a random permutation of
/// the file's. Throws std::runtime_error when the script is missing or no TorchScript, PickleError when the inputs
/// cannot be read, and std::runtime_error when they are something else or do not fit the arguments of forward.
/// `dtypes` receives dtypes_of_script(), so that a large file is not loaded again for them.
ModelInfo script_model_info(const std::string& path, const std::string& inputs_path,
                            std::set<c10::ScalarType>* dtypes = nullptr);

}  // namespace torchstone::formats
