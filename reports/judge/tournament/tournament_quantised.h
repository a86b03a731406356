#pragma once
#include <string>
#include <vector>

#include "reports/judge/tournament/tournament.h"

namespace torchstone::judge {

/// What a reader must know where a judged tournament has timed variants with an error budget of their own (the note
/// `judged_by` of their rows): a sentence for each, and, where one of them is among the fastest, which is the fastest
/// of the others. `standings`: the fastest first.
std::vector<std::string> doubts_of_quantised(const std::vector<Standing>& standings);

}  // namespace torchstone::judge
