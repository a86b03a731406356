// Damaged, foreign and malicious archives must give a clear error before anything large is read.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <torch/script.h>
#include <torchstone/model.h>

#include "models/formats/model_file.h"
#include "tests/temporary_folder.h"
#include "tests/unit/models/formats/exported/edited_archive.h"

namespace torchstone::formats::exported {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* model = "models/model.json";
constexpr const char* weights = "data/weights/model_weights_config.json";

class DamagedArchive : public testing::Test {
 protected:
  void expect(const std::vector<std::string>& texts) {
    write_archive(path_, records_);
    expect_file(texts);
  }
  void expect_file(const std::vector<std::string>& texts) {
    try {
      exported_model_info(path_).make({});
      ADD_FAILURE() << "was taken (expected an error with " << texts[0] << ")";
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr("x.pt2: "));
      for (const auto& text : texts) EXPECT_THAT(error.what(), HasSubstr(text));
    }
  }
  void edit(const char* record, const std::function<void(json&)>& change) { edit_json(records_, record, change); }
  static json& meta(json& config) { return config["config"]["layer.weight"]["tensor_meta"]; }
  static json& node(json& program, size_t index = 0) { return program["graph_module"]["graph"]["nodes"][index]; }

  TemporaryFolder folder_;
  std::string path_ = (folder_.path() / "x.pt2").string();
  Records records_ = records_of(exported_sample("torch213/plain.pt2"));
};

TEST_F(DamagedArchive, IsTakenAsItWas) {
  write_archive(path_, records_);
  EXPECT_NO_THROW(exported_model_info(path_).make({}));
}

TEST_F(DamagedArchive, OtherFilesAreCalledWhatTheyAre) {
  expect_file({"no such file"});
  std::ofstream(path_) << "text";
  expect_file({"not a zip archive"});
  torch::jit::Module script("m");
  script.define("def forward(self, x):\n  return x\n");
  script.save(path_);
  expect_file({"a TorchScript file"});
  records_ = {{"data.pkl", "x"}};
  expect({"a file of torch.save"});
  records_ = {{"archive_format", "pt2"}, {"archive_version", "0"}, {"data/aotinductor/model/a.so", "x"}};
  expect({"no program in models/, perhaps an AOTInductor package"});
}

TEST_F(DamagedArchive, ATruncatedFileIsRefused) {
  std::filesystem::copy_file(exported_sample("torch213/plain.pt2"), path_);
  std::filesystem::resize_file(path_, 5000);
  expect_file({"a damaged or foreign zip archive; expected an archive of torch.export.save", "central directory"});
}

TEST_F(DamagedArchive, UnreadableTensorsAreNoVerdictOnACompiler) {
  write_archive(path_, records_);
  const auto whole = exported_model_info(path_);
  whole.make({});
  EXPECT_EQ(whole.facts().infrastructure_fault, "");
  records_.erase("data/weights/weight_0");
  write_archive(path_, records_);
  const auto info = exported_model_info(path_);
  EXPECT_THAT([&] { info.make({}); }, ThrowsMessage<std::runtime_error>(HasSubstr("a record data/weights/weight_0")));
  EXPECT_EQ(info.facts().infrastructure_fault, unreadable_file);
}

TEST_F(DamagedArchive, FutureVersionsAreRefused) {
  edit(model, [](json& j) { j["schema_version"]["major"] = 9; });
  expect({"models/model.json: schema_version: 9.", "of PyTorch 2.13", "expected 8.x", "2.11 to 2.13",
          "with an older PyTorch"});
  edit(model, [](json& j) { j["schema_version"]["major"] = 7; });
  expect({"schema_version: 7.", "again with a newer PyTorch"});
  records_["archive_version"] = "1";
  expect({"version 1 of the archive"});
}

TEST_F(DamagedArchive, RecordNamesThatLeaveTheArchiveAreRefused) {
  records_["data/../../etc/passwd"] = "x";
  expect({"a record named \"data/../../etc/passwd\""});
}

TEST_F(DamagedArchive, ATensorBeyondItsRecordIsRefused) {
  edit(weights, [](json& j) { meta(j)["storage_offset"]["as_int"] = 1; });
  expect({"config.layer.weight: needs 28 bytes, the record data/weights/weight_0 has 24"});
}

TEST_F(DamagedArchive, SizesThatOverflowOrAreNegativeAreRefused) {
  edit(weights, [](json& j) { meta(j)["sizes"][0]["as_int"] = INT64_MAX; });
  expect({"overflow 64 bits"});
  edit(weights, [](json& j) { meta(j)["sizes"][0]["as_int"] = -1; });
  expect({"sizes[0]: -1, expected 0 or more"});
}

TEST_F(DamagedArchive, ATensorThatRepeatsAFewBytesIsNotUnfolded) {
  edit(weights, [](json& j) {
    meta(j)["sizes"] = {{{"as_int", int64_t{1} << 40}}};
    meta(j)["strides"] = {{{"as_int", 0}}};
  });
  expect({"counting repeated elements"});
}

TEST_F(DamagedArchive, AMissingWeightIsRefused) {
  edit(weights, [](json& j) { j["config"].erase("layer.weight"); });
  expect({"the program takes layer.weight, which the archive lacks"});
}

TEST_F(DamagedArchive, AValueUsedBeforeItIsDefinedIsRefused) {
  edit(model, [](json& j) {
    auto& nodes = j["graph_module"]["graph"]["nodes"];
    std::swap(nodes[0], nodes[1]);  // as in a graph with a cycle
  });
  expect({"graph.nodes[0].inputs[0].arg.as_tensor: \"linear\" is used before it is defined"});
}

TEST_F(DamagedArchive, AValueDefinedTwiceIsRefused) {
  edit(model, [](json& j) { node(j, 1) = node(j, 0); });
  expect({"\"linear\" is defined twice"});
}

TEST_F(DamagedArchive, AnUnknownOperatorIsRefusedWithWhatToDo) {
  edit(model, [](json& j) { node(j)["target"] = "torch.ops.torchvision.nms.default"; });
  expect({"torchvision.nms.default (write_exported.py:", "--torchstone_library=FILE.so"});
}

TEST_F(DamagedArchive, AnOperatorThatOpensFilesIsRefused) {
  edit(model, [](json& j) { node(j)["target"] = "torch.ops.aten.from_file.default"; });
  expect({"aten.from_file.default", "programs that open files are not supported"});
}

TEST_F(DamagedArchive, ArgumentsThatTheOperatorDoesNotHaveAreRefused) {
  edit(model, [](json& j) { node(j)["inputs"][0]["name"] = "none"; });
  expect({"the argument input is missing"});
}

TEST_F(DamagedArchive, WrongTypesInTheJsonAreNamedByPlace) {
  edit(model, [](json& j) { node(j)["inputs"] = 3; });
  expect({"models/model.json: graph_module.graph.nodes[0].inputs: number, expected a list"});
}

TEST_F(DamagedArchive, DeepNestingIsRefused) {
  records_[model] = std::string(1'000'000, '[');
  expect({"models/model.json: nested deeper than 200 levels"});
}

TEST_F(DamagedArchive, AFileWithoutSampleInputsSaysSo) {
  records_["data/sample_inputs/model.pt"] = "";
  expect({"no sample inputs"});
}

TEST_F(DamagedArchive, SampleInputsOfOtherSizesAreRefused) {
  edit(model, [](json& j) { j["graph_module"]["graph"]["tensor_values"]["x"]["sizes"][1] = {{"as_int", 7}}; });
  expect({"the sizes of input 0, float32 tensor [5, 3], differ from the program's"});
}

TEST_F(DamagedArchive, CustomObjectsAreRefused) {
  edit(weights, [](json& j) { j["config"]["layer.weight"]["use_pickle"] = true; });
  expect({"stored as a pickle"});
}

}  // namespace
}  // namespace torchstone::formats::exported
