#pragma once
#include <map>
#include <string>

#include <torchstone/case.h>

#include "cases/config/yaml.h"

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

}  // namespace torchstone::selection
