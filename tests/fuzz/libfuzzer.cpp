// libFuzzer's entry point. TORCHSTONE_FUZZ_TARGET names the target that the program is built for.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto& target = torchstone::fuzz::target_of(TORCHSTONE_FUZZ_TARGET);
  target.read(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
