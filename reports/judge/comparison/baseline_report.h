#pragma once
#include <string>
#include <vector>

#include "reports/judge/comparison/baseline.h"

namespace torchstone::judge {

/// For people: what differs between the machines, a block for every case that is not SAME (for all with `all`), worst
/// first, with a line a metric, and one line that counts. Marks as in the console: "!" worse, "*" better, "~"
/// ambiguous, "x" not compared.
std::string write_comparison(const BaselineComparison& comparison, bool all = false);
/// "16 cases: 0 BROKEN, 1 SLOWER, …"
std::string counts_line(const BaselineComparison& comparison);
/// What the comparison means as a whole, one sentence each: its notes, differences of the machines, what was left out.
std::vector<std::string> remarks_of(const BaselineComparison& comparison);
/// "noisy in the baseline", "noisy now" or "noisy in both"; empty for a case that is noisy in neither.
std::string noisy_words(const CaseChange& change);
/// What makes a case SLOWER: "speed-up 1.300x → 1.040x (-20.00 % [-21.50 -18.40])".
std::string worse_words(const CaseChange& change);
/// A row for every metric of every case, a row of metric `status` for every case.
std::string write_comparison_csv(const BaselineComparison& comparison);
/// Schema "torchstone/comparison/1", everything.
std::string write_comparison_json(const BaselineComparison& comparison);

/// Why the comparison could not be made, in the words of every headline and error: the cases of exit_code_of() 2 and 3.
/// Empty where it was made.
std::string refusal_words(const BaselineComparison& comparison);

/// "slower,gone" → its changes. Throws std::invalid_argument for another word than slower, faster, ambiguous, new,
/// gone.
std::vector<Change> parse_fail_on(const std::vector<std::string>& words);

/// Of `torchstone-report compare` and of a run with a baseline: 2 when timings were refused because of the machine, 3
/// when no case is on both sides, 1 when the status of a case is worse or its change is one of `fail_on`; 0 otherwise.
int exit_code_of(const BaselineComparison& comparison, const std::vector<Change>& fail_on = {Change::slower});

}  // namespace torchstone::judge
