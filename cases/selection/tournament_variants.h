#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <torchstone/case.h>

#include "cases/settings/axes.h"
#include "cases/settings/flags.h"
#include "cases/settings/yaml.h"

namespace torchstone::selection {

/// How a variant of a model's file is shipped, as `ship` in a file of variants writes it, with placeholders:
/// {program} (Python that loads the file as an exported program, on the device of the case), {file}, {scripted} (the
/// file of TorchScript, which `exported` writes), {name} (of the model), {label} (of the backend), {device} and
/// {options} (a Python dict). A text that is empty is not known.
struct ShippingLines {
  std::string exported;  ///< a command, where the model is a .pt2 of torch.export.save
  std::string script;    ///< a command, where it is TorchScript
  std::string code;      ///< the line of C++ that loads what the command made, or the file itself
};
/// Throws ConfigError.
ShippingLines read_shipping(const config::Yaml& node);

/// What ships a variant; where it is not known, why.
struct Shipping {
  std::string command, code, why_none;
};
/// `lines`: by backend (`torchscript`), or by backend and options, which comes first. The lines are those of inference
/// in float32; a file's quotes and backslashes are escaped for the shell, Python and C++.
Shipping shipping_of(const std::map<std::string, ShippingLines>& lines, const Case& c, const std::string& file);

/// What a tournament tries.
struct Variants {
  config::Choices<BackendSpec> backends;
  /// By the place of a backend in the file (config::origin_of): the kinds of device that it is for, "cpu" or "cuda".
  /// Those that are not here are for all.
  std::map<std::string, std::vector<std::string>> devices;
  std::map<std::string, ShippingLines> shipping;  ///< by backend (`torchscript`), or by backend and options
};

/// Reads a file of variants; an empty path means the program's own, `tournament/variants.yaml` beside the suites.
/// Backends of `registered` that it neither lists nor leaves out join without options: those of plug-ins. Backends that
/// its `ship` does not name have the shipping lines of the program's own file. Throws ConfigError.
Variants read_variants(const std::string& file, const std::vector<std::string>& registered);

/// Why the file of variants leaves this case out: it has the variant for other devices; empty when it does not, or when
/// the variant is not from the file.
std::optional<std::string> left_out(const Variants& variants, const Case& c);

/// Makes the flags those of a tournament: the check `tournament`, eager and all variants (or the backends that are
/// given), and inference in float32 unless something else is asked for. Throws ConfigError for flags that it does not
/// go with.
void select_tournament(flags::Flags& flags);

}  // namespace torchstone::selection
