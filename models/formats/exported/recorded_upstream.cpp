#include "models/formats/exported/recorded_upstream.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace torchstone::formats::exported {

std::optional<UpstreamModel> recorded_upstream(const JsonPlace& info, const std::string& file_name) {
  if (!info.has("suite")) return std::nullopt;
  const std::string suite = info.at("suite").text();
  if (suite != "torchbench" && suite != "timm" && suite != "huggingface")
    info.at("suite").fail(
        fmt::format("'{}', expected a suite of upstream's: torchbench, timm or huggingface", suite.substr(0, 100)));
  if (!info.has("source")) return UpstreamModel{suite, file_name};
  const std::string source = info.at("source").text();
  // Reports show the name.
  const auto is_control = [](unsigned char c) { return std::iscntrl(c) != 0; };
  if (source.size() > 200 || std::ranges::any_of(source, is_control))
    info.at("source").fail("expected SOURCE:NAME of at most 200 characters, without control characters");
  return UpstreamModel{suite, source.substr(source.find(':') + 1)};  // the whole text without a colon
}

}  // namespace torchstone::formats::exported
