#pragma once
#include "models/formats/exported/argument_reader.h"

namespace torchstone::formats::exported {

/// The call of an operator, its arguments in the order of its schema: those that the node leaves out have the schema's
/// defaults, and a tensor that is made without a device or dtype has those of the model. Throws std::invalid_argument
/// for an operator that is not there, for arguments that it does not have, and for those that it lacks.
Step call_of(const JsonPlace& node, const JsonPlace& graph, const Scope& scope, const Exported& exported);

/// Remembers in `program` a step that says by its arguments that the program was exported in train or eval mode.
void note_mode(const Step& step, Program& program);

}  // namespace torchstone::formats::exported
