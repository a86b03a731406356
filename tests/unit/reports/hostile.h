#pragma once
#include <string>
#include <vector>

#include <torchstone/run_info.h>

namespace torchstone {

/// Texts that no format may show raw: terminal sequences, NUL, line breaks, markup, formulas, workflow commands, right
/// to left overrides, broken UTF-8. Each begins with another one of them.
std::vector<std::string> texts_to_escape();

/// Results that every writer has something to say about, with the text in every field, and as key and value of every
/// map. Two reports of texts with as many lines have the same form.
Report report_of(const std::string& text);

}  // namespace torchstone
