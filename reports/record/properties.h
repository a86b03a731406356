#pragma once
#include <string>
#include <utility>
#include <vector>

#include <torchstone/result.h>

namespace torchstone {

/// What a test records with RecordProperty, in order: the one channel from a test to every report.
using Properties = std::vector<std::pair<std::string, std::string>>;

/// Nothing is lost, and no key is one that GoogleTest reserves. The status is `accuracy` (upstream's word), a declared
/// metric is under its own key, others under `metric_KEY`, notes under `note_KEY`, series under `samples_KEY` (JSON).
/// Only a NUL byte changes, to \x00: GoogleTest hands values on as C strings.
Properties properties_of(const Result& result);

/// The reverse, on top of `start`; the last value of a key wins, keys that are not ours become notes. Throws
/// std::invalid_argument naming the property, its value and what was expected.
Result result_of(const Properties& properties, Result start = {});

/// Whether a Result was recorded: the `accuracy` property is there.
bool holds_result(const Properties& properties);

}  // namespace torchstone
