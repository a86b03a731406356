// The functions and classes that a pickle may name, and what calling them makes.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/formats/pickle/machine.h"

namespace torchstone::formats::pickle {
namespace {

using Arguments = std::vector<Object*>;
using Callable = Object (*)(const Arguments&);

bool is_dtype(const std::string& name) {
  return name.starts_with("torch.") && c10::getStringToDtypeMap().contains(name.substr(6));
}

at::ScalarType dtype_of(const Global& global) {
  if (!is_dtype(global.name)) throw std::invalid_argument(fmt::format("expected a dtype, got {}", global.name));
  return c10::getStringToDtypeMap().at(global.name.substr(6));
}

// A stride of 0 or a sparse tensor can claim any number of elements. Real files stay far below these limits.
constexpr int64_t most_elements = int64_t{1} << 40, most_repeated_elements = int64_t{1} << 28;
constexpr size_t most_dimensions = 64;

std::vector<int64_t> integers(const Arguments& arguments, size_t index, const char* expected) {
  std::vector<int64_t> values;
  const auto& items = argument<Tuple>(arguments, index, expected).items;
  if (items.size() > most_dimensions)
    throw std::invalid_argument(fmt::format("expected at most {} dimensions", most_dimensions));
  for (size_t i = 0; i < items.size(); ++i) {
    values.push_back(argument<int64_t>(items, i, expected));
    if (values.back() < 0) throw std::invalid_argument(fmt::format("expected {}, got {}", expected, values.back()));
  }
  return values;
}

int64_t count(const std::vector<int64_t>& sizes) {
  if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
  int64_t elements = 1;
  for (const auto size : sizes) {
    if (size > most_elements / elements)
      throw std::invalid_argument(
          fmt::format("expected at most {} elements, got the shape [{}]", most_elements, fmt::join(sizes, ", ")));
    elements *= size;
  }
  return elements;
}

/// Returns the end of the elements that a tensor reaches. Throws std::invalid_argument on overflow.
int64_t extent(int64_t offset, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t end = offset + 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t step = 0;
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) || __builtin_add_overflow(end, step, &end))
      throw std::invalid_argument("the strides of a tensor overflow");
  }
  return end;
}

/// Sets all non-zero bytes to 1: reading any other value as bool is undefined behaviour in C++.
void normalise_booleans(const at::Storage& storage, int64_t offset, int64_t elements) {
  auto bytes = at::empty({0}, at::kByte).set_(storage, offset, {elements}, {1});
  if (bytes.gt(1).any().item<bool>()) bytes.copy_(bytes.ne(0));
}

bool flag(const Dict& metadata, const std::string& name) {
  return std::ranges::any_of(metadata.entries, [&](const auto& entry) {
    const auto* key = std::get_if<std::string>(&entry.first->value);
    const auto* value = std::get_if<bool>(&entry.second->value);
    return key && *key == name && value && *value;
  });
}

/// Makes a tensor over part of a storage, and checks sizes, strides and offset against its size. `arguments`: (storage,
/// offset, sizes, strides, requires_grad, hooks[, dtype][, metadata]) as for torch._utils._rebuild_tensor_v2 and _v3
/// (with dtype).
at::Tensor rebuild_tensor(const Arguments& arguments, bool with_dtype) {
  const auto& [storage, storage_dtype] = argument<StorageOf>(arguments, 0, "the storage of a tensor");
  const auto dtype = with_dtype ? dtype_of(argument<Global>(arguments, 6, "the dtype of a tensor")) : storage_dtype;
  const auto offset = argument<int64_t>(arguments, 1, "the offset of a tensor");
  const auto sizes = integers(arguments, 2, "sizes of at least 0");
  const auto strides = integers(arguments, 3, "strides of at least 0");
  if (sizes.size() != strides.size())
    throw std::invalid_argument(
        fmt::format("expected as many strides as sizes, got {} and {}", strides.size(), sizes.size()));
  const auto available = static_cast<int64_t>(storage.nbytes() / c10::elementSize(dtype));
  if (offset < 0 || offset > available)
    throw std::invalid_argument(fmt::format("expected an offset within {} elements, got {}", available, offset));
  const auto elements = count(sizes);
  const auto end = elements > 0 ? extent(offset, sizes, strides) : offset;
  if (end > available)
    throw std::invalid_argument(
        fmt::format("a tensor of shape [{}], strides [{}] and offset {} needs {} elements, its storage has {}",
                    fmt::join(sizes, ", "), fmt::join(strides, ", "), offset, end, available));
  if (elements > std::max(available, most_repeated_elements))
    throw std::invalid_argument(fmt::format("a tensor of shape [{}] repeats the {} elements of its storage too often",
                                            fmt::join(sizes, ", "), available));
  if (dtype == at::kBool && elements > 0) normalise_booleans(storage, offset, end - offset);
  auto tensor = at::empty({0}, dtype).set_(storage, offset, sizes, strides);
  const size_t metadata = with_dtype ? 7 : 6;
  const auto* flags = arguments.size() > metadata ? std::get_if<Dict>(&arguments[metadata]->value) : nullptr;
  if (flags && flag(*flags, "conj")) tensor = tensor.conj();
  if (flags && flag(*flags, "neg")) tensor = at::_neg_view(tensor);
  return tensor;
}

/// Makes a sparse tensor of (layout, (parts of the layout …)), as torch._utils._rebuild_sparse_tensor does.
at::Tensor rebuild_sparse_tensor(const Arguments& arguments) {
  const auto& layout = argument<std::string>(arguments, 0, "a layout");
  const auto& parts = argument<Tuple>(arguments, 1, "the parts of a sparse tensor").items;
  const bool coo = layout == "torch.sparse_coo";
  const auto& first = argument<at::Tensor>(parts, 0, "indices");
  const auto& values = argument<at::Tensor>(parts, coo ? 1 : 2, "values");
  const auto sizes = integers(parts, coo ? 2 : 3, "sizes of at least 0");
  if (count(sizes) > std::max(values.numel(), most_repeated_elements))
    throw std::invalid_argument(fmt::format("a sparse tensor of shape [{}] is too large", fmt::join(sizes, ", ")));
  if (coo) {
    at::_validate_sparse_coo_tensor_args(first, values, sizes);
    return at::sparse_coo_tensor(first, values, sizes, values.options().layout(at::kSparse));
  }
  static const std::map<std::string, at::Layout> layouts = {{"torch.sparse_csr", at::kSparseCsr},
                                                            {"torch.sparse_csc", at::kSparseCsc},
                                                            {"torch.sparse_bsr", at::kSparseBsr},
                                                            {"torch.sparse_bsc", at::kSparseBsc}};
  const auto found = layouts.find(layout);
  if (found == layouts.end()) throw std::invalid_argument(fmt::format("expected a sparse layout, got {}", layout));
  const auto& second = argument<at::Tensor>(parts, 1, "indices");
  at::_validate_sparse_compressed_tensor_args(first, second, values, sizes, found->second);
  return at::sparse_compressed_tensor(first, second, values, sizes, values.options().layout(found->second));
}

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

/// Returns the plain tensor of a subclass, or of a tensor with attributes.
Object from_type(const Arguments& arguments) {
  const auto& function = argument<Global>(arguments, 0, "the function that rebuilds a tensor").name;
  if (function == "torch._tensor._rebuild_from_type_v2")
    throw std::invalid_argument("expected a tensor that is rebuilt once");
  return call_global(function, argument<Tuple>(arguments, 2, "a tuple of arguments").items);
}

const std::map<std::string, Callable> callables = {
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

/// Returns the dtypes of Python's storage classes.
const std::map<std::string, at::ScalarType>& storages() {
  static const auto table = [] {
    std::map<std::string, at::ScalarType> dtypes{{"torch.storage.UntypedStorage", at::kByte}};
    for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort,
                             at::kChar, at::kByte, at::kBool, at::kComplexFloat, at::kComplexDouble})
      dtypes[fmt::format("torch.{}Storage", c10::toString(dtype))] = dtype;
    return dtypes;
  }();
  return table;
}

/// Python's wrappers that change nothing here, and the wrappers of torch::pickle_save for typed lists and dicts.
const std::set<std::string> wrappers = {
    "torch.Size",
    "torch.serialization._get_layout",
    "torch.jit._pickle.build_intlist",
    "torch.jit._pickle.build_doublelist",
    "torch.jit._pickle.build_boollist",
    "torch.jit._pickle.build_tensorlist",
    "torch.jit._pickle.restore_type_tag",
};

}  // namespace

bool is_wrapper(const std::string& name) { return wrappers.contains(name); }

bool known_global(const std::string& name) {
  const bool is_class =
      name == "torch.Tensor" || name == "torch.nn.parameter.Parameter" || name == "torch.nn.parameter.Buffer";
  return is_class || is_wrapper(name) || callables.contains(name) || storages().contains(name) || is_dtype(name);
}

Object call_global(const std::string& name, const Arguments& arguments) {
  const auto found = callables.find(name);
  if (found == callables.end()) throw std::invalid_argument(fmt::format("{} cannot be called", name));
  return found->second(arguments);
}

Object load_storage(Object& id, const StorageLoader& loader) {
  const auto& parts = as<Tuple>(id, "the tuple of a storage").items;
  if (argument<std::string>(parts, 0, "the word \"storage\"") != "storage")
    throw std::invalid_argument("expected the word \"storage\", got " + describe(*parts[0]));
  const auto& type = argument<Global>(parts, 1, "a storage class").name;
  const auto found = storages().find(type);
  if (found == storages().end()) throw std::invalid_argument(fmt::format("expected a storage class, got {}", type));
  const auto elements = argument<int64_t>(parts, 4, "the size of a storage");
  auto storage = loader(argument<std::string>(parts, 2, "the key of a storage"));
  const auto size = static_cast<int64_t>(c10::elementSize(found->second));
  if (elements < 0 || elements > static_cast<int64_t>(storage.nbytes()) / size)
    throw std::invalid_argument(
        fmt::format("expected {} elements of {} bytes in the storage, but its record has {} bytes", elements, size,
                    storage.nbytes()));
  return {StorageOf{std::move(storage), found->second}};
}

}  // namespace torchstone::formats::pickle
