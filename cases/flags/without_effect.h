#pragma once
#include <string>
#include <vector>

#include "cases/flags/flags.h"

namespace torchstone::flags {

/// Refuses a flag that was asked for and would do nothing: throws ConfigError with this message. Its environment twin,
/// which may be set for all runs, is no error: it is taken out of reproductions.
void refuse_without_effect(Flags& flags, const std::string& name, const std::string& message);

/// Refuses the flags that others, or their absence, leave without effect. What a tournament has no use for is refused
/// by selection::select_tournament().
void refuse_flags_without_effect(Flags& flags);

/// Refuses --torchstone_required_speedup where these cases are all and none of them is timed.
void refuse_speedup_without_timed_cases(Flags& flags, const std::vector<Case>& cases);

}  // namespace torchstone::flags
