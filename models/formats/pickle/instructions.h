#pragma once
#include <array>

#include "models/formats/pickle/byte_reader.h"
#include "models/formats/pickle/globals.h"
#include "models/formats/pickle/stack.h"

namespace torchstone::formats::pickle {

/// What an instruction works on.
struct Machine {
  ByteReader bytes;
  const StorageLoader& loader;
  Stack stack{};
};
using Instruction = void (*)(Machine&);

/// What each opcode but STOP does; null for an opcode that torch.save does not write. An instruction throws
/// std::invalid_argument or c10::Error.
const std::array<Instruction, 256>& instructions();

}  // namespace torchstone::formats::pickle
