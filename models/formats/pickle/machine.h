#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
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

static_assert(std::endian::native == std::endian::little, "pickles contain little-endian numbers");

/// Reads the bytes of a pickle in order. Every function throws std::invalid_argument when too few remain.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  size_t position() const { return position_; }

  std::string_view take(uint64_t size);
  /// Reads up to the next line break, and skips it.
  std::string line();
  /// Reads a little-endian integer.
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  /// Reads a two's complement integer of `size` bytes. Throws std::invalid_argument for more than 8.
  int64_t integer(uint64_t size);
  /// Reads a big-endian IEEE 754 double.
  double big_endian_double();

 private:
  std::string_view bytes_;
  size_t position_ = 0;
};

/// The memory of the pickle machine: its stack with marks, its memo, and the objects that both point to. Every function
/// throws std::invalid_argument when the stack or the memo lacks the requested value.
class Stack {
 public:
  void push(Object* object) { values_.push_back(object); }
  template <typename T>
  void push_new(T value) {
    if (objects_.size() == most_objects)
      throw std::invalid_argument("more than " + std::to_string(most_objects) + " objects (expected fewer)");
    objects_.push_back(Object{std::move(value)});
    push(&objects_.back());
  }

  /// Returns the topmost value above the last mark.
  Object* top() const;
  Object* pop();
  /// Returns the topmost value as T; `expected` names T in the error.
  template <typename T>
  T& top_as(const char* expected) const {
    auto* value = std::get_if<T>(&top()->value);
    if (!value) throw std::invalid_argument(std::string("expected ") + expected + ", got " + describe(*top()));
    return *value;
  }

  void mark() { marks_.push_back(values_.size()); }
  /// Removes the values above the last mark and the mark itself. Returns them, lowest first.
  std::vector<Object*> pop_to_mark();
  /// Removes the topmost `size` values. Returns them, lowest first.
  std::vector<Object*> pop_many(size_t size);

  /// Stores the topmost value in the memo.
  void memoize(uint32_t key) { memo_[key] = top(); }
  /// Stores it under the number of values in the memo.
  void memoize() { memoize(static_cast<uint32_t>(memo_.size())); }
  /// Pushes a value of the memo.
  void recall(uint32_t key);

 private:
  static constexpr size_t most_objects = 6'000'000;  // an object of one byte in the file takes 150 bytes as a value
  std::deque<Object> objects_;                       // a deque, because addresses must not change
  std::vector<Object*> values_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, Object*> memo_;
};

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
Object load_storage(const Object& id, const StorageLoader& loader);

/// Returns the argument at `index` as T. Throws std::invalid_argument with what was expected and found.
template <typename T>
const T& argument(const std::vector<Object*>& arguments, size_t index, const char* expected) {
  if (index >= arguments.size()) throw std::invalid_argument(std::string("expected ") + expected + ", got nothing");
  const auto* value = std::get_if<T>(&arguments[index]->value);
  if (!value) throw std::invalid_argument(std::string("expected ") + expected + ", got " + describe(*arguments[index]));
  return *value;
}

/// Interprets the instructions of a pickle (protocols 2 to 5) and returns its value. No code of the file is executed:
/// instructions can only make containers and plain values, and call known functions. Throws PickleError with the byte.
/// `file_bytes` is the size of the archive, which limits the size of its tensors (to_ivalue()).
c10::IValue unpickle(std::string_view bytes, const StorageLoader& loader, uint64_t file_bytes = 0);

}  // namespace torchstone::formats::pickle
