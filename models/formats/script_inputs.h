#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <torch/script.h>
#include <torch/torch.h>
#include <torchstone/model.h>

namespace torchstone::formats {

/// Reads a TorchScript file onto the CPU. Throws std::runtime_error with the file and what was expected.
torch::jit::Module load_script(const std::string& path);

/// Reads the positional arguments of forward: a list or tuple of tensors, None, numbers and strings, or a single
/// tensor. Throws PickleError when the file cannot be read, and std::runtime_error when it holds something else or no
/// tensor.
std::vector<c10::IValue> load_inputs(const std::string& path);

/// Specialises `forward` for the positional arguments that it is called with. Tensors stay arguments, in order. All
/// others become constants, including the defaults of omitted arguments, which decides branches on Optional arguments.
/// Throws std::invalid_argument naming the argument that is missing or has another type.
void fix_arguments(const torch::jit::Module& module, const std::vector<c10::IValue>& arguments);

/// The inputs for another number of samples: the first dimension of each is cut, or filled up by repeating samples.
/// Throws std::invalid_argument naming an input whose first dimension is another than that of the first input.
Tensors with_samples(const Tensors& inputs, int64_t samples);

/// Why the outputs of a program for `asked` samples are not those of so many, given what it returned for `of_file`
/// samples: no output has become longer or shorter in the same ratio, or one has changed otherwise. Empty when they
/// are.
std::string why_not_followed(const c10::IValue& with_file, int64_t of_file, const c10::IValue& with_asked,
                             int64_t asked);

/// Another tensor like `example`, of the same sizes: floats normal with its mean and deviation (where all are
/// alike their size, or 1 of zeros), integers and truth
/// values a random permutation of its own, and so are floats of which one is infinite or NaN (masks).
torch::Tensor draw_like(const torch::Tensor& example);

/// `example` with another size of one dimension: its own slices in turn.
torch::Tensor with_size(const torch::Tensor& example, int64_t dimension, int64_t size);
/// The same of its first dimension.
inline torch::Tensor with_rows(const torch::Tensor& example, int64_t batch) { return with_size(example, 0, batch); }

}  // namespace torchstone::formats
