#include "models/formats/pickle/machine.h"

#include <stdexcept>

#include <fmt/format.h>

#include "models/formats/pickle/instructions.h"
#include "models/formats/pickle/opcodes.h"
#include "models/formats/pickle/pickle.h"

namespace torchstone::formats::pickle {
namespace {

/// One instruction; false at the last.
bool step(Machine& m) {
  const auto opcode = m.bytes.number<uint8_t>();
  if (opcode == STOP) return false;
  if (!instructions()[opcode])
    throw std::invalid_argument(fmt::format("opcode 0x{:02x} is not expected in a file of torch.save", opcode));
  instructions()[opcode](m);
  return true;
}

}  // namespace

c10::IValue unpickle(std::string_view bytes, const StorageLoader& loader, uint64_t file_bytes) {
  Machine machine{ByteReader(bytes), loader};
  size_t position = 0;
  try {
    do position = machine.bytes.position();
    while (step(machine));
    return to_ivalue(*machine.stack.pop(), file_bytes);
  } catch (const c10::Error& error) {
    throw PickleError(fmt::format("data.pkl, byte {}: {}", position, error.what_without_backtrace()));
  } catch (const std::invalid_argument& error) {
    throw PickleError(fmt::format("data.pkl, byte {}: {}", position, error.what()));
  }
}

}  // namespace torchstone::formats::pickle
