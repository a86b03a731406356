#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cases/config/axes.h"
#include "cases/flags/flags.h"
#include "cases/selection/shipping.h"

namespace torchstone::selection {

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
