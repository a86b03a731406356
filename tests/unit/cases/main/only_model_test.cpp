#include "cases/main/only_model.h"

#include <gmock/gmock.h>

#include "tests/unit/cases/support.h"

namespace torchstone {
namespace {

using test::error_of;
using test::flags_of;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(NamedModel, IsASourceAColonAndAName) {
  for (const char* name : {"timm:ghostnet_100", "transformers:OPTForCausalLM", "upstream:Qwen/Qwen3-0.6B",
                           "timm:deit_tiny_patch16_224.fb_in1k"})
    EXPECT_TRUE(is_named_model(name)) << name;
  for (const char* name : {"resnet18", "", ":", "timm:", ":name", "C:model", "/tmp/a:b", "timm:my.pt2", "own:file.pt"})
    EXPECT_FALSE(is_named_model(name)) << name;
}

TEST(NamedModel, IsExportedByTheFlags) {
  EXPECT_THAT(exporter_arguments("timm:a", flags_of({"--torchstone_only=timm:a"})),
              ElementsAre("timm:a", "--time-limit", "900"));
  EXPECT_THAT(exporter_arguments("timm:a", flags_of({"--torchstone_only=timm:a", "--torchstone_presets=full",
                                                     "--torchstone_modes=inference,training",
                                                     "--torchstone_batch_size=8", "--torchstone_compile_limit=60"})),
              ElementsAre("timm:a", "--time-limit", "60", "--preset", "full", "--mode", "both", "--batch-size", "8"));
  EXPECT_THAT(exporter_arguments("timm:a", flags_of({"--torchstone_only=timm:a", "--torchstone_modes=training"})),
              ElementsAre("timm:a", "--time-limit", "900", "--mode", "train"));
  EXPECT_THAT(error_of([] {
                exporter_arguments("timm:a", flags_of({"--torchstone_only=timm:a", "--torchstone_presets=mini,full"}));
              }),
              HasSubstr("timm:a is exported in one preset (expected mini or full)"));
}

TEST(NamedModel, IsTheFileThatTheExporterNamesLast) {
  const Export done = read_export(0, "a warning\n{\"file\": \"/cache/a b.pt2\"}\n", 900);
  EXPECT_EQ(done.file, "/cache/a b.pt2");
  EXPECT_EQ(done.error, "");
}

TEST(NamedModel, ThatFailsHasThePackagesOwnWords) {
  EXPECT_EQ(read_export(1, "a warning\ntorchstone-export: timm:a: Unknown model (a)\nsecond line\n\n", 900).error,
            "timm:a: Unknown model (a)\nsecond line");
  EXPECT_EQ(read_export(128 + 14, "", 2.5).error, "the export took longer than 2.5 s (--torchstone_compile_limit)");
  EXPECT_EQ(read_export(128 + 9, "half a word", 900).error, "the exporter was ended by signal 9: half a word");
  EXPECT_EQ(read_export(1, "SyntaxError", 900).error, "the exporter ended with status 1: SyntaxError");
  for (const char* output : {"", "{\"file\": ", "{\"file\": 3}", "{\"file\": \"\"}"})
    EXPECT_EQ(read_export(0, output, 900).error, std::string("the exporter ended with status 0: ") + output);
}

TEST(NamedModel, TheExporterIsPartOfTheProgram) {
  const auto sources = exporter_sources();
  EXPECT_THAT(sources.at("torchstone_export.py"), HasSubstr("import argparse"));
  EXPECT_THAT(sources.at("torchstone_export.py"), HasSubstr("os._exit(status)"));
  EXPECT_TRUE(sources.contains("source_timm.py"));
}

}  // namespace
}  // namespace torchstone
