#include "reports/results_folder/side_files.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::results_folder {
namespace {

namespace fs = std::filesystem;

TEST(Npy, IsTheFormatToTheByte) {
  const std::string bytes = write_npy({{1, -0.5}, {2, 1e300}});
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
  ASSERT_EQ(bytes.size(), 128u + 4 * 8);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));  // 118 follow, 128 in all
  EXPECT_EQ(bytes.substr(10, header.size()), header);
  EXPECT_EQ(bytes.substr(10 + header.size(), 118 - header.size() - 1), std::string(118 - header.size() - 1, ' '));
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_EQ(bytes.substr(128, 8), std::string("\0\0\0\0\0\0\xf0\x3f", 8));              // 1
  EXPECT_EQ(bytes.substr(136, 8), std::string("\0\0\0\0\0\0\0\x40", 8));                // 2: rows lie together
  EXPECT_EQ(bytes.substr(144, 8), std::string("\0\0\0\0\0\0\xe0\xbf", 8));              // -0.5
  EXPECT_EQ(bytes.substr(152, 8), std::string("\x9c\x75\x00\x88\x3c\xe4\x37\x7e", 8));  // 1e300
}

TEST(Npy, AlignsItsDataWhateverTheNumberOfRows) {
  for (const size_t rows : {0u, 1u, 9u, 10u, 99u, 100u, 1000000u}) {
    const std::string bytes = write_npy({std::vector<double>(rows, 1.5), std::vector<double>(rows, 2.5)});
    EXPECT_EQ((bytes.size() - rows * 16) % 64, 0u) << rows;
    EXPECT_EQ(bytes[bytes.size() - rows * 16 - 1], '\n') << rows;
  }
}

TEST(Npy, RefusesColumnsOfDifferentLengths) { EXPECT_THROW(write_npy({{1, 2}, {1}}), std::invalid_argument); }

TEST(SideFiles, HoldTheTimingsOfACaseAsNumPyReadsThem) {
  const TemporaryFolder folder;
  Result result = simple_result("suite/Performance.Compiled/model", Status::pass);
  result.outcome.samples = {{"eager_s", {0.5, 0.1, std::numeric_limits<double>::quiet_NaN()}},
                            {"compiled_s", {0.25, 1e-9, std::numeric_limits<double>::infinity()}}};
  write_samples(folder.path(), result);
  const fs::path path = samples_path(folder.path(), result.name);
  EXPECT_EQ(path, folder.path() / "samples" / "suite+Performance.Compiled+model.npy");
  ASSERT_TRUE(fs::exists(path));
  const std::string python = TORCHSTONE_PYTHON;
  if (python.empty() || run_line(fmt::format("'{}' -c 'import numpy'", python)).exit_code != 0)
    GTEST_SKIP() << "no Python with NumPy";
  const Finished read = run_line(
      fmt::format("'{}' -c 'import numpy, sys; a = numpy.load(sys.argv[1]); print(a.shape, a.dtype, a.tolist())' '{}'",
                  python, path.string()));
  EXPECT_EQ(read.output, "(3, 2) float64 [[0.5, 0.25], [0.1, 1e-09], [nan, inf]]\n");
}

TEST(SideFiles, AreNoneForACaseWithoutTimings) {
  const TemporaryFolder folder;
  write_samples(folder.path(), simple_result("a", Status::pass));
  EXPECT_FALSE(fs::exists(folder.path() / "samples"));
}

TEST(SideFiles, OfAnEarlierRunAreRemovedAndOthersStay) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    write_atomically(samples_path(folder.path(), name), "old");
    write_atomically(trace_path(folder.path(), name), "old");
    write_atomically(memory_path(folder.path(), name), "old");
    write_atomically(coverage_path(folder.path(), name), "old");
    write_atomically(layers_path(folder.path(), name), "old");
    write_atomically(conv_args_path(folder.path(), name), "old");
  }
  remove_side_files(folder.path(), "a");
  remove_side_files(folder.path(), "never there");
  EXPECT_FALSE(fs::exists(samples_path(folder.path(), "a")));
  EXPECT_FALSE(fs::exists(trace_path(folder.path(), "a")));
  EXPECT_FALSE(fs::exists(memory_path(folder.path(), "a")));
  EXPECT_FALSE(fs::exists(coverage_path(folder.path(), "a")));
  EXPECT_FALSE(fs::exists(layers_path(folder.path(), "a")));
  EXPECT_FALSE(fs::exists(conv_args_path(folder.path(), "a")));
  EXPECT_TRUE(fs::exists(samples_path(folder.path(), "b")));
  EXPECT_TRUE(fs::exists(folder.path() / "traces" / "b.json"));
  EXPECT_TRUE(fs::exists(folder.path() / "memory" / "b.json"));
  EXPECT_TRUE(fs::exists(folder.path() / "coverage" / "b.csv"));
  EXPECT_TRUE(fs::exists(folder.path() / "layers" / "b.csv"));
  EXPECT_TRUE(fs::exists(folder.path() / "conv_args" / "b.json"));
}

}  // namespace
}  // namespace torchstone::results_folder
