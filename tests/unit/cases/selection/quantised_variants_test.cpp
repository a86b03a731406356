// The shipped list of quantised variants (cases/tournament/quantised.yaml).
#include <gmock/gmock.h>

#include "cases/selection/tournament_variants.h"
#include "cases/settings/suite.h"
#include "fixtures/backends/catalogue.h"
#include "tests/unit/cases/support.h"

namespace torchstone::selection {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::IsEmpty;
using testing::Not;

std::string own_list() { return (suite::own_suites().parent_path() / "tournament/quantised.yaml").string(); }

std::vector<std::string> schemes_of(const Variants& variants) {
  std::vector<std::string> schemes;
  for (const auto& choice : variants.backends) {
    const auto found = choice.value.options.find("quantization");
    if (found != choice.value.options.end()) schemes.push_back(found->second);
  }
  return schemes;
}

TEST(QuantisedVariants, AreAllSchemesBesideEagerAndEachIsWrittenWell) {
  const auto variants = read_variants(own_list(), {});
  EXPECT_THAT(schemes_of(variants), testing::ElementsAre("int8dynamic", "int8weightonly", "int4weightonly", "pt2e"));
  EXPECT_EQ(variants.backends.front().value, (BackendSpec{"eager", {}}));
  for (const auto& choice : variants.backends) {
    EXPECT_THAT(backend_names(), Contains(choice.value.name));
    EXPECT_EQ(wrong_option(choice.value), std::nullopt) << to_string(choice.value);
  }
}

TEST(QuantisedVariants, AreForTheCpuAlone) {
  const auto variants = read_variants(own_list(), {});
  for (const auto& choice : variants.backends) {
    Case c;
    c.backend = choice.value;
    c.device = "cuda";
    c.origin["backend"] = origin_of(choice.place);
    const bool quantised = choice.value.options.contains("quantization");
    EXPECT_TRUE(!quantised || exclusion(variants, c)) << to_string(c.backend);
    c.device = "cpu";
    EXPECT_FALSE(exclusion(variants, c)) << to_string(c.backend);
  }
}

/// A run with the default list compares only variants that give eager's answer.
TEST(QuantisedVariants, TakePartOnlyWhenTheyAreAskedFor) { EXPECT_THAT(schemes_of(read_variants("", {})), IsEmpty()); }

TEST(QuantisedVariants, HaveNoCommandThatWouldShipWhatWasNotTimed) {
  for (const auto& file : {std::string(), own_list()}) {
    const auto variants = read_variants(file, {});
    Case c;
    c.model = "net";
    for (const char* scheme : {"int8dynamic", "int8weightonly", "int4weightonly", "pt2e"}) {
      c.backend = {"inductor", {{"quantization", scheme}}};
      EXPECT_EQ(shipping_of(variants.shipping, c, "/m/net.pt2").command, "") << scheme;
    }
    for (const char* backend : {"inductor", "openvino", "onnxruntime"}) {
      c.backend = {backend, {}};
      EXPECT_NE(shipping_of(variants.shipping, c, "/m/net.pt2").command, "") << backend;
    }
  }
}

/// Neither list has backends that cannot run yet. Only the default list has torch_compile.
TEST(QuantisedVariants, AndTheProgramsOwnListLeaveOutWhatCannotBeTimed) {
  for (const auto& file : {std::string(), own_list()}) {
    std::vector<std::string> names;
    for (const auto& choice : read_variants(file, {"mine", "tensorrt", "torch_compile", "xla"}).backends)
      names.push_back(choice.value.name);
    EXPECT_THAT(names, AllOf(Contains("mine"), Each(Not(testing::AnyOf("tensorrt", "xla")))));
    EXPECT_EQ(testing::Value(names, Contains("torch_compile")), file.empty());
  }
}

}  // namespace
}  // namespace torchstone::selection
