#pragma once
#include <cstdint>
#include <string>

#include <torchstone/model.h>

namespace torchstone::formats {

/// The inputs for another number of samples: the first dimension of each is cut, or filled up by repeating samples.
/// Throws std::invalid_argument naming an input whose first dimension is another than that of the first input.
Tensors with_samples(const Tensors& inputs, int64_t samples);

/// Why the outputs of a program for `asked` samples are not those of so many, given what it returned for `of_file`
/// samples: no output has become longer or shorter in the same ratio, or one has changed otherwise. Empty when they
/// are.
std::string why_not_followed(const c10::IValue& with_file, int64_t of_file, const c10::IValue& with_asked,
                             int64_t asked);

}  // namespace torchstone::formats
