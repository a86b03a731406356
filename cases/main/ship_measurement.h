#pragma once
#include <functional>
#include <string>
#include <string_view>

#include <torchstone/case.h>
#include <torchstone/model_info.h>

#include "cases/selection/tournament_variants.h"
#include "fixtures/core/run_options.h"
#include "reports/judge/tournament_ranking.h"

namespace torchstone {

/// Returns the text of cases/tournament/measure_shipped.py, which is part of the library.
std::string_view measure_shipped_source();

/// Returns why the example inputs of a model's file are not those that were timed; empty if they are.
std::string why_not_as_timed(const Case& c, const ModelInfo& file);

/// Makes the file that ships a variant, in a temporary folder, and measures it in a new Python process, as a user would
/// run it. Sets `shipped` of the entrant, or `why_not_measured`. `threads`: torch's number of threads, 0 for its
/// choice. `limit_s`: time limit for all steps. Calls `on_step` with the current step many times a second, to show
/// progress.
void measure_shipped(const selection::Shipping& shipping, const RunOptions& options, int threads, double limit_s,
                     const std::function<void(std::string_view)>& on_step, judge::Entrant& entrant);

/// Reads a reply of measure_shipped.py into the entrant: the bytes, then the measurements. Returns whether the step
/// succeeded; otherwise sets `why_not_measured`.
bool read_shipped(const std::string& reply, judge::Entrant& entrant);

}  // namespace torchstone
