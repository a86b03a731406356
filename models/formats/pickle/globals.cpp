#include <map>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "models/formats/pickle/machine.h"

namespace torchstone::formats::pickle {
namespace {

using Arguments = std::vector<Object*>;
using Callable = Object (*)(const Arguments&);

Object ordered_dict(const Arguments& arguments) {
  if (!arguments.empty()) throw std::invalid_argument("expected an empty OrderedDict, filled by SETITEMS");
  return {Dict()};
}

Object device(const Arguments& arguments) {
  auto name = argument<std::string>(arguments, 0, "the name of a device");
  if (arguments.size() > 1) name += fmt::format(":{}", argument<int64_t>(arguments, 1, "the index of a device"));
  return {at::Device(name)};
}

Object complex(const Arguments& arguments) {
  return {c10::complex<double>(argument<double>(arguments, 0, "a real part"),
                               argument<double>(arguments, 1, "an imaginary part"))};
}

Object parameter(const Arguments& arguments) {
  return {argument<at::Tensor>(arguments, 0, "the tensor of a parameter")};
}

/// A tensor that carries attributes, or of a subclass: the bare tensor.
Object from_type(const Arguments& arguments) {
  const auto& function = argument<Global>(arguments, 0, "the function that rebuilds a tensor").name;
  if (function == "torch._tensor._rebuild_from_type_v2")
    throw std::invalid_argument("a tensor rebuilt twice is not expected");
  return call_global(function, argument<Tuple>(arguments, 2, "a tuple of arguments").items);
}

/// Every callable that a pickle may name.
const std::map<std::string, Callable>& callables() {
  static const std::map<std::string, Callable> table = {
      {"collections.OrderedDict", ordered_dict},
      {"torch._utils._rebuild_tensor_v2", [](const Arguments& a) { return Object{rebuild_tensor(a, false)}; }},
      {"torch._utils._rebuild_tensor_v3", [](const Arguments& a) { return Object{rebuild_tensor(a, true)}; }},
      {"torch._utils._rebuild_sparse_tensor", [](const Arguments& a) { return Object{rebuild_sparse_tensor(a)}; }},
      {"torch._utils._rebuild_parameter", parameter},
      {"torch._utils._rebuild_parameter_with_state", parameter},
      {"torch._tensor._rebuild_from_type_v2", from_type},
      {"torch.device", device},
      {"builtins.complex", complex},
      {"__builtin__.complex", complex},
  };
  return table;
}

const std::map<std::string, at::ScalarType>& storages() {
  static const std::map<std::string, at::ScalarType> table = {
      {"torch.FloatStorage", at::kFloat},
      {"torch.DoubleStorage", at::kDouble},
      {"torch.HalfStorage", at::kHalf},
      {"torch.BFloat16Storage", at::kBFloat16},
      {"torch.LongStorage", at::kLong},
      {"torch.IntStorage", at::kInt},
      {"torch.ShortStorage", at::kShort},
      {"torch.CharStorage", at::kChar},
      {"torch.ByteStorage", at::kByte},
      {"torch.BoolStorage", at::kBool},
      {"torch.ComplexFloatStorage", at::kComplexFloat},
      {"torch.ComplexDoubleStorage", at::kComplexDouble},
      {"torch.storage.UntypedStorage", at::kByte},
  };
  return table;
}

/// Python's wrappers that change nothing here, and how torch::pickle_save writes typed lists and dicts.
const std::set<std::string>& wrappers() {
  static const std::set<std::string> names = {
      "torch.Size",
      "torch.serialization._get_layout",
      "torch.jit._pickle.build_intlist",
      "torch.jit._pickle.build_doublelist",
      "torch.jit._pickle.build_boollist",
      "torch.jit._pickle.build_tensorlist",
      "torch.jit._pickle.restore_type_tag",
  };
  return names;
}

bool is_dtype(const std::string& name) {
  return name.starts_with("torch.") && c10::getStringToDtypeMap().contains(name.substr(6));
}

}  // namespace

bool wrapper(const std::string& name) { return wrappers().contains(name); }

bool known_global(const std::string& name) {
  const bool type =
      name == "torch.Tensor" || name == "torch.nn.parameter.Parameter" || name == "torch.nn.parameter.Buffer";
  return type || wrapper(name) || callables().contains(name) || storages().contains(name) || is_dtype(name);
}

Object call_global(const std::string& name, const std::vector<Object*>& arguments) {
  const auto found = callables().find(name);
  if (found == callables().end()) throw std::invalid_argument(fmt::format("{} cannot be called", name));
  return found->second(arguments);
}

at::ScalarType dtype_of(const Global& global) {
  if (!is_dtype(global.name)) throw std::invalid_argument(fmt::format("expected a dtype, got {}", global.name));
  return c10::getStringToDtypeMap().at(global.name.substr(6));
}

Object load_storage(const Object& id, const StorageLoader& loader) {
  const auto* tuple = std::get_if<Tuple>(&id.value);
  if (!tuple) throw std::invalid_argument("expected the tuple of a storage, got " + describe(id));
  const auto& parts = tuple->items;
  if (argument<std::string>(parts, 0, "the word \"storage\"") != "storage") {
    throw std::invalid_argument("expected the word \"storage\", got " + describe(*parts[0]));
  }
  const auto& type = argument<Global>(parts, 1, "a storage class").name;
  const auto found = storages().find(type);
  if (found == storages().end()) throw std::invalid_argument(fmt::format("expected a storage class, got {}", type));
  const auto elements = argument<int64_t>(parts, 4, "the size of a storage");
  auto storage = loader(argument<std::string>(parts, 2, "the key of a storage"));
  const auto size = static_cast<int64_t>(c10::elementSize(found->second));
  if (elements < 0 || elements > static_cast<int64_t>(storage.nbytes()) / size) {
    throw std::invalid_argument(
        fmt::format("expected {} elements of {} bytes in the storage, but its record holds {} bytes", elements, size,
                    storage.nbytes()));
  }
  return {StorageOf{std::move(storage), found->second}};
}

}  // namespace torchstone::formats::pickle
