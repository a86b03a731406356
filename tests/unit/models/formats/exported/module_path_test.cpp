#include <set>

#include <gmock/gmock.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torchstone/model.h>

#include "models/core/tree.h"
#include "models/formats/exported/json_place.h"
#include "models/formats/model_file.h"
#include "models/formats/python_place.h"
#include "models/formats/script_program.h"
#include "tests/temporary_folder.h"
#include "tests/unit/models/formats/exported/edited_archive.h"

namespace torchstone::formats::exported {
namespace {

namespace jit = torch::jit;
using nlohmann::json;

std::string path_of(const std::string& stack) {
  const json node = {{"metadata", {{"nn_module_stack", stack}}}};
  return module_path(JsonPlace(node, "node"));
}

TEST(ModulePath, IsThatOfTheInnermostModule) {
  EXPECT_EQ(path_of("L__self__,,__main__.Net"), own_forward);
  EXPECT_EQ(path_of("L__self__,,__main__.Net;L__self__layers,layers,torch.nn.modules.container.Sequential;"
                    "L__self__layers.0,layers.0,__main__.Block"),
            "layers.0");
  EXPECT_EQ(path_of("a,conv@1,T"), "conv") << "called a second time";
  EXPECT_EQ(path_of("getattr(L['self'].layers, '0'),layers.0,T"), "layers.0") << "the key of older exports";
}

TEST(ModulePath, OfAnotherFormIsNone) {
  for (const char* stack : {"", ";", "layers.0", "a,b", "a,b,c,d", "a,L['self'].layers[0],T", "a,.b,T", "a,b.,T",
                            "a,<script>,T", "(,;,", "a,b c,T"})
    EXPECT_EQ(path_of(stack), "") << stack;
  EXPECT_EQ(path_of("a," + std::string(2000, 'x') + ",T"), "");
  const json node = {{"metadata", json::object()}}, bare = json::object();
  EXPECT_EQ(module_path(JsonPlace(node, "node")), "");
  EXPECT_EQ(module_path(JsonPlace(bare, "node")), "");
}

TEST(ModulePath, IsTheScopeOfWhatATracerRecords) {
  const TemporaryFolder folder;
  auto records = records_of(exported_sample("torch213/plain.pt2"));
  const std::string program = "models/model.json";
  ASSERT_TRUE(records.contains(program));
  edit_json(records, program, [](json& archive) {
    int64_t number = 0;
    for (auto& node : archive["graph_module"]["graph"]["nodes"])
      node["metadata"]["nn_module_stack"] = "L__self__,,Net;x,layers." + std::to_string(number++) + ",Block";
  });
  const std::string path = (folder.path() / "named.pt2").string();
  write_archive(path, records);
  const auto model = exported_model_info(path).make({Preset::mini, Mode::inference, 3});
  const auto inputs = model->example_inputs({Preset::mini, Mode::inference, 3});
  for (auto& parameter : model->parameters()) parameter.requires_grad_(false);  // makes them constants of the trace
  const auto traced = jit::tracer::trace(
      jit::Stack(inputs.begin(), inputs.end()),
      [&](const jit::Stack& stack) {
        Tensors given;
        for (const auto& value : stack) given.push_back(value.toTensor());
        return jit::Stack{flatten(model->forward(given)).at(0)};
      },
      [](const torch::Tensor&) { return std::string(); });
  std::set<std::string> modules, sources;
  for (const jit::Node* node : traced.first->graph->nodes()) {
    if (node->kind().is_aten()) modules.insert(module_of_node(*node, jit::Module("none")));
    if (node->kind().is_aten()) sources.insert(python_place(*node).substr(0, 18));
  }
  EXPECT_TRUE(modules.contains("layers.0")) << testing::PrintToString(modules);
  EXPECT_FALSE(modules.contains(""));
  EXPECT_THAT(sources, testing::ElementsAre("write_exported.py:"));
}

}  // namespace
}  // namespace torchstone::formats::exported
