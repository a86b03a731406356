#pragma once
#include <optional>
#include <string>

#include <torchstone/model_info.h>

#include "cases/settings/flags.h"

namespace torchstone {

/// A model of --torchstone_only that a Python process runs.
struct PythonModel {
  std::string source;         ///< as ModelInfo::python has it, with an absolute path
  std::string name;           ///< name of the class, the function or the package's model; letters, digits and _
  std::string not_trained{};  ///< why it cannot be trained, as ModelInfo::not_trained has it
  std::optional<UpstreamModel> upstream{};  ///< set for a whole model of a package
  std::string file{};                       ///< set for `path:FILE.py,class:NAME`
};

/// Returns the Python model that `only` names. It is `path:FILE.py,class:NAME`, as in PyTorch's harness, or
/// `module:PACKAGE.MODULE:FUNCTION_OR_CLASS`. With --torchstone_subject=python it is SOURCE:NAME of a package, or a
/// part of generation, `transformers:CLASS,part=PART`. Empty for any other text. Throws ConfigError for a file that
/// does not exist, and for a text of another form.
std::optional<PythonModel> python_model_of(const config::Choice<std::string>& only, flags::SubjectKind subject);

/// Registers that model and replaces `only`, a value of --torchstone_only, by its name. Returns whether `only` names a
/// Python model. Throws like the function above.
bool register_python_model(config::Choice<std::string>& only, flags::Flags& flags);

}  // namespace torchstone
