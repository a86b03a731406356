#include "models/formats/pickle/machine.h"

#include <array>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>

#include "models/formats/pickle/pickle.h"

namespace torchstone::formats::pickle {

namespace {

/// Opcodes that Python's torch.save and C++'s torch::pickle_save write (protocols 2 to 5), with the names of
/// Python's pickle module.
enum Opcode : uint8_t {
  MARK = '(',
  STOP = '.',
  POP = '0',
  POP_MARK = '1',
  BININT = 'J',
  BININT1 = 'K',
  BININT2 = 'M',
  NONE = 'N',
  BINPERSID = 'Q',
  REDUCE = 'R',
  BINUNICODE = 'X',
  APPEND = 'a',
  BUILD = 'b',
  GLOBAL = 'c',
  DICT = 'd',
  EMPTY_DICT = '}',
  APPENDS = 'e',
  BINGET = 'h',
  LONG_BINGET = 'j',
  LIST = 'l',
  EMPTY_LIST = ']',
  BINPUT = 'q',
  LONG_BINPUT = 'r',
  SETITEM = 's',
  TUPLE = 't',
  EMPTY_TUPLE = ')',
  SETITEMS = 'u',
  BINFLOAT = 'G',
  PROTO = 0x80,
  TUPLE1 = 0x85,
  TUPLE2 = 0x86,
  TUPLE3 = 0x87,
  NEWTRUE = 0x88,
  NEWFALSE = 0x89,
  LONG1 = 0x8a,
  LONG4 = 0x8b,
  SHORT_BINUNICODE = 0x8c,
  BINUNICODE8 = 0x8d,
  STACK_GLOBAL = 0x93,
  MEMOIZE = 0x94,
  FRAME = 0x95,
};

/// State of the interpreter.
struct Machine {
  ByteReader bytes;
  const StorageLoader& loader;
  Stack stack{};
};
using Instruction = void (*)(Machine&);

void check_protocol(int protocol) {
  if (protocol < 2 || protocol > 5)
    throw std::invalid_argument(fmt::format("expected protocol 2 to 5, got {}", protocol));
}

void push_text(Machine& m, uint64_t size) { m.stack.push_new(std::string(m.bytes.take(size))); }

void append(Machine& m, const std::vector<Object*>& items) {
  auto& list = m.stack.top_as<List>("a list").items;
  list.insert(list.end(), items.begin(), items.end());
}

/// Adds entries to a dict. `items` alternates keys and values.
void set_items(Dict& dict, const std::vector<Object*>& items) {
  if (items.size() % 2 != 0) throw std::invalid_argument("expected a value for every key");
  for (size_t i = 0; i < items.size(); i += 2) dict.entries.emplace_back(items[i], items[i + 1]);
}

void make_dict(Machine& m) {
  Dict dict;
  set_items(dict, m.stack.pop_to_mark());
  m.stack.push_new(std::move(dict));
}

void set_items(Machine& m, const std::vector<Object*>& items) { set_items(m.stack.top_as<Dict>("a dict"), items); }

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

/// Returns the instruction of each opcode except STOP; null for opcodes that torch.save does not write. Instructions
/// throw std::invalid_argument or c10::Error.
std::array<Instruction, 256> make_instructions() {
  std::array<Instruction, 256> table{};
  table[PROTO] = [](Machine& m) { check_protocol(m.bytes.number<uint8_t>()); };
  table[FRAME] = [](Machine& m) { m.bytes.take(8); };
  table[MARK] = [](Machine& m) { m.stack.mark(); };
  table[POP] = [](Machine& m) { m.stack.pop(); };
  table[POP_MARK] = [](Machine& m) { m.stack.pop_to_mark(); };
  // plain values
  table[NONE] = [](Machine& m) { m.stack.push_new(std::monostate()); };
  table[NEWTRUE] = [](Machine& m) { m.stack.push_new(true); };
  table[NEWFALSE] = [](Machine& m) { m.stack.push_new(false); };
  table[BININT] = [](Machine& m) { m.stack.push_new(int64_t{m.bytes.number<int32_t>()}); };
  table[BININT1] = [](Machine& m) { m.stack.push_new(int64_t{m.bytes.number<uint8_t>()}); };
  table[BININT2] = [](Machine& m) { m.stack.push_new(int64_t{m.bytes.number<uint16_t>()}); };
  table[LONG1] = [](Machine& m) { m.stack.push_new(m.bytes.integer(m.bytes.number<uint8_t>())); };
  table[LONG4] = [](Machine& m) { m.stack.push_new(m.bytes.integer(m.bytes.number<uint32_t>())); };
  table[BINFLOAT] = [](Machine& m) { m.stack.push_new(m.bytes.big_endian_double()); };
  table[BINUNICODE] = [](Machine& m) { push_text(m, m.bytes.number<uint32_t>()); };
  table[SHORT_BINUNICODE] = [](Machine& m) { push_text(m, m.bytes.number<uint8_t>()); };
  table[BINUNICODE8] = [](Machine& m) { push_text(m, m.bytes.number<uint64_t>()); };
  // containers
  table[EMPTY_TUPLE] = [](Machine& m) { m.stack.push_new(Tuple()); };
  table[TUPLE] = [](Machine& m) { m.stack.push_new(Tuple{m.stack.pop_to_mark()}); };
  table[TUPLE1] = [](Machine& m) { m.stack.push_new(Tuple{m.stack.pop_many(1)}); };
  table[TUPLE2] = [](Machine& m) { m.stack.push_new(Tuple{m.stack.pop_many(2)}); };
  table[TUPLE3] = [](Machine& m) { m.stack.push_new(Tuple{m.stack.pop_many(3)}); };
  table[EMPTY_LIST] = [](Machine& m) { m.stack.push_new(List()); };
  table[LIST] = [](Machine& m) { m.stack.push_new(List{m.stack.pop_to_mark()}); };
  table[APPEND] = [](Machine& m) { append(m, m.stack.pop_many(1)); };
  table[APPENDS] = [](Machine& m) { append(m, m.stack.pop_to_mark()); };
  table[EMPTY_DICT] = [](Machine& m) { m.stack.push_new(Dict()); };
  table[DICT] = make_dict;
  table[SETITEM] = [](Machine& m) { set_items(m, m.stack.pop_many(2)); };
  table[SETITEMS] = [](Machine& m) { set_items(m, m.stack.pop_to_mark()); };
  // globals, calls and storages
  table[GLOBAL] = [](Machine& m) {
    const auto module = m.bytes.line();
    push_global(m, module, m.bytes.line());
  };
  table[STACK_GLOBAL] = push_global_of_stack;
  table[REDUCE] = reduce;
  table[BINPERSID] = [](Machine& m) { m.stack.push_new(load_storage(*m.stack.pop(), m.loader).value); };
  table[BUILD] = drop_attributes;
  // memo
  table[BINPUT] = [](Machine& m) { m.stack.memoize(m.bytes.number<uint8_t>()); };
  table[LONG_BINPUT] = [](Machine& m) { m.stack.memoize(m.bytes.number<uint32_t>()); };
  table[MEMOIZE] = [](Machine& m) { m.stack.memoize(); };
  table[BINGET] = [](Machine& m) { m.stack.recall(m.bytes.number<uint8_t>()); };
  table[LONG_BINGET] = [](Machine& m) { m.stack.recall(m.bytes.number<uint32_t>()); };
  return table;
}

/// Executes one instruction. Returns false after the last.
bool step(Machine& m) {
  static const auto instructions = make_instructions();
  const auto opcode = m.bytes.number<uint8_t>();
  if (opcode == STOP) return false;
  if (!instructions[opcode])
    throw std::invalid_argument(fmt::format("opcode 0x{:02x} is not expected in a file of torch.save", opcode));
  instructions[opcode](m);
  return true;
}

}  // namespace

c10::IValue unpickle(std::string_view bytes, const StorageLoader& loader, uint64_t file_bytes) {
  Machine machine{ByteReader(bytes), loader};
  size_t position = 0;
  try {
    do position = machine.bytes.position();
    while (step(machine));
    return to_ivalue(*machine.stack.pop(), file_bytes);
  } catch (const c10::Error& error) {
    throw PickleError(fmt::format("data.pkl, byte {}: {}", position, error.what_without_backtrace()));
  } catch (const std::invalid_argument& error) {
    throw PickleError(fmt::format("data.pkl, byte {}: {}", position, error.what()));
  }
}

}  // namespace torchstone::formats::pickle
