// What the model files promise as texts: short, and nothing written twice.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>

namespace torchstone {
namespace {

namespace fs = std::filesystem;
constexpr size_t max_file_lines = 250;  // lines of a model file
constexpr size_t block_lines = 6;       // lines that must not stand in two of them

struct Line {
  size_t number;
  std::string text;
};

/// Without indentation; blank lines, comments, includes and namespaces left out.
std::vector<Line> code_of(const fs::path& file, size_t& total) {
  std::vector<Line> lines;
  std::ifstream stream(file);
  std::string text;
  for (total = 0; std::getline(stream, text);) {
    ++total;
    text.erase(0, text.find_first_not_of(' '));
    const auto begins = [&](const char* start) { return text.starts_with(start); };
    if (!text.empty() && !begins("//") && !begins("#") && !begins("namespace")) lines.push_back({total, text});
  }
  return lines;
}

/// Not what all models share, nor the reader of operator logs.
std::vector<fs::path> model_files() {
  const std::set<fs::path> others = {"models", "blocks", "operators"};
  std::vector<fs::path> files;
  for (const auto& file : fs::recursive_directory_iterator(fs::path(TORCHSTONE_SOURCE_DIR) / "models")) {
    const auto folder = file.path().parent_path().filename();
    if (file.path().extension() == ".cpp" && !others.contains(folder)) files.push_back(file.path());
  }
  return files;
}

TEST(ModelFiles, AreShortAndShareNoBlock) {
  std::map<std::string, std::string> places;  // a block → where it stands
  ASSERT_FALSE(model_files().empty());
  for (const auto& file : model_files()) {
    size_t total = 0;
    const auto lines = code_of(file, total);
    EXPECT_GT(total, 0U) << file;
    EXPECT_LE(total, max_file_lines) << file;
    std::map<std::string, std::string> own;
    for (size_t i = 0; i + block_lines <= lines.size(); ++i) {
      std::string block;
      for (size_t k = i; k < i + block_lines; ++k) block += lines[k].text + "\n";
      const auto place = file.filename().string() + ":" + std::to_string(lines[i].number);
      const auto twin = places.find(block);
      EXPECT_TRUE(twin == places.end()) << place << " and " << twin->second << ":\n" << block;
      own.emplace(block, place);
    }
    places.merge(own);
  }
}

}  // namespace
}  // namespace torchstone
