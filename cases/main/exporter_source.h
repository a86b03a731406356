#pragma once
#include <map>
#include <string>
#include <string_view>

namespace torchstone {

/// File names and texts of the exporter (cases/exporter/*.py), which is part of the library.
std::map<std::string, std::string> exporter_sources();

}  // namespace torchstone
