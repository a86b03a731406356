// Values for logged arguments: literals converted to the types of a schema, and random tensors.
#include <algorithm>
#include <stdexcept>

#include <ATen/ScalarOps.h>
#include <fmt/format.h>

#include "models/operators/operator_call.h"

namespace torchstone::operators {
namespace {

using Kind = Literal::Kind;

[[noreturn]] void misfit(const Literal& literal, const std::string& expected) {
  throw std::invalid_argument(fmt::format("{} (expected {})", to_text(literal), expected));
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

// A number that replaces a tensor promotes types as a number does.
c10::IValue wrapped_number(torch::Tensor tensor) {
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

c10::IValue tensor_of(const Literal& literal, std::vector<TensorSpec>& tensors) {
  if (literal.kind == Kind::integer) return wrapped_number(at::scalar_tensor(literal.integer, torch::kInt64));
  if (literal.kind == Kind::number) return wrapped_number(at::scalar_tensor(literal.number, torch::kFloat64));
  if (literal.kind == Kind::boolean) return wrapped_number(at::scalar_tensor(literal.boolean, torch::kBool));
  if (literal.kind != Kind::call) misfit(literal, "a tensor");
  const TensorSpec spec = tensor_spec_of(literal);
  if (spec.sparse)
    throw std::invalid_argument(fmt::format(
        "the sparse tensor {} cannot be made: a log does not record the indices of its values", to_text(literal)));
  tensors.push_back(spec);
  return torch::Tensor();
}

c10::IValue list_of(const Literal& literal, const c10::TypePtr& element, std::optional<int32_t> length,
                    std::vector<TensorSpec>& tensors) {
  c10::impl::GenericList values(plain_element(element));
  if (literal.kind == Kind::list || literal.kind == Kind::tuple) {
    for (const auto& item : literal.items) values.push_back(bind_literal(item, element, std::nullopt, tensors));
  } else if (length) {  // `int[2] stride`: one number replaces a list of equal ones
    for (int32_t i = 0; i < *length; ++i) values.push_back(bind_literal(literal, element, std::nullopt, tensors));
  } else {
    misfit(literal, "a list");
  }
  return values;
}

c10::IValue plain(const Literal& literal, const c10::Type& type) {
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

}  // namespace

torch::ScalarType to_scalar_type(const std::string& name) {
  const auto& types = c10::getStringToDtypeMap();
  const auto found = types.find(name);
  if (found == types.end()) throw std::invalid_argument("no dtype " + name);
  return found->second;
}

c10::TypePtr plain_element(const c10::TypePtr& element) {
  return element->kind() == c10::TypeKind::SymIntType ? c10::TypePtr(c10::IntType::get()) : element;
}

c10::IValue bind_literal(const Literal& literal, const c10::TypePtr& type, std::optional<int32_t> length,
                         std::vector<TensorSpec>& tensors) {
  switch (type->kind()) {
    case c10::TypeKind::OptionalType:
      if (literal.kind == Kind::none) return {};
      return bind_literal(literal, type->expectRef<c10::OptionalType>().getElementType(), length, tensors);
    case c10::TypeKind::TensorType:
      return tensor_of(literal, tensors);
    case c10::TypeKind::ListType:
      return list_of(literal, type->expectRef<c10::ListType>().getElementType(), length, tensors);
    case c10::TypeKind::ScalarTypeType: {
      const auto* dtype = literal.kind == Kind::name ? find_dtype(literal.text) : nullptr;
      if (!dtype) misfit(literal, "a dtype");
      return static_cast<int64_t>(to_scalar_type(dtype->name));
    }
    case c10::TypeKind::LayoutType:
      if (!literal.text.ends_with(".strided")) misfit(literal, "torch.strided");
      return static_cast<int64_t>(at::kStrided);
    case c10::TypeKind::MemoryFormatType:
      return memory_format_of(literal);
    case c10::TypeKind::DeviceObjType:
      if (literal.kind != Kind::text) misfit(literal, "a device");
      return c10::Device(c10::kCPU);  // the case's device replaces it
    default:
      return plain(literal, *type);
  }
}

torch::Tensor random_tensor(const TensorSpec& spec) {
  constexpr int64_t bound = 9;
  torch::ScalarType type = to_scalar_type(spec.dtype);
  if (at::isFloatingType(type)) type = torch::kFloat32;
  const bool empty = std::find(spec.sizes.begin(), spec.sizes.end(), 0) != spec.sizes.end();
  // Strided tensors are views of one long row: elements of an expanded tensor share memory, which copy_() refuses.
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

}  // namespace torchstone::operators
