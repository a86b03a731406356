// A plug-in that sets a locale with a decimal comma must not change how numbers are read or written.
#include "tests/comma_locale.h"

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

TEST(CommaLocale, OfAPlugInChangesNoNumber) {
  const CommaLocale comma;
  const std::map<std::string, std::string> environment = {
      {"LOCPATH", comma.folder()}, {"LC_ALL", CommaLocale::name()}, {"TORCHSTONE_FAULTS_LOCALE", "1"}};
  const Torchstone torchstone;
  const auto run = run_program(
      torchstone.faults_command("*/healthy_inference_*_torchscript_*", {"--torchstone_tolerance=0.0625"}), environment);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, testing::HasSubstr("100.0 %"));
  EXPECT_TRUE(torchstone.results().at("results").at(0).at("duration_s").is_number_float());
  EXPECT_THAT(torchstone.row("healthy").at("outcome").at("notes").value("tolerance", ""), testing::HasSubstr("0.0625"));
  const auto compared = run_program({TORCHSTONE_REPORT, std::string("--plugin=") + TORCHSTONE_FAULTS, "compare",
                                     torchstone.out(), torchstone.out(), "--tolerance", "0.05"},
                                    environment);
  EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
}

}  // namespace
}  // namespace torchstone
