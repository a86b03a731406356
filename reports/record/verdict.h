#pragma once
#include <map>
#include <string>

#include <torchstone/result.h>
#include <torchstone/run_info.h>
#include <torchstone/status.h>

namespace torchstone {

/// Of whichever step.
inline bool is_out_of_memory(Status status) {
  return status == Status::OOM || status == Status::eager_1st_run_OOM || status == Status::eager_2nd_run_OOM;
}

/// What the run ended with. Where no run recorded it (merged results, a killed run), what follows from the results.
int exit_code_of(const Report& report);
/// What an exit code of torchstone means: "an accuracy or speed-up gate failed".
std::string exit_words(int code);
/// The same of this run: its own words where it has some.
std::string exit_words_of(const Report& report);

/// Why a case is as it is, a line each: what is worse than the baseline, the outcome's reason, why its speed-up says
/// too little. May be empty.
std::string reason_of(const Result& result);

/// Returns the notes as reports list them: those of the outcome, and, under the names that they had as notes, the
/// fields that say why a case is red, what upstream calls its model, and at which sizes it was timed.
std::map<std::string, std::string> reported_notes(const Result& result);

/// What the baseline says against a case that it makes red: "worse than the baseline", "gone since the baseline",
/// "another model than the baseline's". Empty for all other cases.
std::string baseline_verdict_words(const Result& result);

/// The facts of this run's comparison, one sentence each; empty without --torchstone_baseline.
std::vector<std::string> baseline_lines(const RunInfo& run);
/// The command that shows the comparison again by which this case is red; empty for all other cases.
std::string comparison_again(const RunInfo& run, const Result& result);

/// The part of a name that people read: what stands behind its last slash.
std::string short_name(const std::string& name);

/// The name as --gtest_filter takes it, without the claim:
/// "torchbench/Accuracy.*/resnet18_inference_float32_eager_cpu".
std::string filter_of(const std::string& name);
/// The same in at most `width` columns where it can be: what is left out is `*`, so that it is still a filter.
std::string fitting_filter(const std::string& name, size_t width);

/// numbers_line behind two spaces, with "mini" before the numbers of the mini preset: they are not those of the
/// published size. Empty without numbers.
std::string sized_numbers(const Result& result);

/// The verdict in one word and asv's mark, readable without colour: PASS, SKIP, FAIL, ERROR, XFAIL, XPASS, UNSURE,
/// SLOWER, GONE and MODEL (worse than, left out since, or another model than the baseline's), NOISY (it passed, and its
/// interval says too little); "!" unexpectedly bad, "*" unexpectedly good, "~" undecided or noisy, "x" not run, " " as
/// it should be.
struct Verdict {
  std::string_view word;
  char mark;
};
Verdict verdict_of(const Result& result);

/// Seconds of the compile, and where more went on at the same time how much: "8.1 s (2 beside)". Empty without one.
std::string compile_text(const Result& result);

/// The measured numbers of a result in one line: "err 0.12×  1.43x [1.40 1.46]  compile 8.1 s". May be empty.
std::string numbers_line(const Result& result);

/// One finished case on the console, without a newline at its end: the row, and below a case that is not as expected
/// its reason and the line that reproduces it. When the row is wider than `width` columns, its name is a shorter
/// filter; 0: as wide as it is.
std::string console_row(const Result& result, bool color, size_t width = 0);

}  // namespace torchstone
