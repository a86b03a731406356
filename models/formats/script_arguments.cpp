#include "models/formats/script_arguments.h"

#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/core/tree.h"

namespace torchstone::formats {
namespace {

namespace jit = torch::jit;

c10::TypePtr without_none(const c10::TypePtr& type) {
  const auto optional = type->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : type;
}

std::string names_of(const std::vector<c10::Argument>& arguments) {
  std::vector<std::string> names;
  for (size_t i = 1; i < arguments.size(); ++i) names.push_back(arguments[i].name());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What `forward` gets for an argument: the value given, an integer as a real number where one is expected, or the
/// default.
c10::IValue value_for(const c10::Argument& argument, const c10::IValue* given, size_t index) {
  if (given == nullptr) {
    if (argument.default_value()) return *argument.default_value();
    throw std::invalid_argument(fmt::format("there is no element [{}] for the argument {} of forward ({}{})", index,
                                            argument.name(), argument.type()->repr_str(),
                                            argument.type()->cast<c10::OptionalType>() ? "; None is possible" : ""));
  }
  if (given->isInt() && without_none(argument.type())->kind() == c10::TypeKind::FloatType)
    return static_cast<double>(given->toInt());
  if (!given->type()->isSubtypeOf(*argument.type()))
    throw std::invalid_argument(fmt::format("element [{}] is {}, but the argument {} of forward is {}", index,
                                            describe(*given), argument.name(), argument.type()->repr_str()));
  return *given;
}

}  // namespace

void fix_arguments(const jit::Module& module, const std::vector<c10::IValue>& arguments) {
  auto& function = jit::toGraphFunction(module.get_method("forward").function());
  const c10::FunctionSchema schema = function.getSchema();
  const auto& expected = schema.arguments();  // the first is the module
  if (arguments.size() + 1 > expected.size())
    throw std::invalid_argument(fmt::format("{} elements, but forward takes {}: {}", arguments.size(),
                                            expected.size() - 1, names_of(expected)));
  auto& graph = *function.graph();
  const jit::WithInsertPoint start(graph.block()->nodes().front());
  std::vector<c10::Argument> kept{expected[0]};
  for (size_t i = 1, input = 1; i < expected.size(); ++i) {
    const auto value = value_for(expected[i], i <= arguments.size() ? &arguments[i - 1] : nullptr, i - 1);
    jit::Value* taken = graph.inputs()[input];
    if (value.isTensor()) {
      const auto type = without_none(taken->type());
      taken->setType(type);  // "is not None" is decided
      kept.emplace_back(expected[i].name(), type);
      ++input;
    } else {
      taken->replaceAllUsesWith(graph.insertConstant(value));
      graph.eraseInput(input);
    }
  }
  function.setSchema(schema.cloneWithArguments(std::move(kept)));
  function.clear_optimized_graphs();
}

}  // namespace torchstone::formats
