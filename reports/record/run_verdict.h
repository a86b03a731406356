#pragma once
#include <string>

#include <torchstone/run_info.h>

namespace torchstone {

/// What the run ended with. Where no run recorded it (merged results, a killed run), what follows from the results.
int exit_code_of(const Report& report);
/// What an exit code of torchstone means: "an accuracy or speed-up gate failed".
std::string exit_words(int code);
/// The same of this run: its own words where it has some.
std::string exit_words_of(const Report& report);

/// Why a case is as it is, a line each: what is worse than the baseline, the outcome's reason, why its speed-up says
/// too little. May be empty.
std::string reason_of(const Result& result);

/// What the baseline says against a case that it makes red: "worse than the baseline", "gone since the baseline",
/// "another model than the baseline's". Empty for all other cases.
std::string baseline_verdict_words(const Result& result);

/// The facts of this run's comparison, one sentence each; empty without --torchstone_baseline.
std::vector<std::string> baseline_lines(const RunInfo& run);
/// The command that shows the comparison again by which this case is red; empty for all other cases.
std::string comparison_again(const RunInfo& run, const Result& result);

}  // namespace torchstone
