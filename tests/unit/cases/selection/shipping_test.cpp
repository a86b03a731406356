#include "cases/selection/shipping.h"

#include <gmock/gmock.h>

#include "cases/selection/tournament.h"

namespace torchstone::selection {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::map<std::string, ShippingLines> lines{
    {"inductor", {"pack {program} {label} {options}", "", "load {name}"}},
    {"inductor:freezing=true", {"", "s {name}", "{scripted}"}},
    {"torchscript", {"save {program} {scripted}", "", "load \"{scripted}\" on {device}"}}};

Case of(const std::string& backend, std::map<std::string, std::string> options = {}) {
  Case c;
  c.model = "net";
  c.device = "cpu";
  c.backend = {backend, std::move(options)};
  return c;
}

TEST(Shipping, FillsThePlaceholdersOfAFile) {
  const auto shipping =
      shipping_of(lines, of("inductor", {{"max_autotune", "true"}, {"cpp.simdlen", "256"}}), "/m/net.pt2");
  EXPECT_EQ(shipping.command,
            "pack torch.export.load(\"/m/net.pt2\") inductor_cpp_simdlen_256_max_autotune {\"cpp.simdlen\": 256, "
            "\"max_autotune\": True}");
  EXPECT_EQ(shipping.code, "load net");
  const auto frozen = of("inductor", {{"freezing", "true"}});
  EXPECT_EQ(shipping_of(lines, frozen, "/m/net.pt2").command, "");
  EXPECT_EQ(shipping_of(lines, frozen, "/m/net.pt").command, "s net");
}

TEST(Shipping, OfAFileOfTorchScriptIsTheFileItself) {
  const auto shipping = shipping_of(lines, of("torchscript"), "/m/net.pt");
  EXPECT_EQ(shipping.command, "");
  EXPECT_EQ(shipping.code, "load \"/m/net.pt\" on cpu");
  EXPECT_EQ(shipping_of(lines, of("torchscript"), "/m/net.pt2").code, "load \"net_torchscript.pt\" on cpu");
  const auto packed = shipping_of(lines, of("inductor"), "/m/net.pt");
  EXPECT_EQ(packed.code, "") << "nobody made what it loads";
  EXPECT_EQ(packed.why_none, "no line of inductor is known for a file of TorchScript");
}

TEST(Shipping, MovesTheProgramToTheDeviceThatWasTimed) {
  auto c = of("torchscript");
  c.device = "cuda";
  const auto shipping = shipping_of(lines, c, "/m/net.pt2");
  EXPECT_THAT(shipping.command,
              HasSubstr("save torch.export.passes.move_to_device_pass(torch.export.load(\"/m/net.pt2\"), \"cuda\")"));
  EXPECT_THAT(shipping.code, HasSubstr("on cuda"));
}

// The lines were those of inference in float32 whatever was timed.
TEST(Shipping, IsNotKnownForWhatTheLinesAreNotOf) {
  auto half = of("torchscript"), step = of("torchscript");
  half.dtype = DType::bfloat16;
  step.mode = Mode::training;
  EXPECT_THAT(shipping_of(lines, half, "/m/net.pt2").why_none, HasSubstr("bfloat16"));
  EXPECT_THAT(shipping_of(lines, step, "/m/net.pt2").why_none, HasSubstr("training"));
  EXPECT_THAT(
      shipping_of(lines, of("inductor", {{"freezing", "true"}, {"quantization", "pt2e"}}), "/m/net.pt2").why_none,
      HasSubstr("quantization"));
  EXPECT_EQ(shipping_of(lines, of("other"), "/m/net.pt2").why_none, "no line of other is known");
  EXPECT_EQ(shipping_of(lines, of("torchscript", {{"frozen", "true"}}), "/m/net.pt2").why_none,
            "no line of torchscript:frozen=true is known")
      << "its line takes no options";
  EXPECT_THAT(shipping_of(lines, of("inductor", {{"patches", "all"}}), "/m/net.pt2").why_none,
              HasSubstr("Torchstone's own"));
  EXPECT_EQ(shipping_of(lines, of("eager"), "/m/net.pt2").why_none, "the model as it is");
}

TEST(Shipping, OfAFolderIsOfItsProgramForInference) {
  EXPECT_THAT(shipping_of(lines, of("inductor"), "/m/net").command,
              HasSubstr("torch.export.load(\"/m/net/eval.pt2\")"));
}

TEST(Shipping, WritesOptionsAsPythonDoes) {
  const auto shipping = shipping_of(
      lines, of("inductor", {{"a", "none"}, {"b", "-1"}, {"c", "1e-3"}, {"d", "1.2.3"}, {"e", "it's \"x\""}}),
      "/m/net.pt2");
  EXPECT_THAT(shipping.command, HasSubstr(R"({"a": None, "b": -1, "c": 1e-3, "d": "1.2.3", "e": "it'\''s \"x\""})"));
}

TEST(Shipping, EscapesTheNameOfTheFile) {
  const auto shipping = shipping_of(lines, of("torchscript"), "/m/it's \"a\" {name}.pt2");
  EXPECT_THAT(shipping.command, AllOf(HasSubstr(R"(/m/it'\''s \"a\" {name}.pt2)"), Not(HasSubstr("it's"))));
  EXPECT_EQ(shipping_of(lines, of("torchscript"), "/m/it's \"a\".pt").code, R"(load "/m/it's \"a\".pt" on cpu)");
}

TEST(Shipping, OfTheProgramsOwnListIsKnownForWhatCanWin) {
  const auto own = read_variants("", {}).shipping;
  for (const char* backend : {"torchscript", "inductor", "openvino", "onnxruntime", "executorch"}) {
    const auto shipping = shipping_of(own, of(backend), "/m/net.pt2");
    EXPECT_THAT(shipping.command, HasSubstr("torch.export.load(\"/m/net.pt2\")")) << backend;
    EXPECT_THAT(shipping.command + shipping.code, Not(testing::ContainsRegex("[{][a-z]+[}]"))) << backend;
  }
}

}  // namespace
}  // namespace torchstone::selection
