#include "cases/selection/tournament_variants.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "fixtures/backends/catalogue.h"
#include "tests/environment_variable.h"
#include "tests/temporary_folder.h"
#include "tests/unit/cases/selection/expanded.h"

namespace torchstone::selection {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::map<std::string, ShippingLines> lines{
    {"inductor", {"pack {program} {label} {options}", "", "load {name}", "", ""}},
    {"inductor:freezing=true", {"", "s {name}", "{scripted}", "", ""}},
    {"torchscript", {"save {program} {scripted}", "", "load \"{scripted}\" on {device}", "", ""}},
    {"python", {"", "", "C++ {name}", "make({program}, 'a')", "model = load(\"{name}\")"}},
    {"nativert", {"", "", "run {file}", "", ""}}};

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
  EXPECT_EQ(packed.code, "") << "no command makes the file that the line would load";
  EXPECT_EQ(packed.why_none, "no shipping line of inductor is known for a TorchScript file");
}

TEST(Shipping, MovesTheProgramToTheDeviceThatWasTimed) {
  auto c = of("torchscript");
  c.device = "cuda";
  const auto shipping = shipping_of(lines, c, "/m/net.pt2");
  EXPECT_THAT(shipping.command,
              HasSubstr("save torch.export.passes.move_to_device_pass(torch.export.load(\"/m/net.pt2\"), \"cuda\")"));
  EXPECT_THAT(shipping.code, HasSubstr("on cuda"));
}

// Shipping lines are for float32 inference only.
TEST(Shipping, IsNotKnownForWhatTheLinesAreNotOf) {
  auto half = of("torchscript"), step = of("torchscript");
  half.dtype = DType::bfloat16;
  step.mode = Mode::training;
  EXPECT_THAT(shipping_of(lines, half, "/m/net.pt").why_none, HasSubstr("cast to bfloat16"));
  half.backend.name = "nativert";
  EXPECT_EQ(shipping_of(lines, half, "/m/net.pt2").why_none,
            "nativert runs the file as it is, not its cast to bfloat16");
  half.dtype = DType::amp;
  EXPECT_THAT(shipping_of(lines, half, "/m/net.pt2").why_none, HasSubstr("autocast"));
  EXPECT_THAT(shipping_of(lines, step, "/m/net.pt2").why_none, HasSubstr("training"));
  EXPECT_THAT(
      shipping_of(lines, of("inductor", {{"freezing", "true"}, {"quantization", "pt2e"}}), "/m/net.pt2").why_none,
      HasSubstr("quantization"));
  EXPECT_EQ(shipping_of(lines, of("other"), "/m/net.pt2").why_none, "no shipping line of other is known");
  EXPECT_EQ(shipping_of(lines, of("torchscript", {{"frozen", "true"}}), "/m/net.pt2").why_none,
            "no shipping line of torchscript:frozen=true is known")
      << "the shipping line of torchscript takes no options";
  EXPECT_THAT(shipping_of(lines, of("inductor", {{"patches", "all"}}), "/m/net.pt2").why_none,
              HasSubstr("an option of Torchstone"));
  EXPECT_EQ(shipping_of(lines, of("eager"), "/m/net.pt2").why_none, "the model as it is");
}

TEST(Shipping, CastsAnExportedProgramAsTheCaseDid) {
  auto half = of("python");
  half.dtype = DType::bfloat16;
  const auto shipping = shipping_of(lines, half, "/m/net.pt2");
  EXPECT_EQ(shipping.why_none, "");
  EXPECT_THAT(shipping.program, AllOf(HasSubstr("p.module().to(torch.bfloat16)"), HasSubstr("torch.export.export(")));
  EXPECT_EQ(shipping.make, "make(" + shipping.program + ", 'a')");
  EXPECT_EQ(shipping_of(lines, of("python"), "/m/net.pt2").program, "torch.export.load(\"/m/net.pt2\")");
}

TEST(Shipping, IsGivenForPythonAndForCpp) {
  const auto shipping = shipping_of(lines, of("python"), "/m/it's.pt2");
  EXPECT_EQ(shipping.make, "make(torch.export.load(\"/m/it's.pt2\"), 'a')");
  EXPECT_EQ(shipping.command, R"(python -c 'make(torch.export.load("/m/it'\''s.pt2"), '\''a'\'')')");
  EXPECT_EQ(shipping.python, "model = load(\"net\")");
  EXPECT_EQ(shipping.code, "C++ net");
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
  for (const char* backend : {"torchscript", "export", "inductor", "openvino", "onnxruntime", "executorch"}) {
    const auto shipping = shipping_of(own, of(backend), "/m/net.pt2");
    EXPECT_THAT(shipping.command, HasSubstr("torch.export.load(\"/m/net.pt2\")")) << backend;
    EXPECT_THAT(shipping.python, HasSubstr("model = ")) << backend;
    EXPECT_THAT(shipping.command + shipping.code + shipping.python, Not(testing::ContainsRegex("[{][a-z]+[}]")))
        << backend;
  }
}

using test::error_of;
using test::flags_of;
using testing::Contains;
using testing::ElementsAre;

std::vector<std::string> backends_of(const config::Choices<BackendSpec>& choices) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(to_string(choice.value));
  return names;
}

class VariantsFile {
 public:
  explicit VariantsFile(const std::string& text) { std::ofstream(path()) << text; }
  std::string path() const { return folder_.path() / "v.yaml"; }

 private:
  TemporaryFolder folder_;
};

TEST(Variants, OfTheProgramAreAtLeastEightAndEachIsWrittenWell) {
  const auto variants = read_variants("", {});
  EXPECT_GE(variants.backends.size(), 8U);
  for (const auto& choice : variants.backends) {
    EXPECT_THAT(backend_names(), Contains(choice.value.name));
    EXPECT_EQ(wrong_option(choice.value), std::nullopt) << to_string(choice.value);
  }
  EXPECT_EQ(variants.backends.front().value, (BackendSpec{"eager", {}}));
}

size_t usable_on(const Variants& variants, const std::string& device) {
  size_t usable = 0;
  for (const auto& choice : variants.backends) {
    Case c;
    c.backend = choice.value;
    c.device = device;
    c.origin["backend"] = origin_of(choice.place);
    usable += choice.value.name != "nn_lstm" && !exclusion(variants, c) ? 1 : 0;
  }
  return usable;
}

/// Four of the variants on the CPU need optional libraries: nativert, openvino, onnxruntime and executorch.
TEST(Variants, OfTheProgramAreAtLeastEightOnACpuAndSixOnCudaThatEveryModelCanTry) {
  const auto variants = read_variants("", {});
  EXPECT_GE(usable_on(variants, "cpu"), 8U + 4U);
  EXPECT_GE(usable_on(variants, "cuda"), 6U);
  EXPECT_GE(usable_on(variants, "cuda:1"), 6U);
}

TEST(Variants, ForOtherDevicesAreLeftOutWithThePlaceThatSaysSo) {
  const VariantsFile file(
      "variants:\n  - eager\n  - {inductor: {cpp.simdlen: 256}, devices: [cpu]}\n  - {torchscript: {}, devices: "
      "cuda}\n");
  const auto variants = read_variants(file.path(), {});
  EXPECT_THAT(backends_of(variants.backends), ElementsAre("eager", "inductor:cpp.simdlen=256", "torchscript"));
  const auto reason_of = [&](const std::string& device, const std::string& origin) {
    Case c;
    c.device = device;
    c.origin["backend"] = origin;
    return exclusion(variants, c).value_or("");
  };
  const std::string place = file.path() + ":3";
  EXPECT_EQ(reason_of("cuda:1", place), "not tried on cuda: " + place + " limits it to cpu");
  EXPECT_EQ(reason_of("cuda", place + ", emulate_precision_casts by p.yaml:1"), reason_of("cuda", place));
  EXPECT_EQ(reason_of("cpu", place), "");
  EXPECT_EQ(reason_of("cuda", file.path() + ":2"), "") << "eager runs on all devices";
  EXPECT_EQ(reason_of("cpu", file.path() + ":4"), "not tried on cpu: " + file.path() + ":4 limits it to cuda");
  EXPECT_EQ(reason_of("cuda", "flag --torchstone_backends=inductor:cpp.simdlen=256"), "")
      << "the flag names the variant";
}

TEST(Variants, WithDevicesThatAreNoneAreAnErrorWithItsPlace) {
  for (const auto& [entry, words] : {std::pair{"{inductor: {}, devices: [gpu]}", "'gpu' is not a supported device"},
                                     {"{inductor: {}, devices: [cuda:1]}", "a kind of device"},
                                     {"{inductor: {}, devices: []}", "no device"},
                                     {"{devices: [cpu]}", "devices without a backend"},
                                     {"{inductor: {}, export: {}, devices: [cpu]}", "2 backends in one map"}}) {
    const VariantsFile file(std::string("variants:\n  - eager\n  - ") + entry + "\n");
    EXPECT_THAT(error_of([&] { read_variants(file.path(), {}); }), AllOf(HasSubstr("v.yaml:3"), HasSubstr(words)));
  }
}

TEST(Variants, OfABackendThatNobodyNamesJoinWithoutOptions) {
  const VariantsFile file("variants: [eager, {torchscript: {frozen: true}}]\nexcluded: [slow]\n");
  EXPECT_THAT(backends_of(read_variants(file.path(), {"eager", "mine", "slow", "torchscript"}).backends),
              ElementsAre("eager", "torchscript:frozen=true", "mine"));
}

TEST(Variants, OfAFileThatCannotBeReadAreAnErrorWithItsPlace) {
  const VariantsFile mistyped("variants: [eager]\nship: {eager: {code: 'load {lable}'}}\n");
  EXPECT_THAT(error_of([&] { read_variants(mistyped.path(), {}); }),
              AllOf(HasSubstr("v.yaml:2"), HasSubstr("unknown placeholder {lable}")));
  const VariantsFile file("variants: [eager]\nship: {eager: {comand: x}}\n");
  EXPECT_THAT(error_of([&] { read_variants(file.path(), {}); }), HasSubstr("v.yaml:2"));
  EXPECT_THAT(error_of([] { read_variants("/no/such.yaml", {}); }), HasSubstr("/no/such.yaml"));
}

std::string ship_code(const std::string& list, const std::string& backend, std::map<std::string, std::string> options) {
  const VariantsFile file(list);
  Case c;
  c.model = "net";
  c.backend = {backend, std::move(options)};
  return shipping_of(read_variants(file.path(), {}).shipping, c, "/m/net.pt2").code;
}

TEST(Variants, HaveTheProgramsOwnShippingLinesUnlessTheirListNamesTheBackend) {
  EXPECT_THAT(ship_code("variants: [eager]\n", "onnxruntime", {}), HasSubstr("net.onnx"));
  const std::string list = "variants: [eager]\nship:\n  torchscript: {code: mine}\n  mine: {code: of a plug-in}\n";
  EXPECT_EQ(ship_code(list, "torchscript", {}), "mine");
  EXPECT_EQ(ship_code(list, "torchscript", {{"frozen", "true"}}), "")
      << "the list's lines for torchscript replace those of the program";
  EXPECT_EQ(ship_code(list, "mine", {}), "of a plug-in");
  EXPECT_THAT(ship_code(list, "onnxruntime", {}), HasSubstr("net.onnx"));
  EXPECT_EQ(ship_code("variants: [eager]\nship: {onnxruntime: {}}\n", "onnxruntime", {}), "");
  EXPECT_THAT(ship_code("variants: [eager]\nship: {}\n", "onnxruntime", {}), HasSubstr("net.onnx"));
}

TEST(SelectTournament, ChoosesCheckModeDtypeAndVariantsUnlessTheyAreGiven) {
  const VariantsFile file("variants: [torchscript]\nexcluded: [" + [] {
    std::string names;
    for (const auto& name : backend_names()) names += name + ", ";
    return names;
  }() + "none]\n");
  auto flags = flags_of({"--torchstone_tournament", "--torchstone_tournament_variants=" + file.path()});
  select_tournament(flags);
  EXPECT_THAT(backends_of(flags.axes.backends), ElementsAre("eager", "torchscript"));
  EXPECT_EQ(flags.axes.checks.front().value, "tournament");
  EXPECT_EQ(flags.axes.modes.front().value, Mode::inference);
  EXPECT_EQ(flags.axes.dtypes.front().value, DType::float32);
  flags = flags_of({"--torchstone_tournament", "--torchstone_backends=inductor,eager", "--torchstone_modes=training"});
  select_tournament(flags);
  EXPECT_THAT(backends_of(flags.axes.backends), ElementsAre("inductor", "eager"));
  EXPECT_EQ(flags.axes.modes.front().value, Mode::training);
}

TEST(TimeSeparately, HasTorchCompileTimedByPerformanceAndNothingElse) {
  std::vector<Case> cases(3);
  cases[0].check = cases[1].check = "tournament";
  cases[1].backend = cases[2].backend = {"torch_compile", {{"mode", "max-autotune"}}};
  cases[1].required_speedup = cases[2].required_speedup = 3;
  cases[1].skip_accuracy_check = true;
  time_separately(cases);
  EXPECT_EQ(cases[0].check, "tournament");
  EXPECT_EQ(cases[1].check, "performance");
  EXPECT_EQ(cases[1].required_speedup, std::nullopt) << "it would be listed as not timed";
  EXPECT_EQ(cases[2].required_speedup, 3);
  EXPECT_FALSE(cases[1].skip_accuracy_check) << "a wrong answer would be shown with a speed-up";
  EXPECT_EQ(cases[2].check, "accuracy") << "the case is not of a tournament";
}

TEST(SelectTournament, RefusesWhatItDoesNotGoWith) {
  for (const char* flag :
       {"checks=accuracy", "isolate=off", "dynamic=batch", "baseline=/x", "print_program", "coverage", "layer_times",
        "log_conv_args", "required_speedup=2", "npy", "export_profiler_trace", "memory_snapshot", "strict_undecided",
        "diagnose=always", "diagnose_limit=60", "diagnose_max=3", "interleave=false", "github=always"}) {
    auto flags = flags_of({"--torchstone_tournament", std::string("--torchstone_") + flag});
    EXPECT_THAT(error_of([&] { select_tournament(flags); }), HasSubstr("--torchstone_tournament does not go with"))
        << flag;
  }
}

TEST(SelectTournament, TakesEnvironmentTwinsThatItHasNoUseFor) {
  const EnvironmentVariable strict("TORCHSTONE_STRICT_UNDECIDED", "true"), speedup("TORCHSTONE_REQUIRED_SPEEDUP", "2"),
      diagnose("TORCHSTONE_DIAGNOSE", "always"), github("TORCHSTONE_GITHUB", "always");
  auto flags = flags_of({"--torchstone_tournament", "--torchstone_backends=inductor", "--torchstone_npy=false"});
  EXPECT_EQ(error_of([&] { select_tournament(flags); }), "");
  EXPECT_EQ(flags.run.arguments.find("required_speedup"), std::string::npos);
}

TEST(SelectTournament, RefusesShards) {
  const EnvironmentVariable total("GTEST_TOTAL_SHARDS", "2");
  auto flags = flags_of({"--torchstone_tournament", "--torchstone_backends=inductor"});
  EXPECT_THAT(error_of([&] { select_tournament(flags); }), HasSubstr("does not go with GTEST_TOTAL_SHARDS=2"));
  const EnvironmentVariable one("GTEST_TOTAL_SHARDS", "1");
  EXPECT_EQ(error_of([&] { select_tournament(flags); }), "");
}

}  // namespace
}  // namespace torchstone::selection
