#pragma once
#include <map>
#include <string>

#include <torchstone/result.h>
#include <torchstone/run_info.h>
#include <torchstone/status.h>

namespace torchstone {

/// Returns whether memory ran out, in whichever phase.
inline bool is_out_of_memory(Status status) {
  return status == Status::OOM || status == Status::eager_1st_run_OOM || status == Status::eager_2nd_run_OOM;
}

/// Returns the recorded exit code. Without one (merged results, killed runs), computes it from the results.
int exit_code_of(const Report& report);
/// Whether the run reached its end, by its `exit_reason`. Merged results and a document of several releases of torch
/// count as complete.
bool is_complete(const RunInfo& run);
/// Returns the meaning of an exit code of torchstone: "a gate failed".
std::string exit_words(int code);
/// Returns the same for this run, which may have an explanation of its own.
std::string exit_words_of(const Report& report);

/// Returns the reasons for the verdict, one per line: the outcome's reason, the loss against the baseline, and why the
/// speed-up is noisy. The baseline precedes the outcome if the status is as expected. May be empty.
std::string reason_of(const Result& result);

/// Returns the notes as reports list them. They include fields that version 1 of results.json had as notes, under their
/// old names (`infrastructure`, `upstream_name`, `dynamic_timed`, and baseline_type()), and those of recorded_notes().
std::map<std::string, std::string> reported_notes(const Result& result);

/// Returns the type of failure of a case that the baseline makes red: "worse_than_baseline", "different_model" or
/// "changed_since_baseline".
const char* baseline_type(const Result& result);
/// Returns why the baseline makes a case red: "worse than the baseline", "gone since the baseline", "another model than
/// the baseline's" or "changed since the baseline". Empty for all other cases.
std::string baseline_verdict_words(const Result& result);

/// Returns the facts of this run's comparison, one sentence each; empty without --torchstone_baseline.
std::vector<std::string> baseline_lines(const RunInfo& run);
/// Returns the command that repeats the comparison that makes this case red; empty for all other cases.
std::string comparison_again(const RunInfo& run, const Result& result);

/// Returns the expected status and the bound of its error: "fail_accuracy up to 3×".
std::string expected_words(const Result& result);

/// Whether the status means that the answer is right but a limit is missed: on the speed-up, graph breaks, recompiles,
/// compile time or memory.
bool is_beyond_a_limit(Status status);

/// Returns the part of a name after its last slash.
std::string short_name(const std::string& name);

/// Returns the name as --gtest_filter takes it, without the claim:
/// "torchbench/Accuracy.*/resnet18_inference_float32_eager_cpu".
std::string filter_of(const std::string& name);
/// Returns the same in at most `width` columns, if possible. `*` replaces omitted parts, so it is still a filter.
std::string fitting_filter(const std::string& name, size_t width);

/// Returns numbers_line() after two spaces. "mini" precedes numbers of the mini preset, whose models are smaller than
/// the published ones. Empty without numbers.
std::string sized_numbers(const Result& result);

/// A verdict in one word, and a mark that is readable without colour (asv's):
///   ' '  as expected: PASS, XFAIL
///   '!'  unexpectedly bad: FAIL, ERROR, or by the baseline SLOWER, GONE, DIFFERENT MODEL, CHANGED
///   '*'  unexpectedly good: XPASS
///   '~'  UNSURE (undecided), or NOISY: the case passed, but its speed-up is noisy
///   'x'  SKIP
struct Verdict {
  std::string_view word;
  char mark;
};
Verdict verdict_of(const Result& result);

/// Returns the seconds of the compile, and the number of concurrent ones: "8.1 s (2 concurrent)". A row of compile_time
/// has "8.10 s (CPU 3.40 s [3.35 3.47]), warm 2.10 s (CPU 1.90 s [1.88 1.93])". Empty without a compile.
std::string compile_text(const Result& result);

/// Returns the measured numbers of a result in one line: "err 0.12×  1.43x [1.40 1.46]  compile 8.1 s". May be empty.
std::string numbers_line(const Result& result);

/// Returns a finished case as the console shows it, without a newline at the end. Its reason and the line that
/// reproduces it follow below a case that is not as expected. A known failure is followed by why it is expected. If the
/// row is wider than `width` columns, its name is a shorter filter. A `width` of 0 sets no limit.
std::string console_row(const Result& result, bool color, size_t width = 0);

}  // namespace torchstone
