#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <torchstone/case.h>

#include "cases/settings/flags.h"
#include "cases/settings/yaml.h"

namespace torchstone::selection {

/// Instructions for shipping a variant of a model's file, from `ship` in a file of variants. Empty texts are unknown.
/// Placeholders:
/// {program}   Python that loads the file as an exported program, on the device and in the dtype of the case
/// {file}      the model's file
/// {scripted}  the TorchScript file that `make` or `exported` writes
/// {name}      name of the model
/// {label}     label of the backend
/// {device}    device of the case
/// {options}   options of the backend, as a Python dict
struct ShippingLines {
  std::string exported;  ///< command for a .pt2 of torch.export.save
  std::string script;    ///< command for a TorchScript file
  std::string code;      ///< line of C++ that loads the result of the command, or the file itself
  std::string make;      ///< Python code to use instead of the command `exported`
  std::string python;    ///< line of Python that binds `model` to what `code` loads
};

/// Command and code that ship a variant, or the reason why they are unknown.
struct Shipping {
  std::string command{}, code{}, why_none{};
  std::string make{}, python{};  ///< Python that the command runs, and Python that loads its result; empty: unknown
  std::string program{};         ///< Python that loads the shipped exported program
};
/// Fills in the placeholders for a case. Keys of `lines` are backends (`torchscript`), or backends with options, which
/// have priority. The lines apply to inference only. For another dtype than the file's, the exported program is cast
/// and exported again for the sizes of its example inputs; a TorchScript file cannot be shipped then. Escapes quotes
/// and backslashes for the shell, Python and C++.
Shipping shipping_of(const std::map<std::string, ShippingLines>& lines, const Case& c, const std::string& file);

/// Variants of a tournament.
struct Variants {
  config::Choices<BackendSpec> backends;
  /// Kinds of device ("cpu", "cuda") that a backend is limited to, by its place in the file (config::origin_of).
  std::map<std::string, std::vector<std::string>> devices;
  std::map<std::string, ShippingLines> shipping;  ///< by backend (`torchscript`), or by backend and options
};

/// Reads a file of variants. An empty path means the program's own, `tournament/variants.yaml` next to the suites. Adds
/// each backend of `registered` that the file neither lists nor excludes, without options, for example those of
/// plug-ins. Backends without a `ship` entry get the program's own shipping lines. Throws ConfigError.
Variants read_variants(const std::string& file, const std::vector<std::string>& registered);

/// Tells why the file of variants excludes this case, namely that it limits the variant to other devices. Empty if it
/// does not, or if the variant is not from the file.
std::optional<std::string> exclusion(const Variants& variants, const Case& c);

/// Changes torch_compile's cases of a tournament to the check performance, which times them against eager in the same
/// Python process.
void time_separately(std::vector<Case>& cases);

/// Sets the flags of a tournament: the check `tournament`, eager, and all variants or the given backends. Defaults to
/// inference in float32. Throws ConfigError for flags that a tournament does not support.
void select_tournament(flags::Flags& flags);

}  // namespace torchstone::selection
