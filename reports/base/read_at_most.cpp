#include "reports/base/read_at_most.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "reports/base/report_error.h"

namespace torchstone {

std::string read_at_most(const std::filesystem::path& path, size_t most) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw ReportError(path.string() + ": cannot be read (expected a regular file)");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw ReportError(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
  stream.seekg(0, std::ios::end);
  const auto size = static_cast<size_t>(stream.tellg());
  if (size > most) throw ReportError(fmt::format("{}: {} bytes (expected at most {})", path.string(), size, most));
  std::string text(size, '\0');
  stream.seekg(0);
  stream.read(text.data(), static_cast<std::streamsize>(size));
  if (stream.bad()) throw ReportError(path.string() + ": cannot be read");
  text.resize(static_cast<size_t>(stream.gcount()));
  return text;
}

}  // namespace torchstone
