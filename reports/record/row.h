#pragma once
#include <string>

#include <torchstone/result.h>

namespace torchstone {

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
