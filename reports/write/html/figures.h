#pragma once
#include <optional>
#include <string>
#include <vector>

#include <torchstone/result.h>

#include "reports/judge/history.h"

// Figures as markup; empty where there is nothing to draw. A series of more than `max_points` values is drawn as
// medians of neighbours, and its label says so.

namespace torchstone::html {

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

}  // namespace torchstone::html
