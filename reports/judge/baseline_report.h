#pragma once
#include <string>
#include <vector>

#include "reports/judge/baseline.h"

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
/// What makes a case worse: "speed-up 1.300x → 1.040x (-20.00 % [-21.50 -18.40])", or "pass → unsupported" of a lost
/// one.
std::string worse_words(const CaseChange& change);
/// A row for every metric of every case, a row of metric `status` for every case.
std::string write_comparison_csv(const BaselineComparison& comparison);
/// Schema "torchstone/comparison/1", everything.
std::string write_comparison_json(const BaselineComparison& comparison);

/// Why the comparison could not be made, in the words of every headline and error: the cases of exit_code_of() 2 and 3.
/// Empty where it was made.
std::string refusal_words(const BaselineComparison& comparison);

/// The words of default_fail_on(), with commas: "slower,gone,different_model".
std::string default_fail_on_words();
/// What makes a comparison red unless the user says otherwise: SLOWER, GONE of a case that is lost, DIFFERENT MODEL.
const std::vector<Change>& default_fail_on();
/// {"slower", "gone"} → its changes; without a word default_fail_on(). Throws std::invalid_argument for another word
/// than slower, faster, ambiguous, new, gone, different_model.
std::vector<Change> parse_fail_on(const std::vector<std::string>& words);

/// Of `torchstone-report compare` and of a run with a baseline: 2 when timings were refused because of the machine, 3
/// when no case was compared, 1 when the status of a case is worse or its change is one of `fail_on`; 0 otherwise. A
/// case that is GONE counts only when it is lost.
int exit_code_of(const BaselineComparison& comparison, const std::vector<Change>& fail_on = default_fail_on());

/// Why exit_code_of() is 1, one sentence for each kind: "2 cases are worse than the baseline", "1 case of the baseline
/// is gone: NAME", "1 case is another model than the baseline's: NAME". Empty where none is red.
std::vector<std::string> red_sentences(const BaselineComparison& comparison,
                                       const std::vector<Change>& fail_on = default_fail_on());

}  // namespace torchstone::judge
