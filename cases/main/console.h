#pragma once
#include <string>
#include <vector>

#include <torchstone/run_info.h>

#include "cases/flags/flags.h"
#include "reports/console/progress.h"

namespace torchstone {

/// What each case took in the run before this one, from its reports in the results folder: what the estimate on the
/// terminal is made of. Empty when there are none, or when they are damaged: that costs the estimate and nothing else.
console::Durations earlier_durations(const flags::Flags& flags);

/// What a run of `selected` cases that was cut off leaves behind: "Interrupted: 3 of 12 selected cases were done; …".
std::string kept_line(const std::vector<Result>& results, size_t selected, const flags::Flags& flags);

/// Whether the console is coloured: by our flag, else by GoogleTest's, else as the environment and the terminal say.
/// GoogleTest is told, so that both agree.
bool settle_color(const flags::Flags& flags);

/// Annotations for the log of GitHub Actions, empty elsewhere unless --torchstone_github=always.
std::string annotations_of(const Report& report, const flags::Flags& flags);

}  // namespace torchstone
