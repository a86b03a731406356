#pragma once
#include <string>

#include "models/formats/exported/archive.h"
#include "models/formats/exported/program.h"

namespace torchstone::formats::exported {

/// Reads and checks models/NAME.json. Throws std::invalid_argument with the place in it and what was expected: another
/// major version of the schema, values that are used before they are defined, operators and higher-order operators that
/// cannot be run, sizes that depend on values, custom objects.
Program read_program(Archive& archive, const std::string& name);
/// The same from the parsed record.
Program read_program(const JsonPlace& root);

}  // namespace torchstone::formats::exported
