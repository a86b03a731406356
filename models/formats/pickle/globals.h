#pragma once
#include <functional>
#include <string>
#include <vector>

#include "models/formats/pickle/object.h"

namespace torchstone::formats::pickle {

/// The bytes stored under a key ("0"); throws std::invalid_argument when there is no such record.
using StorageLoader = std::function<at::Storage(const std::string& key)>;

/// Whether a pickle may name this function or class ("torch._utils._rebuild_tensor_v2").
bool known_global(const std::string& name);
/// Whether a call of `name` returns its first argument.
bool wrapper(const std::string& name);
/// What a call of `name` returns in Python. Throws std::invalid_argument or c10::Error for arguments that do not fit.
Object call_global(const std::string& name, const std::vector<Object*>& arguments);
/// The storage of a persistent id ("storage", class, key, device, size).
Object load_storage(const Object& id, const StorageLoader& loader);

/// A tensor over part of a storage; sizes, strides and offset are checked against its size. `arguments`: (storage,
/// offset, sizes, strides, requires_grad, hooks[, dtype][, metadata]) as for torch._utils._rebuild_tensor_v2 and _v3
/// (with dtype).
at::Tensor rebuild_tensor(const std::vector<Object*>& arguments, bool with_dtype);
/// (layout, (parts of the layout …)), as for torch._utils._rebuild_sparse_tensor.
at::Tensor rebuild_sparse_tensor(const std::vector<Object*>& arguments);

/// The argument at `index` as T; throws std::invalid_argument naming what was expected and found.
template <typename T>
const T& argument(const std::vector<Object*>& arguments, size_t index, const char* expected) {
  if (index >= arguments.size()) throw std::invalid_argument(std::string("expected ") + expected + ", got nothing");
  const auto* value = std::get_if<T>(&arguments[index]->value);
  if (!value) throw std::invalid_argument(std::string("expected ") + expected + ", got " + describe(*arguments[index]));
  return *value;
}
/// A dtype global ("torch.float32").
at::ScalarType dtype_of(const Global& global);

}  // namespace torchstone::formats::pickle
