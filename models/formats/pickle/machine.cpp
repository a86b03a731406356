#include "models/formats/pickle/machine.h"

#include <bit>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>

#include "models/formats/pickle/pickle.h"

namespace torchstone::formats::pickle {
namespace {

static_assert(std::endian::native == std::endian::little);

/// Bytes in order, never past the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  size_t position() const { return position_; }

  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - position_) {
      throw std::invalid_argument(
          fmt::format("expected {} more bytes, only {} are left", size, bytes_.size() - position_));
    }
    position_ += size;
    return bytes_.substr(position_ - size, size);
  }

  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::string line() {
    const auto end = bytes_.find('\n', position_);
    if (end == std::string_view::npos) throw std::invalid_argument("expected a line break, reached the end");
    const auto text = take(end - position_);
    take(1);
    return std::string(text);
  }

 private:
  std::string_view bytes_;
  size_t position_ = 0;
};

/// Python's LONG1 and LONG4: little-endian two's complement of any length.
int64_t long_integer(std::string_view bytes) {
  if (bytes.size() > 8)
    throw std::invalid_argument(fmt::format("expected an integer of at most 64 bits, got {} bytes", bytes.size()));
  uint64_t value = !bytes.empty() && (bytes.back() & 0x80) ? ~uint64_t{0} : 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return static_cast<int64_t>(value);
}

double big_endian_double(std::string_view bytes) {
  uint64_t bits = 0;
  for (const char byte : bytes) bits = bits << 8 | static_cast<uint8_t>(byte);
  return std::bit_cast<double>(bits);
}

class Machine {
 public:
  Machine(std::string_view bytes, const StorageLoader& loader) : reader_(bytes), loader_(loader) {}

  c10::IValue run() {
    try {
      while (step()) {
      }
      return to_ivalue(*pop());
    } catch (const c10::Error& error) {
      throw PickleError(fmt::format("data.pkl, byte {}: {}", opcode_position_, error.what_without_backtrace()));
    } catch (const std::invalid_argument& error) {
      throw PickleError(fmt::format("data.pkl, byte {}: {}", opcode_position_, error.what()));
    }
  }

 private:
  void push(Object* object) { stack_.push_back(object); }
  template <typename T>
  void push_new(T value) {
    objects_.push_back(Object{std::move(value)});
    push(&objects_.back());
  }

  Object* pop() {
    if (stack_.size() <= floor()) throw std::invalid_argument("expected a value, the stack is empty");
    auto* top = stack_.back();
    stack_.pop_back();
    return top;
  }
  Object* top() {
    if (stack_.size() <= floor()) throw std::invalid_argument("expected a value, the stack is empty");
    return stack_.back();
  }
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  std::vector<Object*> pop_to_mark() {
    if (marks_.empty()) throw std::invalid_argument("expected a mark, there is none");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Object*> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }

  void push_tuple(size_t size) {
    std::vector<Object*> items(size);
    for (size_t i = size; i-- > 0;) items[i] = pop();
    push_new(Tuple{std::move(items)});
  }

  template <typename T>
  T& top_as(const char* expected) {
    auto* value = std::get_if<T>(&top()->value);
    if (!value) throw std::invalid_argument(fmt::format("expected {}, got {}", expected, describe(*top())));
    return *value;
  }

  void append(const std::vector<Object*>& items) {
    auto& list = top_as<List>("a list").items;
    list.insert(list.end(), items.begin(), items.end());
  }

  void set(Dict& dict, const std::vector<Object*>& items) {
    if (items.size() % 2 != 0) throw std::invalid_argument("expected a value for every key");
    for (size_t i = 0; i < items.size(); i += 2) dict.entries.emplace_back(items[i], items[i + 1]);
  }

  void global(const std::string& module, const std::string& name) {
    auto full = module + "." + name;
    if (!known_global(full)) {
      throw std::invalid_argument(
          fmt::format("the file names {}, which is not read; expected tensors in plain containers "
                      "(convert to dict, list or tuple before torch.save)",
                      full.substr(0, 200)));
    }
    push_new(Global{std::move(full)});
  }

  void reduce() {
    const auto* arguments = std::get_if<Tuple>(&top()->value);
    if (!arguments) throw std::invalid_argument(fmt::format("expected a tuple of arguments, got {}", describe(*top())));
    pop();
    const auto* function = std::get_if<Global>(&top()->value);
    if (!function) throw std::invalid_argument(fmt::format("expected a function, got {}", describe(*top())));
    pop();
    if (!wrapper(function->name)) {
      push_new(call_global(function->name, arguments->items).value);
    } else if (!arguments->items.empty()) {
      push(arguments->items.front());
    } else {
      throw std::invalid_argument(fmt::format("expected an argument for {}", function->name));
    }
  }

  /// Attributes of an OrderedDict (the versions of a state_dict's modules) or of a tensor: nothing is compared with
  /// them.
  void build() {
    pop();
    if (!std::holds_alternative<Dict>(top()->value) && !std::holds_alternative<at::Tensor>(top()->value)) {
      throw std::invalid_argument(
          fmt::format("expected a dict or a tensor to give attributes to, got {}", describe(*top())));
    }
  }

  void get(uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) throw std::invalid_argument(fmt::format("expected a memo {}, there is none", key));
    push(found->second);
  }

  void push_text(uint64_t size) { push_new(std::string(reader_.take(size))); }

  /// One instruction; false after the last. The letters are those of Python's pickle module.
  bool step() {
    opcode_position_ = reader_.position();
    const auto opcode = reader_.number<uint8_t>();
    switch (opcode) {
      case 0x80: {  // PROTO
        const auto protocol = reader_.number<uint8_t>();
        if (protocol < 2 || protocol > 5)
          throw std::invalid_argument(fmt::format("expected protocol 2 to 5, got {}", protocol));
        break;
      }
      case 0x95:
        reader_.take(8);
        break;  // FRAME
      case '.':
        return false;  // STOP
      case '(':
        marks_.push_back(stack_.size());
        break;
      case '0':
        pop();
        break;
      case '1':
        pop_to_mark();
        break;
      case 'N':
        push_new(std::monostate());
        break;
      case 0x88:
        push_new(true);
        break;
      case 0x89:
        push_new(false);
        break;
      case 'J':
        push_new(int64_t{reader_.number<int32_t>()});
        break;
      case 'K':
        push_new(int64_t{reader_.number<uint8_t>()});
        break;
      case 'M':
        push_new(int64_t{reader_.number<uint16_t>()});
        break;
      case 0x8a:
        push_new(long_integer(reader_.take(reader_.number<uint8_t>())));
        break;
      case 0x8b:
        push_new(long_integer(reader_.take(reader_.number<uint32_t>())));
        break;
      case 'G':
        push_new(big_endian_double(reader_.take(8)));
        break;
      case 'X':
        push_text(reader_.number<uint32_t>());
        break;
      case 0x8c:
        push_text(reader_.number<uint8_t>());
        break;
      case 0x8d:
        push_text(reader_.number<uint64_t>());
        break;
      case ')':
        push_new(Tuple());
        break;
      case 't':
        push_new(Tuple{pop_to_mark()});
        break;
      case 0x85:
        push_tuple(1);
        break;
      case 0x86:
        push_tuple(2);
        break;
      case 0x87:
        push_tuple(3);
        break;
      case ']':
        push_new(List());
        break;
      case 'l':
        push_new(List{pop_to_mark()});
        break;
      case 'a':
        append({pop()});
        break;
      case 'e':
        append(pop_to_mark());
        break;
      case '}':
        push_new(Dict());
        break;
      case 'd': {  // DICT
        Dict dict;
        set(dict, pop_to_mark());
        push_new(std::move(dict));
        break;
      }
      case 's': {  // SETITEM
        auto* value = pop();
        auto* key = pop();
        set(top_as<Dict>("a dict"), {key, value});
        break;
      }
      case 'u': {  // SETITEMS
        const auto items = pop_to_mark();
        set(top_as<Dict>("a dict"), items);
        break;
      }
      case 'c': {  // GLOBAL
        const auto module = reader_.line();
        global(module, reader_.line());
        break;
      }
      case 0x93: {  // STACK_GLOBAL
        push_tuple(2);
        const auto names = std::get<Tuple>(pop()->value).items;
        global(argument<std::string>(names, 0, "the name of a module"),
               argument<std::string>(names, 1, "the name of a global"));
        break;
      }
      case 'R':
        reduce();
        break;
      case 'Q':
        push_new(load_storage(*pop(), loader_).value);
        break;
      case 'b':
        build();
        break;
      case 'q':
        memo_[reader_.number<uint8_t>()] = top();
        break;
      case 'r':
        memo_[reader_.number<uint32_t>()] = top();
        break;
      case 0x94:
        memo_[static_cast<uint32_t>(memo_.size())] = top();
        break;
      case 'h':
        get(reader_.number<uint8_t>());
        break;
      case 'j':
        get(reader_.number<uint32_t>());
        break;
      default:
        throw std::invalid_argument(fmt::format("opcode 0x{:02x} is not expected in a file of torch.save", opcode));
    }
    return true;
  }

  Reader reader_;
  const StorageLoader& loader_;
  size_t opcode_position_ = 0;
  std::deque<Object> objects_;  // addresses stay
  std::vector<Object*> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, Object*> memo_;
};

}  // namespace

c10::IValue unpickle(std::string_view bytes, const StorageLoader& loader) { return Machine(bytes, loader).run(); }

}  // namespace torchstone::formats::pickle
