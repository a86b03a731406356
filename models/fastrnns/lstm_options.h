#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <torchstone/model_info.h>

namespace torchstone::fastrnns {

/// Of all recurrent benchmarks.
inline constexpr const char* family = "lstm";

/// Sizes of the recurrent benchmarks; the batch size is that of the case.
struct RecurrentSizes {
  int64_t steps, layers, input, hidden;
};

/// Sizes that replace those of the preset; an empty member replaces nothing.
struct RecurrentFlags {
  std::optional<int64_t> steps, layers, input, hidden;
};
/// Set once in main, before a model is made; children inherit it.
RecurrentFlags& recurrent_flags();

/// full: upstream's defaults (fastrnns/bench.py: 100 steps, 1 layer, 512, 512); mini: 5 steps, 1 layer, 16, 16.
RecurrentSizes recurrent_sizes(Preset preset);

/// Which fuser and executor of TorchScript run scripts, as fastrnns' --fuser and --executor say.
enum class Fuser { te, old, none, untouched };
enum class Executor { profiling, simple, legacy, untouched };

/// Sets LibTorch's switches for this process and its children (upstream's fastrnns/fuser.py). An executor other than
/// `untouched` overrides the executor that the fuser implies.
void set_executor(Fuser fuser, Executor executor);

/// The switches as LibTorch reports them: "profiling executor on, profiling mode on, fuse on CPU off, …".
std::string executor_in_force();

}  // namespace torchstone::fastrnns
