#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace torchstone::fuzz {

/// A parser of untrusted input. `read` passes it arbitrary bytes, and returns if the parser accepts them or throws the
/// error that its header documents. Any other exception, a crash, a hang or a sanitizer report is a fault.
struct Target {
  std::string_view name;
  void (*read)(const std::string& bytes);
};

/// Returns the targets in reports/: tables, results, case records, holder files, histories.
const std::vector<Target>& reports_targets();
/// Returns the targets in models/formats: pickles, archives, safetensors.
const std::vector<Target>& formats_targets();
/// Returns the targets in cases/ and fixtures/: YAML, flags, batch sizes, lines that child processes write.
const std::vector<Target>& cases_targets();

/// Returns all targets that the program was built with.
const std::vector<Target>& targets();
/// Returns the target of this name. Throws std::invalid_argument with the known names if there is none.
const Target& target_of(std::string_view name);

}  // namespace torchstone::fuzz
