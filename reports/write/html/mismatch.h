#pragma once
#include <string>

namespace torchstone::html {

/// The mismatch report of a comparison as markup. Lines whose columns are two or more spaces apart become tables, other
/// lines text. At most `limit` bytes of the report are shown.
std::string mismatch_tables(const std::string& report, size_t limit);

}  // namespace torchstone::html
