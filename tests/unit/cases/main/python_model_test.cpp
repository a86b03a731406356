#include "cases/main/python_model.h"

#include <gmock/gmock.h>
#include <torchstone/model_info.h>

#include "tests/unit/cases/support.h"

namespace torchstone {
namespace {

using test::error_of;
using test::flags_of;
using testing::HasSubstr;

std::optional<PythonModel> model_of(const std::vector<std::string>& arguments) {
  const auto flags = flags_of(arguments);
  return python_model_of(flags.only.at(0), flags.subject);
}

std::string name_of_only(const std::string& only) {
  const auto model = model_of({"--torchstone_only=" + only});
  return model ? model->name : "none";
}

TEST(PythonModel, IsAClassOfAFile) {
  const test::Folder folder;
  const std::string file = folder.write("my net.py", "");
  const auto model = model_of({"--torchstone_only=path:" + file + ",class:TinyNet"});
  ASSERT_TRUE(model);
  EXPECT_EQ(model->source, "path:" + file + ",class:TinyNet");
  EXPECT_EQ(model->name, "TinyNet");
}

TEST(PythonModel, HasAnAbsolutePathSoThatAReproductionWorksFromAnyFolder) {
  const auto flags = flags_of({"--torchstone_only=path:net.py,class:Net"});
  EXPECT_THAT(flags.only.at(0).value, testing::StartsWith("path:/"));
  EXPECT_THAT(flags.run.arguments, HasSubstr("path:/"));
}

TEST(PythonModel, IsAFunctionOfAModule) {
  const auto model = model_of({"--torchstone_only=module:my.nets:make_net"});
  ASSERT_TRUE(model);
  EXPECT_EQ(model->source, "module:my.nets:make_net");
  EXPECT_EQ(model->name, "make_net");
  EXPECT_EQ(name_of_only("module:nets:Outer.make"), "Outer_make");
}

TEST(PythonModel, IsAModelOfAPackageIfTheSubjectIsPython) {
  EXPECT_EQ(name_of_only("timm:hardcorenas_a"), "none");
  const auto model = model_of({"--torchstone_only=timm:hardcorenas_a", "--torchstone_subject=python"});
  ASSERT_TRUE(model);
  EXPECT_EQ(model->source, "timm:hardcorenas_a");
  EXPECT_EQ(model->name, "hardcorenas_a");
}

TEST(PythonModel, OfAPackageIsAModelOfTheSuiteThatTakesModelsFromThere) {
  const auto upstream = [](const std::string& only) {
    return model_of({"--torchstone_only=" + only, "--torchstone_subject=python"})->upstream;
  };
  for (const auto& [source, suite] : std::vector<std::pair<std::string, std::string>>{{"timm", "timm"},
                                                                                      {"transformers", "huggingface"},
                                                                                      {"torchvision", "torchbench"},
                                                                                      {"torchbench", "torchbench"},
                                                                                      {"pyg", "torchbench"},
                                                                                      {"diffusers", "torchbench"},
                                                                                      {"upstream", ""}}) {
    ASSERT_TRUE(upstream(source + ":Some/name.v1")) << source;
    EXPECT_EQ(upstream(source + ":Some/name.v1")->suite, suite);
    EXPECT_EQ(upstream(source + ":Some/name.v1")->name, "Some/name.v1");
  }
  EXPECT_FALSE(upstream("transformers:Qwen2ForCausalLM,part=decode")) << "upstream generates no text";
  EXPECT_FALSE(upstream("module:nets:make"));
}

TEST(PythonModel, MayBeAPartOfGeneration) {
  const auto part = [](const std::string& keys) {
    return *model_of({"--torchstone_only=transformers:Qwen2ForCausalLM" + keys, "--torchstone_subject=python"});
  };
  EXPECT_EQ(part(",part=decode").source, "transformers:Qwen2ForCausalLM,part=decode");
  EXPECT_EQ(part(",part=decode").name, "Qwen2ForCausalLM_decode");
  EXPECT_EQ(part(",new=16,part=generate,prompt=64").name, "Qwen2ForCausalLM_generate_prompt64_new16");
  EXPECT_EQ(part(",part=prefill").not_trained, "part=prefill generates text, which has no training step");
}

TEST(PythonModel, OfAWrongPartOfGenerationIsAnError) {
  const auto error = [](const std::string& only, const std::string& subject = "python") {
    return error_of([&] { model_of({"--torchstone_only=" + only, "--torchstone_subject=" + subject}); });
  };
  for (const auto& [only, text] : std::vector<std::pair<std::string, std::string>>{
           {"transformers:A,part=sample", "has part=sample"},
           {"transformers:A,part", "has part="},
           {"transformers:A,part=decode,,", "has the unknown key ''"},
           {"transformers:A,new=4", "names no part"},
           {"transformers:A,part=decode,new=0", "has new=0"},
           {"transformers:A,part=decode,prompt=many", "has prompt=many"},
           {"transformers:A,part=decode,part=prefill", "has part twice"},
           {"transformers:A,part=decode,beams=4", "has the unknown key 'beams'"},
           {"transformers:,part=decode", "names no class"},
           {"timm:ghostnet_100,part=decode", "only models of transformers"}})
    EXPECT_THAT(error(only), HasSubstr(text)) << only;
  EXPECT_THAT(error("transformers:A,part=decode", "native"), HasSubstr("needs --torchstone_subject=python"));
}

TEST(PythonModel, OfAnyOtherFormIsAnErrorThatNamesTheForm) {
  const auto error = [](const std::vector<std::string>& arguments) { return error_of([&] { model_of(arguments); }); };
  EXPECT_THAT(error({"--torchstone_only=path:/no/net.py,class:Net"}), HasSubstr("/no/net.py: no such file"));
  EXPECT_THAT(error({"--torchstone_only=path:/no/net.py"}), HasSubstr("expected path:FILE.py,class:NAME"));
  EXPECT_THAT(error({"--torchstone_only=path:/no/net.py,class:"}), HasSubstr("expected path:FILE.py,class:NAME"));
  for (const char* module : {"module:", "module:nets", "module::make", "module:nets:"})
    EXPECT_THAT(error({std::string("--torchstone_only=") + module}),
                HasSubstr("expected module:PACKAGE.MODULE:FUNCTION_OR_CLASS"))
        << module;
  EXPECT_THAT(error({"--torchstone_only=resnet18", "--torchstone_subject=python"}),
              HasSubstr("'resnet18' is not a Python module"));
}

TEST(PythonModel, OfATakenNameGetsAnother) {
  const test::Folder folder;
  const std::string file = folder.write("net.py", "");
  EXPECT_EQ(name_of_only("path:" + file + ",class:resnet18"), "resnet18_python");
}

TEST(PythonModel, OfANameInManyFilesIsCountedOn) {
  const test::Folder folder;
  for (const char* expected :
       {"NetInManyFiles", "NetInManyFiles_python", "NetInManyFiles_python2", "NetInManyFiles_python3"}) {
    auto flags = flags_of(
        {"--torchstone_only=path:" + folder.write(std::string(expected) + ".py", "") + ",class:NetInManyFiles"});
    EXPECT_TRUE(register_python_model(flags.only.at(0), flags));
    EXPECT_EQ(flags.only.at(0).value, expected);
  }
}

TEST(PythonModel, IsDeclaredInItsFile) {
  const test::Folder folder;
  const std::string file = folder.write("net.py", "");
  auto flags = flags_of({"--torchstone_only=path:" + file + ",class:NetInAFile"});
  EXPECT_TRUE(register_python_model(flags.only.at(0), flags));
  EXPECT_EQ(find_model("NetInAFile")->file, file);
}

TEST(PythonModel, IsRegisteredUnderItsName) {
  auto flags = flags_of({"--torchstone_only=module:my.nets:ANetOfThisTest"});
  EXPECT_TRUE(register_python_model(flags.only.at(0), flags));
  EXPECT_EQ(flags.only.at(0).value, "ANetOfThisTest");
  const ModelInfo* info = find_model("ANetOfThisTest");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->python, "module:my.nets:ANetOfThisTest");
  auto of_part = flags_of({"--torchstone_only=transformers:ANet,part=decode", "--torchstone_subject=python"});
  EXPECT_TRUE(register_python_model(of_part.only.at(0), of_part));
  EXPECT_EQ(find_model("ANet_decode")->not_trained, "part=decode generates text, which has no training step");
  auto other = flags_of({"--torchstone_only=resnet18"});
  EXPECT_FALSE(register_python_model(other.only.at(0), other));
}

}  // namespace
}  // namespace torchstone
