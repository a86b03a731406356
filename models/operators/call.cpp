#include "models/operators/call.h"

#include <algorithm>
#include <stdexcept>

#include <ATen/ScalarOps.h>
#include <fmt/format.h>

#include "models/operators/traced_call.h"

namespace torchstone {
namespace {

using Kind = Literal::Kind;

torch::ScalarType scalar_type_of(const std::string& name) {
  const auto& types = c10::getStringToDtypeMap();
  const auto found = types.find(name);
  if (found == types.end()) throw std::invalid_argument("no dtype " + name);
  return found->second;
}

/// The dispatcher takes symbolic sizes as plain integers.
c10::TypePtr plain_element(const c10::TypePtr& element) {
  return element->kind() == c10::TypeKind::SymIntType ? c10::TypePtr(c10::IntType::get()) : element;
}

std::optional<c10::OperatorHandle> lookup(const std::string& name) {
  const size_t first = name.find('.'), last = name.rfind('.');
  const std::string space = name.substr(0, first), base = name.substr(first + 1, last - first - 1);
  std::string overload = name.substr(last + 1);
  if (overload == "default") overload.clear();
  return c10::Dispatcher::singleton().findSchema({space + "::" + base, overload});
}

c10::OperatorHandle find_operator(const std::string& name) {
  const auto found = lookup(name);
  if (!found) throw std::invalid_argument(fmt::format("operator {} does not exist in torch {}", name, TORCH_VERSION));
  return *found;
}

[[noreturn]] void misfit(const Literal& literal, const std::string& expected) {
  throw std::invalid_argument(fmt::format("{} (expected {})", to_text(literal), expected));
}

c10::IValue layout_of(const Literal& literal) {
  if (literal.text.ends_with(".strided")) return static_cast<int64_t>(at::kStrided);
  misfit(literal, "torch.strided");
}

c10::IValue memory_format_of(const Literal& literal) {
  static const std::vector<std::pair<std::string, at::MemoryFormat>> formats{
      {"contiguous_format", at::MemoryFormat::Contiguous},
      {"preserve_format", at::MemoryFormat::Preserve},
      {"channels_last", at::MemoryFormat::ChannelsLast},
      {"channels_last_3d", at::MemoryFormat::ChannelsLast3d}};
  for (const auto& [name, format] : formats)
    if (literal.text.ends_with("." + name)) return static_cast<int64_t>(format);
  misfit(literal, "a memory format");
}

/// Turns literals into what the schema's types want, and collects the tensors on the way.
class Binder {
 public:
  explicit Binder(std::vector<TensorSpec>& tensors) : tensors_(tensors) {}

  c10::IValue bind(const Literal& literal, const c10::TypePtr& type, std::optional<int32_t> length) {
    switch (type->kind()) {
      case c10::TypeKind::OptionalType:
        if (literal.kind == Kind::none) return {};
        return bind(literal, type->expectRef<c10::OptionalType>().getElementType(), length);
      case c10::TypeKind::TensorType:
        return tensor(literal);
      case c10::TypeKind::ListType:
        return list(literal, type->expectRef<c10::ListType>().getElementType(), length);
      case c10::TypeKind::ScalarTypeType: {
        const auto* dtype = literal.kind == Kind::name ? find_dtype(literal.text) : nullptr;
        if (!dtype) misfit(literal, "a dtype");
        return static_cast<int64_t>(scalar_type_of(dtype->name));
      }
      case c10::TypeKind::LayoutType:
        return layout_of(literal);
      case c10::TypeKind::MemoryFormatType:
        return memory_format_of(literal);
      case c10::TypeKind::DeviceObjType:
        if (literal.kind != Kind::text) misfit(literal, "a device");
        return c10::Device(c10::kCPU);  // the case's device replaces it
      default:
        return plain(literal, *type);
    }
  }

 private:
  c10::IValue tensor(const Literal& literal) {
    if (literal.kind == Kind::integer) return number(at::scalar_tensor(literal.integer, torch::kInt64));
    if (literal.kind == Kind::number) return number(at::scalar_tensor(literal.number, torch::kFloat64));
    if (literal.kind == Kind::boolean) return number(at::scalar_tensor(literal.boolean, torch::kBool));
    if (literal.kind != Kind::call) misfit(literal, "a tensor");
    const TensorSpec spec = tensor_spec_of(literal);
    if (spec.sparse)
      throw std::invalid_argument(
          fmt::format("the sparse tensor {} cannot be made: a log does not say where its "
                      "values stand",
                      to_text(literal)));
    tensors_.push_back(spec);
    return torch::Tensor();
  }

  // A number in a tensor's place takes part in type promotion as a number.
  static c10::IValue number(torch::Tensor tensor) {
    tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
    return tensor;
  }

  c10::IValue list(const Literal& literal, const c10::TypePtr& element, std::optional<int32_t> length) {
    c10::impl::GenericList values(plain_element(element));
    if (literal.kind == Kind::list || literal.kind == Kind::tuple) {
      for (const auto& item : literal.items) values.push_back(bind(item, element, std::nullopt));
    } else if (length) {  // `int[2] stride`: one number stands for all
      for (int32_t i = 0; i < *length; ++i) values.push_back(bind(literal, element, std::nullopt));
    } else {
      misfit(literal, "a list");
    }
    return values;
  }

  static c10::IValue plain(const Literal& literal, const c10::Type& type) {
    switch (type.kind()) {
      case c10::TypeKind::IntType:
      case c10::TypeKind::SymIntType:
        if (literal.kind == Kind::integer) return literal.integer;
        if (literal.kind == Kind::boolean) return static_cast<int64_t>(literal.boolean);
        misfit(literal, "an integer");
      case c10::TypeKind::FloatType:
        if (literal.kind == Kind::number) return literal.number;
        if (literal.kind == Kind::integer) return static_cast<double>(literal.integer);
        misfit(literal, "a number");
      case c10::TypeKind::NumberType:
        if (literal.kind == Kind::number) return literal.number;
        if (literal.kind == Kind::integer) return literal.integer;
        if (literal.kind == Kind::boolean) return literal.boolean;
        misfit(literal, "a number");
      case c10::TypeKind::BoolType:
        if (literal.kind == Kind::boolean) return literal.boolean;
        if (literal.kind == Kind::integer) return literal.integer != 0;
        misfit(literal, "True or False");
      case c10::TypeKind::StringType:
        if (literal.kind == Kind::text) return literal.text;
        misfit(literal, "a text");
      default:
        misfit(literal, "nothing: a " + type.str() + " cannot be made from a log");
    }
  }

  std::vector<TensorSpec>& tensors_;
};

const Literal* find_named(const LoggedInput& input, const std::string& name) {
  for (const auto& [key, value] : input.named.entries)
    if (key == name) return &value;
  return nullptr;
}

OperatorCall bind(const std::string& name, const LoggedInput& input) {
  OperatorCall call{find_operator(name), {}, {}};
  const auto& schema = call.operation.schema();
  Binder binder(call.tensors);
  size_t positional = 0, named = 0;
  for (const auto& argument : schema.arguments()) {
    const bool by_place = !argument.kwarg_only() && positional < input.positional.items.size();
    const Literal* value = by_place ? &input.positional.items[positional++] : find_named(input, argument.name());
    if (!by_place && value) ++named;
    if (!value && !argument.default_value())
      throw std::invalid_argument(fmt::format("the argument {} is missing ({})", argument.name(), name));
    try {
      call.arguments.push_back(value ? binder.bind(*value, argument.real_type(), argument.N())
                                     : *argument.default_value());
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("argument {} of {}: {}", argument.name(), name, error.what()));
    }
  }
  if (positional < input.positional.items.size() || named < input.named.entries.size())
    throw std::invalid_argument(fmt::format("{} and {} arguments by place and name, more than {} takes",
                                            input.positional.items.size(), input.named.entries.size(), name));
  return call;
}

bool is_floating(int64_t dtype) { return at::isFloatingType(static_cast<at::ScalarType>(dtype)); }

/// Puts real tensors, dtype and device into the bound arguments.
class Filler {
 public:
  Filler(const Tensors& tensors, torch::ScalarType dtype, torch::Device device)
      : tensors_(tensors), dtype_(dtype), device_(device) {}

  c10::IValue fill(const c10::IValue& value, const c10::TypePtr& type) {
    if (value.isNone()) return value;
    if (type->kind() == c10::TypeKind::OptionalType)
      return fill(value, type->expectRef<c10::OptionalType>().getElementType());
    if (value.isTensor()) return value.toTensor().defined() ? value : c10::IValue(tensors_.at(next_++));
    if (type->kind() == c10::TypeKind::ScalarTypeType && is_floating(value.toInt()))
      return static_cast<int64_t>(dtype_);
    if (type->kind() == c10::TypeKind::DeviceObjType) return device_;
    if (type->kind() != c10::TypeKind::ListType) return value;
    const auto& element = type->expectRef<c10::ListType>().getElementType();
    c10::impl::GenericList filled(plain_element(element));
    for (const auto& item : value.toListRef()) filled.push_back(fill(item, element));
    return filled;
  }

 private:
  const Tensors& tensors_;
  torch::ScalarType dtype_;
  torch::Device device_;
  size_t next_ = 0;
};

}  // namespace

bool has_kernel(const std::string& name, torch::Device device) {
  const auto found = lookup(name);
  return !found || found->hasComputedKernelForDispatchKey(c10::computeDispatchKey(std::nullopt, std::nullopt, device));
}

OperatorCall bind_call(const std::string& name, const LoggedInput& input) {
  try {
    return bind(name, input);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}:{}: {}", input.file, input.line, error.what()));
  }
}

torch::Tensor random_tensor(const TensorSpec& spec) {
  constexpr int64_t bound = 9;
  torch::ScalarType type = scalar_type_of(spec.dtype);
  if (at::isFloatingType(type)) type = torch::kFloat32;
  const bool empty = std::find(spec.sizes.begin(), spec.sizes.end(), 0) != spec.sizes.end();
  // Strided tensors are views of one long row: elements of an expanded one share memory, and copying refuses that.
  const bool strided = !spec.strides.empty() && !empty;
  std::vector<int64_t> sizes = spec.sizes;
  if (strided) {
    sizes = {1};
    for (size_t i = 0; i < spec.sizes.size(); ++i) sizes[0] += (spec.sizes[i] - 1) * spec.strides[i];
  }
  torch::Tensor values;
  if (at::isComplexType(type)) {
    sizes.push_back(2);
    values = torch::view_as_complex(torch::rand(sizes) * (2 * bound) - bound);
  } else if (type == torch::kFloat32) {
    values = torch::rand(sizes) * (2 * bound) - bound;
  } else if (type == torch::kBool) {
    values = torch::randint(0, 2, sizes, torch::kInt64);
  } else {
    values = torch::randint(type == torch::kUInt8 ? 0 : -bound, bound + 1, sizes, torch::kInt64);
  }
  values = values.to(type);
  return strided ? values.as_strided(spec.sizes, spec.strides) : values;
}

torch::Tensor in_channels_last(const torch::Tensor& tensor) {
  if (tensor.dim() == 4) return tensor.contiguous(at::MemoryFormat::ChannelsLast);
  return tensor.dim() == 5 ? tensor.contiguous(at::MemoryFormat::ChannelsLast3d) : tensor;
}

c10::IValue call_operator(const OperatorCall& call, const Tensors& tensors, torch::ScalarType dtype,
                          torch::Device device) {
  Filler filler(tensors, dtype, device);
  torch::jit::Stack stack;
  const auto& arguments = call.operation.schema().arguments();
  for (size_t i = 0; i < arguments.size(); ++i)
    stack.push_back(filler.fill(call.arguments[i], arguments[i].real_type()));
  call_boxed(call.operation, stack);
  if (stack.size() == 1) return stack.front();
  return c10::ivalue::Tuple::create(std::move(stack));
}

}  // namespace torchstone
