#pragma once
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <torch/torch.h>

namespace torchstone::formats::pickle {

struct Object;

struct List {
  std::vector<Object*> items;
};
struct Tuple {
  std::vector<Object*> items;
};
struct Dict {
  std::vector<std::pair<Object*, Object*>> entries;
};
/// The name of a function or class of Python that the reader knows. Nothing happens until it is called.
struct Global {
  std::string name;
};
/// A record of the archive, with the dtype of its storage class in Python (Byte for an untyped storage).
struct StorageOf {
  at::Storage storage;
  at::ScalarType dtype;
};

/// A Python value while a pickle is read. The stack owns all objects, because lists and dicts may contain themselves.
struct Object {
  std::variant<std::monostate, bool, int64_t, double, c10::complex<double>, std::string, at::Tensor, at::Device, Global,
               StorageOf, List, Tuple, Dict>
      value;
};

/// Returns an object for messages: "a list", "the string \"abc\"", "the global torch.Size".
std::string describe(const Object& object);
/// Returns the value for LibTorch. Throws std::invalid_argument for cycles, too many levels or values, keys of more
/// than 4096 bytes, and values that an IValue cannot hold. It also throws when the tensors exceed 256 MiB and eight
/// times `file_bytes`, where each reference to a tensor counts with all its elements: strides of 0 and repeated
/// references need no space in a file, but much in a copy of the value.
c10::IValue to_ivalue(const Object& root, uint64_t file_bytes);

/// Returns the bytes stored under a key ("0"). Throws std::invalid_argument without such a record.
using StorageLoader = std::function<at::Storage(const std::string& key)>;

/// Returns whether a pickle may name this function or class ("torch._utils._rebuild_tensor_v2").
bool known_global(const std::string& name);
/// Returns whether a call of `name` returns its first argument.
bool is_wrapper(const std::string& name);
/// Returns what a call of `name` returns in Python. Throws std::invalid_argument or c10::Error for arguments that do
/// not fit.
Object call_global(const std::string& name, const std::vector<Object*>& arguments);
/// Returns the storage of a persistent id ("storage", class, key, device, size).
Object load_storage(Object& id, const StorageLoader& loader);

/// Returns an object's value as T. Throws std::invalid_argument with what was expected and found.
template <typename T>
T& as(Object& object, const char* expected) {
  auto* value = std::get_if<T>(&object.value);
  if (!value) throw std::invalid_argument(std::string("expected ") + expected + ", got " + describe(object));
  return *value;
}

/// Returns the argument at `index` as T.
template <typename T>
const T& argument(const std::vector<Object*>& arguments, size_t index, const char* expected) {
  if (index >= arguments.size()) throw std::invalid_argument(std::string("expected ") + expected + ", got nothing");
  return as<T>(*arguments[index], expected);
}

/// Interprets the instructions of a pickle (protocols 2 to 5) and returns its value. No code of the file is executed:
/// instructions can only make containers and plain values, and call known functions. Throws PickleError with the byte.
/// `file_bytes` is the size of the archive, which limits the size of its tensors (to_ivalue()).
c10::IValue unpickle(std::string_view bytes, const StorageLoader& loader, uint64_t file_bytes = 0);

}  // namespace torchstone::formats::pickle
