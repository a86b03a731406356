// fuzz_replay TARGET FILE…: passes each file to the target. Works with any compiler, and with afl-fuzz
// (`fuzz_replay csv @@`). A fault ends the program with its exception or signal.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "tests/fuzz/target.h"

namespace {

const torchstone::fuzz::Target* target_named(const char* name) {
  try {
    return &torchstone::fuzz::target_of(name);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return nullptr;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: fuzz_replay TARGET FILE...\n");
    return 2;
  }
  const auto* target = target_named(argv[1]);
  if (target == nullptr) return 2;
  for (int i = 2; i < argc; ++i) {
    std::ifstream stream(argv[i], std::ios::binary);
    if (!stream) {
      std::fprintf(stderr, "%s: cannot be read\n", argv[i]);
      return 2;
    }
    target->read({std::istreambuf_iterator<char>(stream), {}});
  }
}
