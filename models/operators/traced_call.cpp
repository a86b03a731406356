#include "models/operators/traced_call.h"

#include <algorithm>

#include <ATen/TracerMode.h>
#include <torch/csrc/jit/frontend/tracer.h>

namespace torchstone::operators {
namespace {

namespace tracer = torch::jit::tracer;

}  // namespace

torch::jit::Value* traced_value(torch::jit::Graph& graph, const c10::IValue& value) {
  if (value.isTensor()) return tracer::getValueTrace(value);
  if (!value.isTensorList()) return graph.insertConstant(value);
  std::vector<torch::jit::Value*> items;
  for (const at::Tensor& tensor : value.toTensorList()) items.push_back(tracer::getValueTrace(tensor));
  return graph.insertNode(graph.createList(c10::TensorType::get(), items))->output();
}

void call_boxed(const c10::OperatorHandle& operation, torch::jit::Stack& stack) {
  const bool masked = std::ranges::any_of(stack, [](const c10::IValue& value) { return value.isBoolList(); });
  if (!masked || !tracer::isTracing()) return operation.callBoxed(stack);
  auto& graph = *tracer::getTracingState()->graph;
  std::vector<torch::jit::Value*> arguments;
  for (const auto& value : stack) arguments.push_back(traced_value(graph, value));
  {
    const at::tracer::impl::NoTracerDispatchMode untraced;
    operation.callBoxed(stack);
  }
  const auto kind = c10::Symbol::fromQualString(operation.schema().name());
  auto* node = graph.insertNode(graph.create(kind, arguments, stack.size()));
  for (size_t i = 0; i < stack.size(); ++i) {
    if (stack[i].isTensor() && stack[i].toTensor().defined()) tracer::setValueTrace(stack[i], node->output(i));
  }
}

}  // namespace torchstone::operators
