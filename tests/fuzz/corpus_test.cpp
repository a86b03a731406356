// Runs the corpus of each fuzz target, and seeded mutations of it, without a fuzzer.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include "tests/fuzz/target.h"

namespace torchstone::fuzz {
namespace {

constexpr int mutations_of_each = 100;

std::string mutated(std::string bytes, std::mt19937& random) {
  const auto below = [&](size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random); };
  for (size_t n = 1 + below(6); n > 0 && !bytes.empty(); --n) {
    const size_t at = below(bytes.size());
    switch (below(4)) {
      case 0:
        bytes.erase(at, 1 + below(16));
        break;
      case 1:
        bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(40)));
        break;
      case 2:
        bytes[at] = std::string("\0\xff\x7f\x80\n\"[{", 8)[below(8)];
        break;
      default:
        bytes[at] = static_cast<char>(below(256));
    }
  }
  return bytes;
}

class Corpus : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, testing::ValuesIn(targets()),
                         [](const auto& target) { return std::string(target.param.name); });

TEST_P(Corpus, IsTakenOrRefusedWhateverIsChangedInIt) {
  const auto folder = std::filesystem::path(TORCHSTONE_TEST_DIR) / "fuzz/corpus" / GetParam().name;
  ASSERT_TRUE(std::filesystem::is_directory(folder)) << folder << " (expected samples of each target)";
  std::mt19937 random(1);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(stream), {}};
    ++files;
    for (int i = 0; i <= mutations_of_each; ++i) {
      try {
        GetParam().read(i == 0 ? whole : mutated(whole, random));
      } catch (const std::exception& error) {
        ADD_FAILURE() << entry.path() << ", mutation " << i << ": " << error.what();
      }
    }
  }
  EXPECT_GE(files, 1) << folder;
}

}  // namespace
}  // namespace torchstone::fuzz
