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

/// The build, installed by `cmake --install` into a folder that is removed with the object. A command that fails throws
/// an exception with its output, which ends the test.
class Installation {
 public:
  Installation();
  /// Builds examples/EXAMPLE against the installation, unless that has been done. CMake finds LibTorch without a hint.
  /// Returns the path of lib`name`.so.
  std::string plugin(const std::string& example, const std::string& name) const;
  /// Does the same for an example that is a program. Returns the path of the program `name`.
  std::string executable(const std::string& example, const std::string& name) const;
  /// Runs the installed torchstone, which writes to results_folder().
  ProgramRun run(std::vector<std::string> arguments) const;
  /// Returns the path of an installed program: torchstone, torchstone-report.
  std::string program(const std::string& name) const { return prefix_ + "/bin/" + name; }
  std::string results_folder() const { return folder_.path() / "results"; }
  /// Returns the content of results.json of the latest run.
  nlohmann::json results() const;

 private:
  /// Returns the build folder of an example.
  std::string build(const std::string& example) const;

  TemporaryFolder folder_;
  const std::string prefix_ = folder_.path() / "prefix";
};

/// A fixture whose tests share one installation and the examples built against it. Each test starts without results.
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
