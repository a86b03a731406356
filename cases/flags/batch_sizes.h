#pragma once
#include <map>
#include <string>

#include "cases/config/axes.h"

namespace torchstone::flags {

/// Model → batch size, and the line that says so.
using BatchSizes = std::map<std::string, config::Choice<int64_t>>;

/// A file with a line `NAME,SIZE` for each model, as upstream's --batch-size-file takes; empty lines and what follows a
/// `#` are passed over. Throws ConfigError with file and line, also for more than 1 MiB.
BatchSizes read_batch_sizes(const std::string& file);
/// The same for a text; `file` is named in errors.
BatchSizes parse_batch_sizes(const std::string& text, const std::string& file);

}  // namespace torchstone::flags
