#pragma once
#include <optional>
#include <string>
#include <vector>

#include <torchstone/result.h>

#include "reports/judge/baseline.h"
#include "reports/judge/history.h"
#include "reports/judge/tournament_ranking.h"

namespace torchstone::html {

/// Both distributions on one axis, the run order, and the ratio of each round with the requirement. Empty without
/// samples. Series longer than `max_points` are drawn as medians of neighbours, and say so.
std::string timing_figures(const Result& result, size_t max_points, bool with_run_order);
/// Capture, compile, load and first call as one bar.
std::string stages_figure(const Result& result);
/// Peak memory of both sides.
std::string memory_figure(const Result& result);
/// The loss of each training step, eager's as a thin line on compiled's thick one. Empty below three steps, which are
/// no curve.
std::string loss_figure(const Result& result, size_t max_points);
/// The speed-up of a program of dynamic sizes at each batch that was timed, with its interval, and that of the static
/// programs. Empty below two batches.
std::string dynamic_figure(const Result& result);
/// Where the errors lie between nothing and everything, on a logarithmic axis, with the tolerance.
std::string tolerance_figure(const Result& result);

/// Speed-up with its interval, on an axis that all rows of the table share.
std::string interval_bar(const Result& result);
/// The error as a part of its limit.
std::string error_bar(double error_of_limit);
/// The level of a metric over the runs, and where it shifted.
std::string sparkline(const std::vector<double>& series, const std::optional<judge::ChangePoint>& step);

}  // namespace torchstone::html

// Markup; empty where there is nothing to draw. Variants have the numbers of their places.

namespace torchstone::html {

/// Speed-ups against eager as bars with their simultaneous intervals, on a logarithmic scale, the fastest on top.
std::string speed_bars(const judge::Tournament& tournament);
/// Time against each further criterion, one plot each. Variants on the front are filled.
std::string front_plots(const judge::Tournament& tournament);

}  // namespace torchstone::html
