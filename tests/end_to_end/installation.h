#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/binary.h"
#include "tests/temporary_folder.h"

namespace torchstone {

/// `cmake --install` of the build into a folder of its own, which is removed at the end. What fails on the way ends the
/// test with an exception that holds the output.
class Installation {
 public:
  Installation();
  /// Builds examples/EXAMPLE against it, unless it is built, with CMake, which finds LibTorch by itself; the path of
  /// lib`name`.so.
  std::string plugin(const std::string& example, const std::string& name) const;
  /// The same for an example that is a program of its own; the path of the program `name`.
  std::string executable(const std::string& example, const std::string& name) const;
  /// The installed torchstone with results in results_folder().
  ProgramRun run(std::vector<std::string> arguments) const;
  /// Where programs are: bin/torchstone, bin/torchstone-report.
  std::string program(const std::string& name) const { return prefix_ + "/bin/" + name; }
  std::string results_folder() const { return folder_.path() / "results"; }
  /// results.json of the latest run.
  nlohmann::json results() const;

 private:
  /// Returns the build folder of an example.
  std::string build(const std::string& example) const;

  TemporaryFolder folder_;
  const std::string prefix_ = folder_.path() / "prefix";
};

/// Its tests share an installation and what was built against it. Each begins without results.
class AnInstallation : public testing::Test {
 protected:
  static void SetUpTestSuite() { shared_ = std::make_unique<Installation>(); }
  static void TearDownTestSuite() { shared_.reset(); }
  void SetUp() override { std::filesystem::remove_all(shared_->results_folder()); }

  const Installation& installation() const { return *shared_; }

 private:
  inline static std::unique_ptr<Installation> shared_;
};

}  // namespace torchstone
