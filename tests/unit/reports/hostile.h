#pragma once
#include <string>
#include <vector>

#include <torchstone/run_info.h>

namespace torchstone {

/// Returns texts that no format may show raw. Each has terminal sequences, NUL, line breaks, markup, formulas, workflow
/// commands, right-to-left overrides and invalid UTF-8. Each begins with a different one of these.
std::vector<std::string> texts_to_escape();

/// Returns a report that gives every writer something to write. The text is in every field, and is key and value of
/// every map. Two reports have the same form if their texts have the same number of lines.
Report report_of(const std::string& text);

}  // namespace torchstone
