#pragma once
#include <string>

namespace torchstone::html {

/// The mismatch report of the comparison, whose columns stand two or more spaces apart, as tables; lines without
/// columns as text. At most `limit` bytes of it.
std::string mismatch_tables(const std::string& report, size_t limit);

}  // namespace torchstone::html
