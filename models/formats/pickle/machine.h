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
/// A function or class of Python that the reader knows, by name. Nothing happens until it is called.
struct Global {
  std::string name;
};
/// A record of the archive, and the dtype of its storage class in Python (Byte for an untyped storage).
struct StorageOf {
  at::Storage storage;
  at::ScalarType dtype;
};

/// A Python value while a pickle is read. The stack owns all objects, because lists and dicts may hold themselves.
struct Object {
  std::variant<std::monostate, bool, int64_t, double, c10::complex<double>, std::string, at::Tensor, at::Device, Global,
               StorageOf, List, Tuple, Dict>
      value;
};

/// For messages: "a list", "the string \"abc\"", "the global torch.Size".
std::string describe(const Object& object);
/// The value for LibTorch. Throws std::invalid_argument for cycles, too many levels or values, keys of more than 4096
/// bytes, values that an IValue cannot hold, and tensors that come to more than 256 MiB and eight times `file_bytes`
/// when each is counted with all its elements as often as it is reached: strides of 0 and names for one tensor cost a
/// file nothing, but whoever copies the value everything.
c10::IValue to_ivalue(const Object& root, uint64_t file_bytes);

static_assert(std::endian::native == std::endian::little, "a pickle holds little-endian numbers");

/// Reads the bytes of a pickle from front to back. Every function throws std::invalid_argument when too few are left.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  size_t position() const { return position_; }

  std::string_view take(uint64_t size);
  /// Up to the next line break, which is passed over.
  std::string line();
  /// A little-endian integer.
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  /// A two's complement integer of `size` bytes. Throws std::invalid_argument above 8.
  int64_t integer(uint64_t size);
  /// A big-endian IEEE 754 double.
  double big_endian_double();

 private:
  std::string_view bytes_;
  size_t position_ = 0;
};

/// The memory of the pickle machine: its stack with marks, its memo, and the objects that both point to. Every function
/// throws std::invalid_argument when the stack or the memo does not hold what is asked for.
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

  /// The topmost value above the last mark.
  Object* top() const;
  Object* pop();
  /// The topmost value as T; `expected` names T in the error.
  template <typename T>
  T& top_as(const char* expected) const {
    auto* value = std::get_if<T>(&top()->value);
    if (!value) throw std::invalid_argument(std::string("expected ") + expected + ", got " + describe(*top()));
    return *value;
  }

  void mark() { marks_.push_back(values_.size()); }
  /// Everything above the last mark, lowest first; removes the mark too.
  std::vector<Object*> pop_to_mark();
  /// The topmost `size` values, lowest first.
  std::vector<Object*> pop_many(size_t size);

  /// Stores the topmost value in the memo.
  void memoize(uint32_t key) { memo_[key] = top(); }
  /// Stores it under the number of values that the memo holds.
  void memoize() { memoize(static_cast<uint32_t>(memo_.size())); }
  /// Pushes a value of the memo.
  void recall(uint32_t key);

 private:
  static constexpr size_t most_objects = 6'000'000;  // one takes a byte of the file, and 150 when it is made a value
  std::deque<Object> objects_;                       // a deque, because addresses must stay
  std::vector<Object*> values_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, Object*> memo_;
};

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

/// Interprets the instructions of a pickle (protocols 2 to 5) and returns its value. Nothing of the file is executed:
/// an instruction can only make containers and plain values, and call the functions that it knows. Throws PickleError
/// naming the byte. `file_bytes`: of the archive, which limits what its tensors may come to (to_ivalue()).
c10::IValue unpickle(std::string_view bytes, const StorageLoader& loader, uint64_t file_bytes = 0);

}  // namespace torchstone::formats::pickle
