// A model that is given by its name in a Python package. tests/exporter/packages has a fake timm.
#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

const std::string packages = std::string(TORCHSTONE_SOURCE_DIR) + "/tests/exporter/packages";

std::vector<std::string> accuracy_of(const std::string& name) {
  return {"--torchstone_only=" + name, "--torchstone_checks=accuracy", "--torchstone_backends=torchscript",
          "--torchstone_modes=inference"};
}

TEST(ANamedModel, IsExportedOnceAndJudgedAsTheFile) {
  if (std::string(TORCHSTONE_PYTHON).empty()) GTEST_SKIP() << "built without a Python, which exports";
  const Torchstone torchstone;
  const TemporaryFolder cache;
  auto arguments = accuracy_of("timm:tiny.net/v1");
  arguments.push_back("--torchstone_cache=" + cache.path().string());
  const ProgramRun run = torchstone.run(arguments, {{"PYTHONPATH", packages}});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto row = torchstone.row("tiny_net_v1");
  EXPECT_EQ(row.at("suite"), "own");
  EXPECT_EQ(row.at("batch_size"), 2);
  EXPECT_EQ(row.at("upstream_name"), "tiny.net/v1");
  // The fake timm has no version that counts. The archive is therefore found without it, and nothing is exported again.
  const ProgramRun again = torchstone.run(arguments, {{"PYTHONPATH", cache.path().string()}});
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  arguments.push_back("--torchstone_explain=*");
  const ProgramRun explained = torchstone.run(arguments, {{"PYTHONPATH", cache.path().string()}});
  EXPECT_THAT(explained.out, HasSubstr("for upstream's tiny.net/v1")) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("tolerance rule of timm: inference"));
}

TEST(ANamedModel, ThatCannotBeMadeIsARowWithThePackagesWords) {
  if (std::string(TORCHSTONE_PYTHON).empty()) GTEST_SKIP() << "built without a Python, which exports";
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run(accuracy_of("timm:gated"), {{"PYTHONPATH", packages}});
  EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
  const auto outcome = torchstone.row("gated").at("outcome");
  EXPECT_EQ(outcome.at("status"), "model_fail_to_load");
  EXPECT_THAT(outcome.at("reason").get<std::string>(), HasSubstr("timm:gated: PermissionError: gated: ask its author"));
}

}  // namespace
}  // namespace torchstone
