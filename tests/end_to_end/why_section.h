#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {

/// The section "why" of a page, and the paths of the files that it links to.
struct WhySection {
  std::string text;
  std::vector<std::filesystem::path> files;
};

inline WhySection why_section(const std::filesystem::path& page) {
  const std::string text = read_file(page.string());
  const auto begin = text.find("<section id=why>");
  if (begin == std::string::npos) return {};
  WhySection why{text.substr(begin, text.find("</section>", begin) - begin), {}};
  const std::string mark = "href=\"./";
  for (auto at = why.text.find(mark); at != std::string::npos; at = why.text.find(mark, at)) {
    at += mark.size();
    why.files.push_back(page.parent_path() / why.text.substr(at, why.text.find('"', at) - at));
  }
  return why;
}

/// Expects that the page names the smallest wrong part and that the linked files exist.
inline void expect_why(const std::filesystem::path& page) {
  const WhySection why = why_section(page);
  EXPECT_THAT(why.text, testing::HasSubstr("<tr><th>smallest part<td>aten::t → v3 float32[")) << page;
  EXPECT_THAT(why.text, testing::HasSubstr("<tr><th>first wrong value<td>")) << page;
  EXPECT_GE(why.files.size(), 4U) << page;
  for (const auto& file : why.files) EXPECT_TRUE(std::filesystem::exists(file)) << file;
}

}  // namespace torchstone
