#pragma once

namespace torchstone::statistics {

/// Whether both ends of the interval of a ratio say something: more than 0, and finite.
bool is_bounded(double low, double high);

/// Whether the interval of this ratio says too little: it has no bound on a side, or half of its width is over 25 % of
/// the ratio. The rule of records and of the processes that are measured.
bool is_too_wide(double ratio, double low, double high);

}  // namespace torchstone::statistics
