#pragma once
#include "models/formats/exported/program.h"

namespace torchstone::formats::exported {

/// Makes the rate of a step that drops in training an argument that the model may change, and counts in `program` such
/// steps and the arguments that follow the model's dtype.
void mark_changeable(Step& step, Program& program);

}  // namespace torchstone::formats::exported
