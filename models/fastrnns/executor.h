#pragma once
#include <string>

namespace torchstone::fastrnns {

/// Which fuser and executor of TorchScript run scripts, as fastrnns' --fuser and --executor say.
enum class Fuser { te, old, none, untouched };
enum class Executor { profiling, simple, legacy, untouched };

/// Sets LibTorch's switches for this process and its children (upstream's fastrnns/fuser.py). An executor other than
/// `untouched` overrides the executor that the fuser implies.
void set_executor(Fuser fuser, Executor executor);

/// The switches as LibTorch reports them: "profiling executor on, profiling mode on, fuse on CPU off, …".
std::string executor_in_force();

}  // namespace torchstone::fastrnns
