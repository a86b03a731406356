#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <torchstone/model_info.h>

namespace torchstone::fastrnns {

/// The family of all recurrent benchmarks.
inline constexpr const char* family = "lstm";

/// Sizes of the recurrent benchmarks. The case defines the batch size.
struct RecurrentSizes {
  int64_t steps, layers, input, hidden;
};

/// Sizes that override the preset's. Empty members override nothing.
struct RecurrentFlags {
  std::optional<int64_t> steps, layers, input, hidden;
};
/// Returns the sizes from the flags. main sets them once, before a model is made. Child processes inherit them.
RecurrentFlags& recurrent_flags();

/// Returns the sizes of a preset. full has upstream's defaults (fastrnns/bench.py): 100 steps, 1 layer, and widths of
/// 512. mini has 5 steps, 1 layer, and widths of 16.
RecurrentSizes recurrent_sizes(Preset preset);

/// The fuser and executor of TorchScript, as in fastrnns' --fuser and --executor.
enum class Fuser { te, old, none, untouched };
enum class Executor { profiling, simple, legacy, untouched };

/// Sets LibTorch's switches for this process and its children (upstream's fastrnns/fuser.py). An executor other than
/// `untouched` overrides the executor that the fuser implies.
void set_executor(Fuser fuser, Executor executor);

/// Returns LibTorch's current switches: "profiling executor on, profiling mode on, fuse on CPU off, …".
std::string executor_in_force();

}  // namespace torchstone::fastrnns
