// Libraries of operators: --torchstone_library.
#include <filesystem>
#include <fstream>
#include <optional>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/op_registration/op_registration.h>
#include <gmock/gmock.h>

#include "models/formats/model_file.h"
#include "tests/temporary_folder.h"
#include "tests/unit/models/formats/script_file.h"

namespace torchstone::formats {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string library_path(const std::string& name) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return (program.parent_path().parent_path() / "lib" / ("lib" + name + ".so")).string();
}

/// Returns a module whose forward calls one operator with its input and these arguments.
torch::jit::Module calling(const std::string& name, const std::vector<torch::jit::NamedValue>& more) {
  torch::jit::Module module("net");
  module.define("def forward(self, x):\n  return x\n");
  auto& graph = *torch::jit::toGraphFunction(module.get_method("forward").function()).graph();
  std::vector<torch::jit::NamedValue> arguments{graph.inputs()[1]};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const torch::jit::WithInsertPoint end(graph.return_node());
  auto* result = graph.insert(c10::Symbol::fromQualString(name), arguments);
  graph.eraseOutput(0);
  graph.registerOutput(result);
  return module;
}

TEST(OperatorLibrary, RefusesFilesThatAreNone) {
  const TemporaryFolder folder;
  const std::string text = folder.path() / "text.so";
  std::ofstream(text) << "no library";
  EXPECT_EQ(first_line_of_error([] { load_operator_library("/nowhere/lib.so"); }),
            "library /nowhere/lib.so: no such file");
  EXPECT_THAT(first_line_of_error([&] { load_operator_library(text); }),
              AllOf(HasSubstr("library " + text), HasSubstr("too short")));
  EXPECT_THAT(first_line_of_error([] { load_operator_library(library_path("torchstone_reports")); }),
              HasSubstr("registered no operator; expected a TORCH_LIBRARY"));
  EXPECT_THAT(operator_libraries(), testing::IsEmpty());
}

TEST(OperatorLibrary, IsAskedForByAFileThatNeedsOne) {
  std::optional<ScriptFile> file;
  {
    const auto registered = c10::RegisterOperators().op("torchstone_gone::twice(Tensor x) -> Tensor",
                                                        [](const torch::Tensor& x) { return x + x; });
    file.emplace(calling("torchstone_gone::twice", {}), Tensors{torch::ones({2, 3})});
  }
  EXPECT_THAT(first_line_of_error([&] { file->info(); }),
              HasSubstr("net.pt: needs the operator torchstone_gone::twice, which LibTorch lacks: "
                        "--torchstone_library=FILE.so loads a library of operators"));
}

TEST(OperatorLibrary, BringsTheOperatorsOfAFile) {
  const std::string library = library_path("shifted_relu");
  const c10::OperatorName name("torchstone_test::shifted_relu", "");
  EXPECT_FALSE(c10::Dispatcher::singleton().findSchema(name));
  load_operator_library(library);
  load_operator_library(library);  // loading it again has no effect
  EXPECT_EQ(operator_libraries(), std::vector<std::string>{library});
  EXPECT_TRUE(c10::Dispatcher::singleton().findSchema(name));
  const ScriptFile file(calling("torchstone_test::shifted_relu", {1.0}), {torch::ones({2, 3})});
  const auto output = file.info().make({})->forward({torch::full({2, 3}, -0.5)});
  EXPECT_TRUE(torch::equal(output.toTensor(), torch::full({2, 3}, 0.5)));
}

}  // namespace
}  // namespace torchstone::formats
