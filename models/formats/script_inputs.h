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
/// tensor. Throws PickleError when the file cannot be read, and std::runtime_error for other content or without a
/// tensor.
std::vector<c10::IValue> load_inputs(const std::string& path);

/// Specialises `forward` for its positional arguments. Tensors remain arguments, in order. All others become constants,
/// including the defaults of omitted arguments, which decides branches on Optional arguments. Throws
/// std::invalid_argument naming the argument that is missing or has another type.
void fix_arguments(const torch::jit::Module& module, const std::vector<c10::IValue>& arguments);

/// Returns the inputs for another number of samples: samples are cut off, or repeated. Throws std::invalid_argument
/// naming an input whose first dimension differs from the first input's.
Tensors with_samples(const Tensors& inputs, int64_t samples);

/// Returns why the outputs of a program for `requested` samples do not scale with the number of samples. The outputs
/// for the `recorded` samples of its file serve as reference. At least one output must scale in its first dimension,
/// and no output may change in another way. Empty if the outputs scale.
std::string why_not_scaled(const c10::IValue& recorded_output, int64_t recorded, const c10::IValue& requested_output,
                           int64_t requested);

/// Returns a random tensor of the same sizes as `example`. Floats are normal with its mean and deviation. If all are
/// equal, the deviation is their absolute value, or 1 for zeros. Integers, booleans, and floats with an infinity or NaN
/// (masks) are a random permutation of the example's.
torch::Tensor draw_like(const torch::Tensor& example);

/// Returns `example` with another size of one dimension, by cutting off or repeating slices.
torch::Tensor with_size(const torch::Tensor& example, int64_t dimension, int64_t size);

}  // namespace torchstone::formats
