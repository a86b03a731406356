#include "models/formats/pickle/machine.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>
#include <torch/csrc/jit/serialization/pickler_helper.h>

#include "models/formats/pickle/pickle.h"

namespace torchstone::formats::pickle {
namespace {

static_assert(std::endian::native == std::endian::little, "pickles contain little-endian numbers");

/// Reads the bytes of a pickle in order. Every function throws std::invalid_argument when too few remain.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  size_t position() const { return position_; }

  std::string_view take(uint64_t size) {
    const size_t left = bytes_.size() - position_;
    if (size > left) throw std::invalid_argument(fmt::format("expected {} more bytes, only {} are left", size, left));
    position_ += size;
    return bytes_.substr(position_ - size, size);
  }

  /// Reads up to the next line break, and skips it.
  std::string line() {
    const auto end = bytes_.find('\n', position_);
    if (end == std::string_view::npos) throw std::invalid_argument("expected a line break, reached the end");
    const auto text = take(end - position_);
    take(1);
    return std::string(text);
  }

  /// Reads a little-endian integer.
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  /// Reads a two's complement integer of `size` bytes. Throws std::invalid_argument for more than 8.
  int64_t integer(uint64_t size) {
    const auto bytes = take(size);
    if (size > 8)
      throw std::invalid_argument(fmt::format("expected an integer of at most 64 bits, got {} bytes", size));
    uint64_t value = !bytes.empty() && (bytes.back() & 0x80) ? ~uint64_t{0} : 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    return static_cast<int64_t>(value);
  }

  double big_endian_double() {
    uint64_t bits = 0;
    for (const char byte : take(sizeof(bits))) bits = bits << 8 | static_cast<uint8_t>(byte);
    return std::bit_cast<double>(bits);
  }

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
      throw std::invalid_argument(fmt::format("more than {} objects (expected fewer)", most_objects));
    objects_.push_back(Object{std::move(value)});
    push(&objects_.back());
  }

  /// Returns the topmost value above the last mark.
  Object* top() const {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (values_.size() <= floor) throw std::invalid_argument("expected a value, the stack is empty");
    return values_.back();
  }
  Object* pop() {
    auto* value = top();
    values_.pop_back();
    return value;
  }
  /// Returns the topmost value as T; `expected` names T in the error.
  template <typename T>
  T& top_as(const char* expected) const {
    return as<T>(*top(), expected);
  }

  void mark() { marks_.push_back(values_.size()); }
  /// Removes the values above the last mark and the mark itself. Returns them, lowest first.
  std::vector<Object*> pop_to_mark() {
    if (marks_.empty()) throw std::invalid_argument("expected a mark on the stack");
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Object*> items(begin, values_.end());
    values_.erase(begin, values_.end());
    marks_.pop_back();
    return items;
  }
  /// Removes the topmost `size` values. Returns them, lowest first.
  std::vector<Object*> pop_many(size_t size) {
    std::vector<Object*> items(size);
    for (size_t i = size; i-- > 0;) items[i] = pop();
    return items;
  }

  /// Stores the topmost value in the memo.
  void memoize(uint32_t key) { memo_[key] = top(); }
  /// Stores it under the number of values in the memo.
  void memoize() { memoize(static_cast<uint32_t>(memo_.size())); }
  /// Pushes a value of the memo.
  void recall(uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) throw std::invalid_argument(fmt::format("expected a memo {}", key));
    push(found->second);
  }

 private:
  static constexpr size_t most_objects = 6'000'000;  // an object of one byte in the file takes 150 bytes as a value
  std::deque<Object> objects_;                       // a deque, because addresses must not change
  std::vector<Object*> values_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, Object*> memo_;
};

using Opcode = torch::jit::PickleOpCode;

/// State of the interpreter.
struct Machine {
  ByteReader bytes;
  const StorageLoader& loader;
  Stack stack{};
};
using Instruction = void (*)(Machine&);

void push_text(Machine& m, uint64_t size) { m.stack.push_new(std::string(m.bytes.take(size))); }

void append(Machine& m, const std::vector<Object*>& items) {
  auto& list = m.stack.top_as<List>("a list").items;
  list.insert(list.end(), items.begin(), items.end());
}

/// Adds entries to the topmost dict. `items` alternates keys and values.
void set_items(Machine& m, const std::vector<Object*>& items) {
  auto& dict = m.stack.top_as<Dict>("a dict");
  if (items.size() % 2 != 0) throw std::invalid_argument("expected a value for every key");
  for (size_t i = 0; i < items.size(); i += 2) dict.entries.emplace_back(items[i], items[i + 1]);
}

void push_global(Machine& m, const std::string& module, const std::string& name) {
  auto full = module + "." + name;
  if (!known_global(full)) {
    throw std::invalid_argument(
        fmt::format("the file names {}, which is not supported; expected tensors in plain containers "
                    "(convert to dict, list or tuple before torch.save)",
                    full.substr(0, 200)));
  }
  m.stack.push_new(Global{std::move(full)});
}

void push_global_of_stack(Machine& m) {
  const auto names = m.stack.pop_many(2);
  push_global(m, argument<std::string>(names, 0, "the name of a module"),
              argument<std::string>(names, 1, "the name of a global"));
}

/// Calls the function below the topmost value, which holds the arguments.
void reduce(Machine& m) {
  const auto& arguments = m.stack.top_as<Tuple>("a tuple of arguments").items;
  m.stack.pop();
  const auto& function = m.stack.top_as<Global>("a function").name;
  m.stack.pop();
  if (!is_wrapper(function)) return m.stack.push_new(call_global(function, arguments).value);
  if (arguments.empty()) throw std::invalid_argument(fmt::format("expected an argument for {}", function));
  m.stack.push(arguments.front());
}

/// Drops the attributes of an OrderedDict (the versions of a state_dict's modules) or of a tensor.
void drop_attributes(Machine& m) {
  m.stack.pop();
  const Object& owner = *m.stack.top();
  if (!std::holds_alternative<Dict>(owner.value) && !std::holds_alternative<at::Tensor>(owner.value)) {
    throw std::invalid_argument(
        fmt::format("expected a dict or a tensor to give attributes to, got {}", describe(owner)));
  }
}

/// Returns the instruction of each opcode except STOP; null for opcodes that neither Python's torch.save nor C++'s
/// torch::pickle_save writes (protocols 2 to 5). Instructions throw std::invalid_argument or c10::Error.
std::array<Instruction, 256> make_instructions() {
  std::array<Instruction, 256> table{};
  const auto at = [&](Opcode opcode) -> Instruction& { return table[static_cast<uint8_t>(opcode)]; };
  at(Opcode::PROTO) = [](Machine& m) {
    const int protocol = m.bytes.number<uint8_t>();
    if (protocol < 2 || protocol > 5)
      throw std::invalid_argument(fmt::format("expected protocol 2 to 5, got {}", protocol));
  };
  at(Opcode::FRAME) = [](Machine& m) { m.bytes.take(8); };
  at(Opcode::MARK) = [](Machine& m) { m.stack.mark(); };
  at(Opcode::POP) = [](Machine& m) { m.stack.pop(); };
  at(Opcode::POP_MARK) = [](Machine& m) { m.stack.pop_to_mark(); };
  // plain values
  at(Opcode::NONE) = [](Machine& m) { m.stack.push_new(std::monostate()); };
  at(Opcode::NEWTRUE) = [](Machine& m) { m.stack.push_new(true); };
  at(Opcode::NEWFALSE) = [](Machine& m) { m.stack.push_new(false); };
  at(Opcode::BININT) = [](Machine& m) { m.stack.push_new(int64_t{m.bytes.number<int32_t>()}); };
  at(Opcode::BININT1) = [](Machine& m) { m.stack.push_new(int64_t{m.bytes.number<uint8_t>()}); };
  at(Opcode::BININT2) = [](Machine& m) { m.stack.push_new(int64_t{m.bytes.number<uint16_t>()}); };
  at(Opcode::LONG1) = [](Machine& m) { m.stack.push_new(m.bytes.integer(m.bytes.number<uint8_t>())); };
  at(Opcode::LONG4) = [](Machine& m) { m.stack.push_new(m.bytes.integer(m.bytes.number<uint32_t>())); };
  at(Opcode::BINFLOAT) = [](Machine& m) { m.stack.push_new(m.bytes.big_endian_double()); };
  at(Opcode::BINUNICODE) = [](Machine& m) { push_text(m, m.bytes.number<uint32_t>()); };
  at(Opcode::SHORT_BINUNICODE) = [](Machine& m) { push_text(m, m.bytes.number<uint8_t>()); };
  at(Opcode::BINUNICODE8) = [](Machine& m) { push_text(m, m.bytes.number<uint64_t>()); };
  // containers
  at(Opcode::EMPTY_TUPLE) = [](Machine& m) { m.stack.push_new(Tuple()); };
  at(Opcode::TUPLE) = [](Machine& m) { m.stack.push_new(Tuple{m.stack.pop_to_mark()}); };
  at(Opcode::TUPLE1) = [](Machine& m) { m.stack.push_new(Tuple{m.stack.pop_many(1)}); };
  at(Opcode::TUPLE2) = [](Machine& m) { m.stack.push_new(Tuple{m.stack.pop_many(2)}); };
  at(Opcode::TUPLE3) = [](Machine& m) { m.stack.push_new(Tuple{m.stack.pop_many(3)}); };
  at(Opcode::EMPTY_LIST) = [](Machine& m) { m.stack.push_new(List()); };
  at(Opcode::LIST) = [](Machine& m) { m.stack.push_new(List{m.stack.pop_to_mark()}); };
  at(Opcode::APPEND) = [](Machine& m) { append(m, m.stack.pop_many(1)); };
  at(Opcode::APPENDS) = [](Machine& m) { append(m, m.stack.pop_to_mark()); };
  at(Opcode::EMPTY_DICT) = [](Machine& m) { m.stack.push_new(Dict()); };
  at(Opcode::DICT) = [](Machine& m) {
    const auto items = m.stack.pop_to_mark();
    m.stack.push_new(Dict());
    set_items(m, items);
  };
  at(Opcode::SETITEM) = [](Machine& m) { set_items(m, m.stack.pop_many(2)); };
  at(Opcode::SETITEMS) = [](Machine& m) { set_items(m, m.stack.pop_to_mark()); };
  // globals, calls and storages
  at(Opcode::GLOBAL) = [](Machine& m) {
    const auto module = m.bytes.line();
    push_global(m, module, m.bytes.line());
  };
  at(Opcode::STACK_GLOBAL) = push_global_of_stack;
  at(Opcode::REDUCE) = reduce;
  at(Opcode::BINPERSID) = [](Machine& m) { m.stack.push_new(load_storage(*m.stack.pop(), m.loader).value); };
  at(Opcode::BUILD) = drop_attributes;
  // memo
  at(Opcode::BINPUT) = [](Machine& m) { m.stack.memoize(m.bytes.number<uint8_t>()); };
  at(Opcode::LONG_BINPUT) = [](Machine& m) { m.stack.memoize(m.bytes.number<uint32_t>()); };
  at(Opcode::MEMOIZE) = [](Machine& m) { m.stack.memoize(); };
  at(Opcode::BINGET) = [](Machine& m) { m.stack.recall(m.bytes.number<uint8_t>()); };
  at(Opcode::LONG_BINGET) = [](Machine& m) { m.stack.recall(m.bytes.number<uint32_t>()); };
  return table;
}

}  // namespace

c10::IValue unpickle(std::string_view bytes, const StorageLoader& loader, uint64_t file_bytes) {
  static const auto instructions = make_instructions();
  Machine machine{ByteReader(bytes), loader};
  size_t position = 0;
  try {
    while (true) {
      position = machine.bytes.position();
      const auto opcode = machine.bytes.number<uint8_t>();
      if (static_cast<Opcode>(opcode) == Opcode::STOP) break;
      if (!instructions[opcode])
        throw std::invalid_argument(fmt::format("opcode 0x{:02x} is not expected in a file of torch.save", opcode));
      instructions[opcode](machine);
    }
    return to_ivalue(*machine.stack.pop(), file_bytes);
  } catch (const c10::Error& error) {
    throw PickleError(fmt::format("data.pkl, byte {}: {}", position, error.what_without_backtrace()));
  } catch (const std::invalid_argument& error) {
    throw PickleError(fmt::format("data.pkl, byte {}: {}", position, error.what()));
  }
}

}  // namespace torchstone::formats::pickle
