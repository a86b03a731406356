#pragma once
#include <string_view>

#include "models/formats/pickle/globals.h"

namespace torchstone::formats::pickle {

/// Runs the pickle (protocols 2 to 5) and returns its value. Only containers, plain values and the names of the white
/// list exist; nothing of the file is executed. Throws PickleError naming the byte.
c10::IValue unpickle(std::string_view bytes, const StorageLoader& loader);

}  // namespace torchstone::formats::pickle
