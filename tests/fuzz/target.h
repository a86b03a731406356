#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace torchstone::fuzz {

/// A reader of what others write. `read` gives it any bytes: it returns, whether they were taken or refused with the
/// error that its header promises. Any other exception, a crash, a hang or a finding of a sanitizer is a fault.
struct Target {
  std::string_view name;
  void (*read)(const std::string& bytes);
};

/// Of reports/: tables, results, records, holders, histories.
const std::vector<Target>& reports_targets();
/// Of models/formats: pickles, archives, safetensors.
const std::vector<Target>& formats_targets();
/// Of cases/ and fixtures/: YAML, flags, batch sizes, the lines of children.
const std::vector<Target>& cases_targets();

/// All of those that the program was built with.
const std::vector<Target>& targets();
/// Throws std::invalid_argument with the known names.
const Target& target_of(std::string_view name);

}  // namespace torchstone::fuzz
