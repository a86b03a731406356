#pragma once
#include <string>

#include "models/formats/exported/json_place.h"

namespace torchstone::formats::exported {

/// Where a node was written in the user's Python, from the `stack_trace` of its metadata: "model.py:12: x = y.item()".
/// The last line of the trace that lies in a file outside PyTorch; empty when the node has none.
std::string source_place(const JsonPlace& node);

/// The node for messages: operator, name and place in the user's source.
std::string node_name(const JsonPlace& node);

/// Throws std::invalid_argument that says what to do about a target that cannot be run: a higher-order operator, or an
/// operator that LibTorch does not know.
[[noreturn]] void refuse_target(const JsonPlace& node);

/// Throws std::invalid_argument when what the node returns has a size or a value that depends on the values of tensors
/// (an unbacked symbol). `graph` holds the descriptions of its values.
void refuse_unbacked(const JsonPlace& node, const JsonPlace& graph);

}  // namespace torchstone::formats::exported
