// Exported programs as models. tests/oracles/write_exported.py wrote the archives with PyTorch 2.13 and 2.11.
#include <filesystem>

#include <gmock/gmock.h>
#include <torchstone/model.h>

#include "models/core/file_program.h"
#include "models/core/model_registry.h"
#include "models/core/model_state.h"
#include "models/core/tree.h"
#include "models/formats/model_file.h"
#include "tests/temporary_folder.h"
#include "tests/unit/models/formats/exported/edited_archive.h"

namespace torchstone::formats {
namespace {

using exported::exported_sample;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const ModelOptions three{Preset::mini, Mode::inference, 3};

std::shared_ptr<Model> made(const std::string& path, Mode mode = Mode::inference) {
  return exported_model_info(path).make({Preset::mini, mode, 3});
}

class OfEachVersion : public testing::TestWithParam<const char*> {
 protected:
  std::string path(const std::string& name) const { return exported_sample(std::string(GetParam()) + "/" + name); }
};
INSTANTIATE_TEST_SUITE_P(Exported, OfEachVersion, testing::Values("torch213", "torch211"),
                         [](const auto& version) { return std::string(version.param); });

TEST_P(OfEachVersion, IsAModelWithNamesInputsAndPythonsOutputs) {
  const auto info = exported_model_info(path("two.pt2"));
  EXPECT_TRUE(info.fixed_mode);
  EXPECT_EQ(info.name, "two");
  EXPECT_EQ(info.eval_batch, 3);
  EXPECT_FALSE(info.fixed_batch);
  EXPECT_EQ(info.not_trained, "");
  const auto model = made(path("two.pt2"));  // compares its outputs with those that Python stored
  const auto state = state_of(*model);
  for (const char* name : {"first.weight", "inner.0.weight", "inner.1.running_mean", "last.weight", "places"})
    EXPECT_TRUE(state.contains(name)) << name;
  EXPECT_TRUE(state.at("inner.0.weight").is_same(state.at("last.weight"))) << "tied";
  EXPECT_TRUE(model->in_state_dict("inner.1.running_mean"));
  EXPECT_FALSE(model->in_state_dict("places")) << "not persistent";
  const auto inputs = model->example_inputs(three);
  ASSERT_EQ(inputs.size(), 2u) << "x and ids; scale is the number of the export";
  const torch::NoGradGuard no_grad;
  const auto output = model->forward(inputs);
  std::vector<std::string> paths;
  for (const auto& leaf : leaves(output)) paths.push_back(leaf.path);
  EXPECT_THAT(paths, testing::ElementsAre("left", "more[0]", "more[1][0]", "more[1][1]", "more[1][2]", "pair.first",
                                          "pair.second"));
}

std::string text_of(const std::string& path) {
  return dynamic_cast<const FileProgram&>(*made(path)).program_description().text;
}

TEST_P(OfEachVersion, DescribesItsProgramWithoutPlacesInTheSource) {
  const TemporaryFolder folder;
  const std::string moved = folder.path() / "moved.pt2";
  auto records = exported::records_of(path("two.pt2"));
  exported::edit_json(records, "models/model.json", [](nlohmann::json& json) {
    for (auto& node : json.at("graph_module").at("graph").at("nodes"))
      if (node.at("metadata").contains("stack_trace")) node["metadata"]["stack_trace"] = "another_folder/model.py:1";
  });
  exported::write_archive(moved, records);
  const std::string text = text_of(path("two.pt2"));
  EXPECT_THAT(text, HasSubstr("torch.ops.aten."));
  EXPECT_EQ(text_of(moved), text);
  exported::edit_json(records, "models/model.json", [](nlohmann::json& json) {
    auto& constraints = json.at("range_constraints");
    ASSERT_FALSE(constraints.empty());
    for (auto& [symbol, range] : constraints.items()) range["max_val"] = range.at("max_val").get<int64_t>() - 1;
  });
  exported::write_archive(moved, records);
  EXPECT_NE(text_of(moved), text);
}

TEST_P(OfEachVersion, HasItsTensorsInTheOrderOfTheFile) {
  const auto model = made(path("two.pt2"));
  const auto* file = dynamic_cast<const FileProgram*>(model.get());
  ASSERT_TRUE(file);
  const auto names = file->tensor_order();
  EXPECT_THAT(names.parameters, testing::ElementsAre("first.weight", "first.bias", "inner.0.weight", "inner.1.weight",
                                                     "inner.1.bias", "last.weight"));
  EXPECT_THAT(names.buffers, testing::ElementsAre("places", "inner.1.running_mean", "inner.1.running_var",
                                                  "inner.1.num_batches_tracked"));
  EXPECT_THAT(names.constants, testing::ElementsAre("lifted_tensor_0"));
  EXPECT_EQ(model->named_parameters().keys(), names.parameters);
}

TEST_P(OfEachVersion, TrainsByItsProgramForTraining) {
  const auto model = made(path("two.pt2"), Mode::training);
  const auto before = state_of(*model).at("inner.1.running_mean").clone();
  torch::manual_seed(1);
  const auto loss = model->loss(model->forward(model->example_inputs(three)));
  loss.backward();
  EXPECT_FALSE(before.equal(state_of(*model).at("inner.1.running_mean"))) << "statistics of the batch";
  const auto gradient = state_of(*model).at("last.weight").grad();
  ASSERT_TRUE(gradient.defined());
  EXPECT_GT(gradient.abs().sum().item<double>(), 0);
}

TEST_P(OfEachVersion, RunsWithOtherBatchSizesWithinTheProgramsRange) {
  const auto model = made(path("two.pt2"));
  const auto inputs = model->example_inputs({Preset::mini, Mode::inference, 8});
  EXPECT_EQ(inputs.at(0).size(0), 8);
  EXPECT_EQ(inputs.at(1).size(0), 8);
  const torch::NoGradGuard no_grad;
  EXPECT_EQ(flatten(model->forward(inputs)).at(0).size(0), 8);
  EXPECT_THAT(
      [&] {
        model->example_inputs({Preset::mini, Mode::inference, 65});
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("65 samples, the program takes 2 to 64")));
}

TEST_P(OfEachVersion, FollowsTheDtypeItIsCastToAndKeepsItsConstants) {
  const auto dtypes_of_constants = [](const Model& model) {
    std::set<torch::ScalarType> dtypes;
    for (const auto& [name, tensor] : state_of(model))
      if (name.find("lifted") != std::string::npos) dtypes.insert(tensor.scalar_type());
    return dtypes;
  };
  const auto narrow = made(path("two.pt2"));
  narrow->to(torch::kBFloat16);
  EXPECT_EQ(state_of(*narrow).at("first.weight").scalar_type(), torch::kBFloat16);
  EXPECT_THAT(dtypes_of_constants(*narrow), testing::ElementsAre(torch::kFloat32));
  const auto model = made(path("two.pt2"));
  model->to(torch::kFloat64);
  EXPECT_EQ(state_of(*model).at("first.weight").scalar_type(), torch::kFloat64);
  EXPECT_THAT(dtypes_of_constants(*model), testing::ElementsAre(torch::kFloat64))
      << "other runs are compared with float64";
  auto inputs = model->example_inputs(three);
  inputs[0] = inputs[0].to(torch::kFloat64);
  const torch::NoGradGuard no_grad;
  EXPECT_EQ(flatten(model->forward(inputs)).at(0).scalar_type(), torch::kFloat64);
}

TEST_P(OfEachVersion, WritesBackWhatAFunctionalProgramChanges) {
  const auto model = made(path("functional.pt2"));
  const torch::NoGradGuard no_grad;
  const auto x = torch::arange(3, torch::kFloat32);
  const auto given = x.clone();
  const auto output = model->forward({given}).toTensor();
  EXPECT_TRUE(given.equal(x * 2)) << given;
  EXPECT_TRUE(state_of(*model).at("count").equal(x));
  EXPECT_TRUE(output.equal(x * 3));
}

TEST_P(OfEachVersion, TheNamedOutputIsTheLoss) {
  const auto model = made(path("plain.pt2"), Mode::training);
  const auto output = model->forward(model->example_inputs(three));
  EXPECT_TRUE(model->loss(output).equal(output.toGenericDict().at("loss").toTensor().sum()));
}

TEST_P(OfEachVersion, NamesItsModelOfUpstreams) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "net.pt2";
  const auto upstream_of = [&](const nlohmann::json& facts) {
    auto records = exported::records_of(path("two.pt2"));
    nlohmann::json info = {{"format", 1}};
    info.update(facts);
    records["extra/torchstone_info.json"] = info.dump();
    exported::write_archive(file, records);
    return exported_model_info(file).upstream;
  };
  EXPECT_FALSE(upstream_of({{"source", "timm:ghostnet_100"}})) << "the suite decides";
  const auto named = upstream_of({{"suite", "timm"}, {"source", "timm:deit_tiny_patch16_224.fb_in1k"}});
  ASSERT_TRUE(named);
  EXPECT_EQ(named->suite, "timm");
  EXPECT_EQ(named->name, "deit_tiny_patch16_224.fb_in1k");
  EXPECT_EQ(upstream_of({{"suite", "huggingface"}})->name, "net") << "the file's name";
  for (const std::string& name : {std::string(300, 'a'), std::string("a\nb")})
    EXPECT_THAT(
        [&] {
          upstream_of({{"suite", "timm"}, {"source", "timm:" + name}});
        },
        ThrowsMessage<std::runtime_error>(HasSubstr("expected SOURCE:NAME of at most 200 characters")));
  EXPECT_THAT(
      [&] {
        upstream_of({{"suite", "timms"}});
      },
      ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("extra/torchstone_info.json"), HasSubstr("'timms'"),
                                              HasSubstr("torchbench, timm or huggingface"))));
}

TEST_P(OfEachVersion, AFrozenParameterStaysFrozen) {
  auto records = exported::records_of(path("plain.pt2"));
  exported::edit_json(records, "data/weights/model_weights_config.json", [](nlohmann::json& json) {
    json["config"]["layer.weight"]["tensor_meta"]["requires_grad"] = false;
  });
  const TemporaryFolder folder;
  exported::write_archive(folder.path() / "frozen.pt2", records);
  const auto state = state_of(*made(folder.path() / "frozen.pt2"));
  EXPECT_FALSE(state.at("layer.weight").requires_grad());
  EXPECT_TRUE(state.at("layer.bias").requires_grad());
}

TEST_P(OfEachVersion, OtherOutputsThanPythonsAreRefused) {
  EXPECT_THAT([&] { made(path("other_outputs.pt2")); },
              ThrowsMessage<std::runtime_error>(
                  AllOf(HasSubstr("other_outputs.pt2: output 0 differs from the one that the exporter stored"),
                        HasSubstr("exported by PyTorch 2.1"), HasSubstr("run by 2.1"))));
}

TEST_P(OfEachVersion, WhatCannotBeRunIsRefusedByNameAndPlace) {
  EXPECT_THAT([&] { exported_model_info(path("branch.pt2")); },
              ThrowsMessage<std::runtime_error>(
                  AllOf(HasSubstr("branch.pt2: models/model.json: graph_module.graph.nodes["),
                        HasSubstr("higher_order.cond"), HasSubstr("control flow on values is not supported"))));
  EXPECT_THAT([&] { exported_model_info(path("nonzero.pt2")); },
              ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("write_exported.py:"), HasSubstr("return x[x > 0] * 2"),
                                                      HasSubstr("depends on the values of tensors"))));
}

TEST_P(OfEachVersion, AModeThatTheFileIsNotForIsRefusedWithWhatToDo) {
  const auto info = exported_model_info(path("eval.pt2"));
  EXPECT_THAT(info.not_trained, AllOf(HasSubstr("eval.pt2 was exported in eval mode"), HasSubstr("aten.batch_norm"),
                                      HasSubstr("export model.train() as well")));
  EXPECT_THAT([&] { made(path("eval.pt2"), Mode::training); },
              ThrowsMessage<std::runtime_error>(HasSubstr("exported in eval mode")));
  EXPECT_THAT([&] { made(path("train.pt2")); },
              ThrowsMessage<std::runtime_error>(HasSubstr("export model.eval() for inference")));
  EXPECT_EQ(exported_model_info(path("plain.pt2")).not_trained, "") << "no operator depends on the mode";
  EXPECT_THAT(exported_model_info(exported_sample("torch213/functional.pt2")).not_trained,
              HasSubstr("functional.pt2 has no parameter"));
}

TEST_P(OfEachVersion, AFolderHoldsOneProgramForEachMode) {
  const auto folder = std::filesystem::path(path("eval.pt2")).parent_path().string();
  EXPECT_TRUE(is_exported_model(folder));
  EXPECT_EQ(exported_model_info(folder).not_trained, "");
  EXPECT_NO_THROW(made(folder));
  EXPECT_NO_THROW(made(folder, Mode::training));
}

TEST_P(OfEachVersion, DropsNothingAtTheRateThatItIsGiven) {
  const auto model = made(path("two.pt2"), Mode::training);
  const auto inputs = model->example_inputs(three);
  const auto drawn = [&](uint64_t seed) {
    torch::manual_seed(seed);
    std::vector<torch::Tensor> flat;
    for (const auto& tensor : flatten(model->forward(inputs)))
      flat.push_back(tensor.detach().flatten().to(torch::kFloat32));
    return torch::cat(flat);
  };
  EXPECT_FALSE(drawn(1).equal(drawn(2))) << "the dropout keeps its exported rate";
  auto* rates = dynamic_cast<DropoutRates*>(model.get());
  ASSERT_TRUE(rates);
  EXPECT_EQ(rates->set_dropout_rate(1e-30), 1u);
  EXPECT_TRUE(drawn(1).equal(drawn(2)));
  const auto evaluating = made(path("eval.pt2"));
  EXPECT_EQ(dynamic_cast<DropoutRates&>(*evaluating).set_dropout_rate(1e-30), 0u)
      << "an exported program in eval mode has no dropout";
}

TEST_P(OfEachVersion, TheRowSaysThatArgumentsFollowAnotherDtype) {
  const auto info = exported_model_info(path("two.pt2"));
  const auto model = info.make(three);
  model->to(torch::kFloat32);
  EXPECT_THAT(info.facts().notes, testing::IsEmpty()) << "as it was exported";
  model->to(torch::kBFloat16);
  info.make(three)->to(torch::kFloat64);  // the reference, which must not change the note
  EXPECT_THAT(info.facts().notes.at("dtype_constants"),
              testing::MatchesRegex("follow the model instead of float32 .[23] of the file."));
  const auto plain = exported_model_info(path("plain.pt2"));
  plain.make(three)->to(torch::kBFloat16);
  EXPECT_THAT(plain.facts().notes, testing::IsEmpty()) << "no argument names a dtype";
}

TEST(ExportedModel, FurtherInputsAreOthersLikeTheFirst) {
  const auto model = made(exported_sample("torch213/two.pt2"));
  const auto first = model->example_inputs(three), second = model->example_inputs(three);
  EXPECT_FALSE(first[0].equal(second[0]));
  EXPECT_TRUE(std::get<0>(first[1].sort()).equal(std::get<0>(second[1].sort()))) << "a permutation of the integers";
}

TEST(ExportedModel, ErrorsOfARunNameOperatorAndPlace) {
  const auto model = made(exported_sample("torch213/plain.pt2"));
  EXPECT_THAT(
      [&] {
        model->forward({torch::zeros({5, 2}), torch::zeros({5}, torch::kLong)});
      },
      ThrowsMessage<std::runtime_error>(
          AllOf(HasSubstr("aten.linear.default (write_exported.py:"), HasSubstr("logits = self.layer(x)"))));
}

TEST_P(OfEachVersion, HasTheSymbolsBesideTheBatchAsDimensions) {
  const auto model = made(path("texts.pt2"));
  const auto dimensions = model->dimensions();
  ASSERT_EQ(dimensions.size(), 1U) << "the number of texts is the batch";
  const auto& [name, size, minimum, maximum, step] = dimensions[0];
  EXPECT_EQ(size, 6);
  EXPECT_EQ(minimum, 2);
  EXPECT_EQ(maximum, 30) << "the limit of the program";
  ModelOptions options{Preset::mini, Mode::inference, 5};
  options.sizes[name] = 11;
  const auto inputs = model->example_inputs(options);
  EXPECT_EQ(inputs.at(0).sizes(), (std::vector<int64_t>{5, 11}));
  const torch::NoGradGuard no_grad;
  EXPECT_EQ(model->forward(inputs).toTensor().sizes(), (std::vector<int64_t>{5, 11, 8}));
  EXPECT_TRUE(made(path("two.pt2"))->dimensions().empty());
}

TEST(ExportedModel, OfAFixedBatchMayHaveDimensionsAlone) {
  const auto info = exported_model_info(exported_sample("torch213/length.pt2"));
  EXPECT_TRUE(info.fixed_batch);
  EXPECT_TRUE(info.dimensions_alone);
  EXPECT_EQ(info.eval_batch, 1);
  const auto model = info.make({});
  ASSERT_EQ(model->dimensions().size(), 1U);
  ModelOptions options{.batch_size = 1};
  options.sizes[model->dimensions()[0].name] = 30;
  EXPECT_EQ(model->example_inputs(options).at(0).sizes(), (std::vector<int64_t>{1, 30}));
  EXPECT_FALSE(exported_model_info(exported_sample("torch213/texts.pt2")).dimensions_alone) << "its batch varies";
  EXPECT_FALSE(exported_model_info(exported_sample("torch213/plain.pt2")).dimensions_alone) << "nothing varies";
}

TEST(ExportedModel, HasARangeThatEndsAtItsLimitWhereEagerCanRunThere) {
  const auto maximum_with = [](const std::function<void(nlohmann::json&)>& limit) {
    auto records = exported::records_of(exported_sample("torch213/length.pt2"));
    exported::edit_json(records, "models/model.json",
                        [&](nlohmann::json& program) { limit(program["range_constraints"].begin().value()); });
    const TemporaryFolder folder;
    const std::string edited = (folder.path() / "length.pt2").string();
    exported::write_archive(edited, records);
    return made(edited)->dimensions().at(0).maximum;
  };
  EXPECT_EQ(maximum_with([](nlohmann::json&) {}), 30);
  EXPECT_EQ(maximum_with([](nlohmann::json& range) { range["max_val"] = 131072; }), 1024);
  EXPECT_EQ(maximum_with([](nlohmann::json& range) { range.erase("max_val"); }), 24) << "four times the exported size";
}

TEST_P(OfEachVersion, HasADimensionWhoseNameBeginsThatOfAnotherInAnExpression) {
  auto records = exported::records_of(path("texts.pt2"));
  exported::edit_json(records, "models/model.json", [](nlohmann::json& program) {
    auto& sizes = program["graph_module"]["graph"]["tensor_values"]["ids"]["sizes"];
    sizes[0]["as_expr"]["expr_str"] = "Mul(Integer(2), Symbol('s23', positive=True, integer=True))";
    sizes[1]["as_expr"]["expr_str"] = "Symbol('s2', positive=True, integer=True)";
    program["range_constraints"]["s2"] = program["range_constraints"]["s27"];
  });
  const TemporaryFolder folder;
  const std::string edited = (folder.path() / "texts.pt2").string();
  exported::write_archive(edited, records);
  const auto dimensions = made(edited)->dimensions();
  ASSERT_EQ(dimensions.size(), 1U);
  EXPECT_EQ(dimensions[0].name, "s2");
}

}  // namespace
}  // namespace torchstone::formats
