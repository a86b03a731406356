// Compile caches that cannot be used, or that another user could have filled, turn cases red with exit code 4.
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// Runs one case with Inductor and one with TorchScript, which needs no cache.
ProgramRun run_with_cache(const Torchstone& torchstone, const std::string& cache,
                          const std::map<std::string, std::string>& environment = {}) {
  return torchstone.run({"--torchstone_cache=" + cache, "--gtest_filter=*Accuracy*/alexnet_inference_float32_*"},
                        environment);
}

/// Expects that the Inductor case is red because of the infrastructure, with a reason that names the cause.
void expect_refused(const Torchstone& torchstone, const ProgramRun& run, const std::string& cause) {
  EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
  const auto refused = torchstone.row("_inductor_");
  EXPECT_EQ(refused.at("outcome").at("status"), "fail_to_compile");
  EXPECT_THAT(refused.at("outcome").at("reason").get<std::string>(), HasSubstr(cause));
  EXPECT_TRUE(refused.at("outcome").contains("infrastructure_fault")) << refused.dump(1);
  EXPECT_EQ(torchstone.row("_torchscript_").at("outcome").at("status"), "pass");
  EXPECT_THAT(run.out, HasSubstr("1 of 2 cases as expected"));
}

TEST(AnUnusableCache, IsAFileAndRed) {
  const Torchstone torchstone;
  const std::string cache = torchstone.out() + "/file";
  std::ofstream(cache) << "a file where a folder belongs";
  expect_refused(torchstone, run_with_cache(torchstone, cache), cache + ": cannot make this folder: Not a directory");
}

TEST(AnUnusableCache, LiesWhereNothingCanBeMadeAndIsRed) {
  const Torchstone torchstone;
  expect_refused(torchstone, run_with_cache(torchstone, "/proc/torchstone"), "/proc/torchstone");
}

TEST(AnUnusableCache, IsOneThatOthersMayWrite) {
  const Torchstone torchstone;
  const std::string cache = torchstone.out() + "/cache";
  fs::create_directory(cache);
  fs::permissions(cache, fs::perms::all);
  expect_refused(torchstone, run_with_cache(torchstone, cache), "chmod -R go-w " + cache);
  EXPECT_TRUE(fs::is_empty(cache)) << "nothing is written to a folder that other users can modify";
}

TEST(AnUnusableCache, IsOneOfAnotherUser) {
  const Torchstone torchstone;
  std::string cache = "/usr";  // root's
  if (geteuid() == 0) {
    cache = torchstone.out() + "/cache";
    fs::create_directory(cache);
    ASSERT_EQ(chown(cache.c_str(), 65534, 65534), 0);
  }
  expect_refused(torchstone, run_with_cache(torchstone, cache), cache + ": belongs to user ");
}

TEST(ARunWithoutAHome, SharesNoFolderAndSaysSo) {
  const Torchstone torchstone;
  const std::string temporary = torchstone.out() + "/temporary";
  fs::create_directory(temporary);
  const ProgramRun run =
      torchstone.run({"--gtest_filter=*Accuracy*/alexnet_inference_float32_torchscript_*"},
                     {{"HOME", ""}, {"XDG_CACHE_HOME", ""}, {"TORCHSTONE_CACHE", ""}, {"TMPDIR", temporary}});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("--torchstone_cache=FOLDER"));
  EXPECT_TRUE(fs::is_empty(temporary)) << fs::directory_iterator(temporary)->path();
}

TEST(AFaultOfTheInfrastructure, MeetsNoExpectation) {
  const Torchstone torchstone;
  const std::string file = torchstone.out() + "/expected.yaml";
  std::ofstream(file) << "- {model: healthy, backend: fault_missing, status: fail_to_compile, reason: known bug}\n";
  const ProgramRun run =
      torchstone.run_faults("*/healthy_inference_float32_fault_missing_cpu", {"--torchstone_expected=" + file});
  EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("0 of 1 case as expected"));
}

}  // namespace
}  // namespace torchstone
