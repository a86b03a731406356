// The graphs of a TorchScript module: devices and dtypes in their constants, and the mode they were saved in.
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>

#include "models/formats/python_place.h"
#include "models/formats/script_program.h"

namespace torchstone::formats {
namespace {

namespace jit = torch::jit;
namespace attr = c10::attr;
namespace prim = c10::prim;

void each_node(jit::Block& block, const std::function<void(jit::Node&)>& action) {
  for (auto it = block.nodes().begin(); it != block.nodes().end();) {
    jit::Node& node = **it++;
    action(node);
    for (jit::Block* inner : node.blocks()) each_node(*inner, action);
  }
}

/// The functions that a module can reach, each once.
class Functions {
 public:
  explicit Functions(const jit::Module& module) {
    for (const auto& part : module.modules())
      for (jit::Function* method : part.type()->methods()) add(method);
  }
  const std::vector<jit::GraphFunction*>& list() const { return list_; }

 private:
  void add(jit::Function* function) {
    auto* with_graph = function == nullptr ? nullptr : jit::tryToGraphFunction(*function);
    if (with_graph == nullptr || !seen_.insert(with_graph).second) return;
    list_.push_back(with_graph);
    each_node(*with_graph->graph()->block(), [&](jit::Node& node) {
      if (node.kind() == prim::CallFunction) {
        if (const auto type = node.input(0)->type()->cast<c10::FunctionType>()) add(type->function());
      } else if (node.kind() == prim::CallMethod) {
        if (const auto type = node.input(0)->type()->cast<c10::ClassType>()) add(type->findMethod(node.s(attr::name)));
      }
    });
  }

  std::vector<jit::GraphFunction*> list_;
  std::set<jit::GraphFunction*> seen_;
};

bool is_same_device(torch::Device a, torch::Device b) {
  return a.type() == b.type() && (a.index() == b.index() || !a.has_index() || !b.has_index());
}

/// Replaces `torch.device("cuda")` of a script, which is loaded as a call, by a constant.
void make_device_constant(jit::Node& node) {
  static const auto device_of_text = c10::Symbol::fromQualString("aten::device");
  if (node.kind() != device_of_text || node.inputs().size() != 1) return;
  const auto text = jit::toIValue(node.input(0));
  if (!text || !text->isString()) return;
  const jit::WithInsertPoint here(&node);
  node.output()->replaceAllUsesWith(node.owningGraph()->insertConstant(c10::Device(text->toStringRef())));
}

void move_tensor(jit::Node& node, torch::Device device, std::optional<torch::Dtype> dtype) {
  const torch::Tensor tensor = node.t(attr::value);
  const bool casts = dtype && tensor.is_floating_point();
  node.t_(attr::value, tensor.to(device, casts ? *dtype : tensor.scalar_type()));
  node.output()->setType(c10::TensorType::get());  // the old one may hold device and dtype
}

bool is_constant(const jit::Node& node) { return node.kind() == prim::Constant && node.hasAttribute(attr::value); }

bool is_constant_tensor(const jit::Node& node) {
  return is_constant(node) && node.kindOf(attr::value) == jit::AttributeKind::t;
}

void move_constant(jit::Node& node, torch::Device device, std::optional<torch::Dtype> dtype, ForeignDevices& foreign) {
  if (is_constant_tensor(node)) return move_tensor(node, device, dtype);
  if (!is_constant(node)) return;
  if (node.output()->type()->kind() != c10::TypeKind::DeviceObjType) return;
  const torch::Device old(node.s(attr::value));
  if (is_same_device(old, device)) return;
  ++foreign.constants;
  foreign.devices.insert(old.str());
  node.s_(attr::value, device.str());
}

bool is_dtype(const c10::Argument& argument) {
  auto type = argument.real_type();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  return type->kind() == c10::TypeKind::ScalarTypeType ||
         (argument.name() == "dtype" && type->kind() == c10::TypeKind::IntType);
}

/// Changes dtype arguments from `from` to `to`. Other arguments may use the same constant, which is therefore kept.
void change_dtypes(jit::Node& node, torch::Dtype from, torch::Dtype to) {
  const auto* schema = node.maybeSchema();
  for (size_t i = 0; schema != nullptr && i < schema->arguments().size() && i < node.inputs().size(); ++i) {
    if (!is_dtype(schema->arguments()[i])) continue;
    const auto value = jit::toIValue(node.input(i));
    if (!value || !value->isInt() || value->toInt() != static_cast<int64_t>(from)) continue;
    const jit::WithInsertPoint here(&node);
    node.replaceInput(i, node.owningGraph()->insertConstant(static_cast<int64_t>(to)));
    for (jit::Value* output : node.outputs())
      if (output->type()->cast<c10::TensorType>()) output->setType(c10::TensorType::get());  // it may hold the dtype
  }
}

std::optional<bool> constant_flag(const jit::Node& node) {
  const auto* schema = node.maybeSchema();
  for (size_t i = 0; schema != nullptr && i < schema->arguments().size() && i < node.inputs().size(); ++i) {
    const auto& name = schema->arguments()[i].name();
    if (name != "train" && name != "training") continue;
    const auto value = jit::toIValue(node.input(i));
    if (value && value->isBool()) return value->toBool();
  }
  return std::nullopt;
}

/// Returns whether the mode has no effect: for a dropout with rate 0, and a batch norm without running statistics.
bool ignores_mode(const jit::Node& node) {
  const auto* schema = node.maybeSchema();
  bool ignored = false;
  for (size_t i = 0; schema != nullptr && i < schema->arguments().size() && i < node.inputs().size(); ++i) {
    const auto& name = schema->arguments()[i].name();
    const auto value = jit::toIValue(node.input(i));
    if (!value) continue;
    if (name == "p" || name == "dropout") ignored = ignored || (value->isDouble() && value->toDouble() == 0);
    if (name == "running_mean") ignored = ignored || value->isNone();
  }
  return ignored;
}

}  // namespace

ForeignDevices move_constants(const jit::Module& module, torch::Device device, std::optional<torch::Dtype> dtype,
                              torch::Dtype own) {
  ForeignDevices foreign;
  const Functions functions(module);
  for (jit::GraphFunction* function : functions.list()) {
    auto& block = *function->graph()->block();
    each_node(block, make_device_constant);
    each_node(block, [&](jit::Node& node) { move_constant(node, device, dtype, foreign); });
    if (dtype == torch::kFloat64) each_node(block, [&](jit::Node& node) { change_dtypes(node, own, torch::kFloat64); });
    function->clear_optimized_graphs();  // inlining would use them, with the old constants
  }
  return foreign;
}

torch::Dtype floating_dtype_of(const jit::Module& module) {
  for (const auto& parameter : module.parameters())
    if (parameter.is_floating_point()) return parameter.scalar_type();
  for (const auto& attribute : module.attributes())
    if (attribute.isTensor() && attribute.toTensor().defined() && attribute.toTensor().is_floating_point())
      return attribute.toTensor().scalar_type();
  return torch::kFloat;
}

void use_public_convolutions(const jit::Module& module) {
  const Functions functions(module);
  for (jit::GraphFunction* function : functions.list()) {
    replace_internal_convolutions(*function->graph());
    function->clear_optimized_graphs();
  }
}

std::shared_ptr<jit::Graph> inlined_forward(const jit::Module& module) {
  const auto method = module.get_method("forward");
  auto graph = jit::toGraphFunction(method.function()).graph()->copy();
  jit::Inline(*graph);
  return graph;
}

std::vector<torch::Tensor> constant_tensors(jit::Graph& graph) {
  std::vector<torch::Tensor> tensors;
  each_node(*graph.block(), [&](const jit::Node& node) {
    if (is_constant_tensor(node)) tensors.push_back(node.t(attr::value));
  });
  return tensors;
}

std::string python_place(const jit::Node& node) {
  const auto& range = node.sourceRange();
  if (!range.source()) return "";
  const auto original = range.source()->findSourceRangeThatGenerated(range);
  return innermost_python_place(original ? original->str() : range.str());
}

SavedMode saved_mode(jit::Graph& graph) {
  SavedMode mode;
  bool reads_training = false;
  each_node(*graph.block(), [&](jit::Node& node) {
    reads_training = reads_training || (node.kind() == prim::GetAttr && node.s(attr::name) == "training");
    const auto flag = constant_flag(node);
    if (!flag || ignores_mode(node)) return;
    std::string& found = *flag ? mode.trains : mode.evaluates;
    if (!found.empty()) return;
    const std::string place = python_place(node);
    found = fmt::format("{}{}", node.kind().toQualString(), place.empty() ? "" : fmt::format(" ({})", place));
  });
  return reads_training ? SavedMode{} : mode;
}

}  // namespace torchstone::formats
