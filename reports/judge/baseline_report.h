#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "reports/judge/baseline.h"

namespace torchstone::judge {

/// Returns the comparison as text: differences of the machines, blocks of cases, and one line of counts. A block has
/// one line per metric. SAME cases are shown only with `all`; the worst come first. Marks are as in the console:
/// "!" worse, "*" better, "~" ambiguous, "+" more, "-" less, "x" not compared.
std::string write_comparison(const BaselineComparison& comparison, bool all = false);
/// Returns "16 cases: 0 BROKEN, 1 SLOWER, …".
std::string counts_line(const BaselineComparison& comparison);
/// Returns remarks on the comparison, one sentence each: notes, differences of the machines, skipped timings.
std::vector<std::string> comparison_remarks(const BaselineComparison& comparison);
/// Returns "noisy in the baseline", "noisy now" or "noisy in both"; empty for a case that is noisy in neither.
std::string noisy_words(const CaseChange& change);
/// Returns which metrics make a case red: "speed-up 1.300x → 1.040x (-20.00 % [-21.50 -18.40], SLOWER)". For a lost
/// case "pass → unsupported". Without such a metric, the change of the case.
std::string red_words(const CaseChange& change, const std::vector<Change>& fail_on);
/// Returns the change of a metric: "SLOWER", and for a timing that changed by far "SLOWER, at least 1.8 times slower".
std::string change_words(const MetricChange& change);
/// Returns how a case is worse: "at least 1.8 times slower than the baseline: speed-up 4.000x → 1.000x (…)", or "worse
/// than the baseline: " and red_words().
std::string worse_words(const CaseChange& change, const std::vector<Change>& fail_on);
/// Returns "different model: its program is not the baseline's"; empty for the same model.
std::string other_model_words(const CaseChange& change);
/// Returns the title of a metric, or its key if the metric table lacks it.
std::string metric_title(const std::string& key);
/// Returns "speed-up 1.300x → 1.040x".
std::string values_words(const MetricChange& change);
/// Writes a row for every metric of every case, and a row of metric `status` for every case.
std::string write_comparison_csv(const BaselineComparison& comparison);
/// Writes everything in the schema "torchstone/comparison/1".
std::string write_comparison_json(const BaselineComparison& comparison);

/// Returns why the comparison was impossible (exit codes 2 and 3 of exit_code_of()), for headlines and errors. Empty if
/// it was possible.
std::string refusal_words(const BaselineComparison& comparison);

/// Returns the options of torchstone-report that compare the excluded timings nevertheless: "--other-torch".
std::string allowing_options(const BaselineComparison& comparison);
/// Returns how the excluded timings differ: "taken on different machines".
std::string exclusion_words(const BaselineComparison& comparison);
/// Returns "Another release of torch: 2.14.1 now, …", and whether timings are compared. Empty if both have the same.
std::string torch_words(const BaselineComparison& comparison);

/// Returns default_fail_on() as text: "slower,gone,different_model".
std::string default_fail_on_words();
/// Returns the changes that are red by default: SLOWER, GONE of a lost case, DIFFERENT MODEL.
const std::vector<Change>& default_fail_on();
/// Parses {"slower", "gone"}; an empty list is default_fail_on(). Throws std::invalid_argument for other words than
/// slower, faster, ambiguous, new, gone, different_model, more, less, fixed.
std::vector<Change> parse_fail_on(const std::vector<std::string>& words);

/// Whether a case is red: it is BROKEN, or `fail_on` names its change or the change of one of its metrics. With
/// different_model in `fail_on`, a case of another model is red too. GONE is red only for a lost case. Metrics that do
/// not count for the case (counts_for_case) never make it red.
bool fails(const CaseChange& change, const std::vector<Change>& fail_on);
/// Whether fails() is true for another reason than a worse status or a different model.
bool fails_by_change(const CaseChange& change, const std::vector<Change>& fail_on);
/// Whether `fail_on` names different_model and the model of the case is not the baseline's.
bool fails_as_other_model(const CaseChange& change, const std::vector<Change>& fail_on);
/// Whether a case is red because it is worse, and not only because `fail_on` names another change.
bool fails_as_worse(const CaseChange& change, const std::vector<Change>& fail_on);

/// Returns the exit code of `torchstone-report compare` and of a run with a baseline. It is 2 for timings of another
/// machine, 3 if no case was compared, 1 for a worse status or a change in `fail_on`, and otherwise 0. GONE counts only
/// for a lost case.
int exit_code_of(const BaselineComparison& comparison, const std::vector<Change>& fail_on = default_fail_on());

/// Returns why exit_code_of() is 1, one sentence for each kind: "1 case of the baseline is gone: NAME". The sentence
/// about worse cases names the first one and its reason. Empty if nothing is red.
std::vector<std::string> red_sentences(const BaselineComparison& comparison,
                                       const std::vector<Change>& fail_on = default_fail_on());

/// Whether any case is red because it is lost or has another model. A `fail_on` without these changes accepts it.
bool is_red_by_coverage(const BaselineComparison& comparison, const std::vector<Change>& fail_on);

}  // namespace torchstone::judge
