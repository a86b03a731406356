#pragma once
#include <string_view>

#include "models/formats/pickle/globals.h"

namespace torchstone::formats::pickle {

/// Interprets the instructions of a pickle (protocols 2 to 5) and returns its value. Nothing of the file is executed:
/// an instruction can only make containers and plain values, and call the functions of globals.h. Throws PickleError
/// naming the byte.
c10::IValue unpickle(std::string_view bytes, const StorageLoader& loader);

}  // namespace torchstone::formats::pickle
