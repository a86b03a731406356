#pragma once
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/ivalue.h>

#include "models/formats/exported/json_place.h"

namespace torchstone::formats::exported {

/// The structure of what forward takes or returns (a TreeSpec of torch.utils._pytree).
struct TreeSpec {
  enum class Kind { leaf, tuple, list, dict };
  Kind kind = Kind::leaf;
  std::string type{};               ///< Python's name of it: builtins.dict, transformers.….ModelOutput
  std::vector<c10::IValue> keys{};  ///< of a dict: text or integers, all of one kind, each once
  std::vector<TreeSpec> children{};

  size_t leaves() const;
};

/// Reads the text of a TreeSpec. A named tuple, a dataclass and any other class that was registered with the names of
/// its fields is a dict; one without them is a tuple. `fields` holds those of named tuples
/// (`treespec_namedtuple_fields`).
TreeSpec read_tree_spec(const JsonPlace& text, const std::optional<JsonPlace>& fields);

/// The leaves of `value`, in the order of the spec. Throws std::invalid_argument where `value` is built otherwise.
std::vector<c10::IValue> leaves_of(const c10::IValue& value, const TreeSpec& spec);
/// The tree with these leaves; as many as the spec has.
c10::IValue tree_of(const TreeSpec& spec, const std::vector<c10::IValue>& leaves);

}  // namespace torchstone::formats::exported
