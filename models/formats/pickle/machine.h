#pragma once
#include <cstdint>
#include <string_view>

#include "models/formats/pickle/globals.h"

namespace torchstone::formats::pickle {

/// Interprets the instructions of a pickle (protocols 2 to 5) and returns its value. Nothing of the file is executed:
/// an instruction can only make containers and plain values, and call the functions of globals.h. Throws PickleError
/// naming the byte. `file_bytes`: of the archive, which limits what its tensors may come to (to_ivalue()).
c10::IValue unpickle(std::string_view bytes, const StorageLoader& loader, uint64_t file_bytes = 0);

}  // namespace torchstone::formats::pickle
