#pragma once
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "tests/temporary_folder.h"

namespace torchstone {

/// A locale that writes numbers as 1.234,5. libc's localedef builds it, so no such locale has to be installed.
class CommaLocale {
 public:
  CommaLocale() {
    std::ofstream(folder_.path() / "source")
        << "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n";
    std::ofstream(folder_.path() / "charmap") << ascii();
    // localedef warns about the categories that the source lacks, and therefore exits with code 1.
    const std::string command = "localedef --force --no-archive -f " + (folder_.path() / "charmap").string() + " -i " +
                                (folder_.path() / "source").string() + " " + (folder_.path() / name()).string() +
                                " > /dev/null 2>&1";
    const int ignored = std::system(command.c_str());
    if (!std::filesystem::exists(folder_.path() / name() / "LC_NUMERIC"))
      throw std::runtime_error("localedef, a program of libc, made no locale: " + std::to_string(ignored));
  }

  /// Returns the value for LOCPATH.
  std::string folder() const { return folder_.path().string(); }
  /// Returns the value for LC_ALL.
  static std::string name() { return "xx_XX"; }

 private:
  /// Returns an ASCII character map. localedef needs one, and not every system has one installed.
  static std::string ascii() {
    std::string text = "<code_set_name> ASCII\n<escape_char> /\nCHARMAP\n";
    for (int code = 0; code < 128; ++code) {
      std::array<char, 32> line{};
      std::snprintf(line.data(), line.size(), "<U%04X> /x%02x A\n", code, code);
      text += line.data();
    }
    return text + "END CHARMAP\n";
  }

  TemporaryFolder folder_;
};

}  // namespace torchstone
