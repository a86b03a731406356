#pragma once
#include <span>
#include <string_view>

namespace torchstone {

/// The environment variables that can change a result and that are therefore recorded: those of GoogleTest, LibTorch,
/// PyTorch's compiler, OpenMP, the BLAS libraries, CUDA, Triton, the allocators and the dynamic linker, by full name.
/// Inductor's own (TORCHINDUCTOR_…, AOT_INDUCTOR_…) are not among them: its workers are started without them.
std::span<const std::string_view> result_variables();

}  // namespace torchstone
