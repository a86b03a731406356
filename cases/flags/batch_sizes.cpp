#include "cases/flags/batch_sizes.h"

#include <sstream>

#include <fmt/format.h>

#include "reports/base/files.h"
#include "reports/base/text.h"

namespace torchstone::flags {
BatchSizes read_batch_sizes(const std::string& file) {
  constexpr size_t most = mebibyte;
  std::string text;
  try {
    text = read_at_most(file, most);
  } catch (const ReportError& error) {
    throw config::ConfigError(fmt::format("{} (expected a file with a line NAME,SIZE for each model)", error.what()));
  }
  return parse_batch_sizes(text, file);
}

BatchSizes parse_batch_sizes(const std::string& text, const std::string& file) {
  std::istringstream stream(text);
  BatchSizes sizes;
  config::Yaml value;
  value.kind = config::Yaml::Kind::scalar;
  value.file = file;
  for (std::string line; std::getline(stream, line);) {
    ++value.line;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto comma = line.find(',');
    const std::string name = trimmed(line.substr(0, comma));
    if (comma == std::string::npos || name.empty()) fail(value, fmt::format("'{}' (expected NAME,SIZE)", line));
    value.text = trimmed(line.substr(comma + 1));
    if (!sizes.try_emplace(name, config::Choice<int64_t>{integer_of(value, 1, 1'000'000), value}).second)
      fail(value, fmt::format("{} stands here twice", name));
  }
  return sizes;
}

}  // namespace torchstone::flags
