// Files of models must be short, and no two of them may share a block of lines.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace torchstone {
namespace {

namespace fs = std::filesystem;
constexpr size_t max_file_lines = 350;  // a file holds one concept, typically in 100 to 300 lines
constexpr size_t block_lines = 6;       // lines that may not occur in two files

struct Line {
  size_t number;
  std::string text;
};

/// Returns the lines of a file without indentation. Leaves out blank lines, comments, includes and namespaces.
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

/// Returns the files of models. Leaves out code that all models share, and the reader of operator logs.
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
  std::map<std::string, std::string> places;  // block → its first place
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

std::vector<fs::path> files_of_models() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(TORCHSTONE_SOURCE_DIR "/models"))
    if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Returns the line without indentation, or an empty string for lines that any two files may share.
std::string essence_of(const std::string& line) {
  const size_t first = line.find_first_not_of(' ');
  const std::string text = first == std::string::npos ? "" : line.substr(first);
  return text.starts_with('#') || text.starts_with("//") ? "" : text;
}

/// Returns the runs of six lines that two files share, as "a.cpp and b.cpp: first line".
std::vector<std::string> blocks_in_two_files(const std::map<std::string, std::vector<std::string>>& files) {
  constexpr size_t block = 6;
  std::map<std::string, std::string> owner;
  std::vector<std::string> found;
  for (const auto& [name, lines] : files) {
    std::vector<std::string> essence;
    for (const auto& line : lines)
      if (auto text = essence_of(line); !text.empty()) essence.push_back(std::move(text));
    for (size_t i = 0; i + block <= essence.size(); ++i) {
      std::string key;
      for (size_t j = i; j < i + block; ++j) key += essence[j] + "\n";
      const auto [first, is_new] = owner.try_emplace(key, name);
      if (!is_new && first->second != name)
        found.push_back(fmt::format("{} and {}: {}", first->second, name, essence[i]));
    }
  }
  return found;
}

TEST(ZooFiles, NoSixLinesStandInTwoOfThem) {
  std::map<std::string, std::vector<std::string>> files;
  for (const auto& file : files_of_models()) files[file.string()] = lines_of(file);
  ASSERT_GE(files.size(), 100U);
  EXPECT_EQ(blocks_in_two_files(files), std::vector<std::string>{});
}

TEST(ZooFiles, SixLinesInTwoFilesAreFound) {
  const std::vector<std::string> six{"a", "b", "", "  c", "// of this file", "d", "e", "f"};
  EXPECT_EQ(blocks_in_two_files({{"x.cpp", six}, {"y.cpp", {"0", "a", "b", "c", "d", "e", "f"}}}),
            std::vector<std::string>{"x.cpp and y.cpp: a"});
  EXPECT_TRUE(blocks_in_two_files({{"x.cpp", six}, {"y.cpp", {"a", "b", "c", "d", "e"}}}).empty());
}

TEST(ZooFiles, HaveAtMost350Lines) {
  for (const auto& file : files_of_models()) EXPECT_LE(lines_of(file).size(), max_file_lines) << file;
}

}  // namespace
}  // namespace torchstone
