#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/verdict.h"
#include "reports/write/html/page.h"

namespace torchstone::html {

/// One case of the page.
struct CaseView {
  const Result* result;
  std::string id;  ///< anchor on the page
  Verdict verdict;
  const judge::CaseChange* change = nullptr;  ///< since the baseline; null without one
  bool urgent = false;                        ///< is in View::attention
};

/// How much of each case is shown: the more cases, the less.
struct Fineness {
  size_t max_points = 200;  ///< in the figure of a series
  bool all_metrics = true;  ///< whether cases that are not urgent list metrics without a figure
  bool run_order = true;    ///< whether cases that are not urgent show both sides in run order
};

/// The input of all sections.
struct View {
  const Report& report;
  const write::PageOptions& options;
  std::vector<CaseView> cases;      ///< all, in the order of the report
  std::vector<CaseView> attention;  ///< worse than the baseline, then unexpected, then undecided
  Facts common_notes;               ///< notes with the same text in all cases that have them
  Fineness fineness;
  size_t max_text;  ///< largest size of one text, in bytes
};
/// Keeps references to its arguments.
View view_of(const Report& report, const write::PageOptions& options, const Fineness& fineness);

/// A symbol, which can be read without colour, and a CSS class.
struct Look {
  std::string_view symbol, css_class;
};
Look look_of(const Verdict& verdict);
Look look_of(judge::Change change);
/// Returns why a case has another symbol than its status suggests: ", noisy", ", worse than the baseline", ", as
/// expected".
std::string qualifier_of(const CaseView& c);
/// Returns symbol and status: "✗ fail_accuracy".
std::string chip(const CaseView& c);
/// Returns the change of the case in a few words: "▼ SLOWER speed-up -31.2 %". Empty when SAME.
std::string change_text(const judge::CaseChange& change);

// Figures as markup; empty if there is nothing to draw. For a series of more than `max_points` values the figure has
// medians of neighbours, and its label says so.

/// Draws the distributions of both sides on one axis, the run order, and the ratio of each round with the requirement.
std::string timing_figures(const Result& result, size_t max_points, bool with_run_order);
/// Draws capture, compile, load and first call as one bar.
std::string stages_figure(const Result& result);
/// Draws the peak memory of both sides.
std::string memory_figure(const Result& result);
/// Draws the loss of each training step, eager's as a thin line on the thick one of compiled code. Empty below three
/// steps.
std::string loss_figure(const Result& result, size_t max_points);
/// Draws the speed-up of a program of dynamic sizes at each timed batch, with its interval, and the speed-up of the
/// static programs. Empty below two batches.
std::string dynamic_figure(const Result& result);
/// Draws the errors and the tolerance on a logarithmic axis, since errors of interest differ by powers of ten.
std::string tolerance_figure(const Result& result);
/// Draws the speed-up with its interval, on an axis that all rows of the table share.
std::string interval_bar(const Result& result);
/// Draws the error as a part of its limit.
std::string error_bar(double error_of_limit);
/// Draws a metric over the runs, and its change point.
std::string sparkline(const std::vector<double>& series, const std::optional<judge::ChangePoint>& step);

// The sections of the page, in its order. Each returns markup; empty when there is nothing to show.

std::string banner(const View& view);
/// Returns what the open cases are: "noisy", "undecided", or "undecided or noisy".
std::string_view open_words(const View& view);
std::string attention_section(const View& view);
std::string why_section(const View& view);
std::string cases_section(const View& view);
std::string suites_section(const View& view);
/// Heading of suites_section().
const char* suites_title(const std::vector<Result>& results);
std::string details_section(const View& view);
std::string baseline_section(const View& view);
std::string coverage_section(const View& view);
std::string run_section(const View& view);
/// `room`: bytes that the embedded results.json may take.
std::string data_section(const Report& report, size_t room);

}  // namespace torchstone::html
