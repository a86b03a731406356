// Descriptions of objects, and their conversion to values of LibTorch.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>

#include "models/formats/model_file.h"
#include "models/formats/pickle/machine.h"

namespace torchstone::formats::pickle {

namespace {

constexpr int deepest = 200;
constexpr int64_t most_values = 1 << 22;  // a few bytes can reference one list a billion times
constexpr size_t longest_key = 4096;      // messages name a value by the path of its keys

/// Sizes of a value, where each reference to an object counts.
struct Counts {
  int64_t values = 1, tensor_bytes = 0;

  void add(const Counts& other) {
    values = std::min(values + other.values, most_values + 1);
    if (__builtin_add_overflow(tensor_bytes, other.tensor_bytes, &tensor_bytes)) tensor_bytes = INT64_MAX;
  }
};

struct Converted {
  c10::IValue value;
  Counts counts;
  bool finished = false;
};

/// Returns the size of a tensor, as if it were dense.
int64_t bytes_of(const at::Tensor& tensor) {
  int64_t bytes = 0;
  const auto size = static_cast<int64_t>(tensor.element_size());
  return __builtin_mul_overflow(tensor.numel(), size, &bytes) ? INT64_MAX : bytes;
}

class Converter {
 public:
  explicit Converter(uint64_t file_bytes) : most_tensor_bytes_(most_tensor_bytes(file_bytes)) {}

  const Converted& convert(const Object& object, int depth) {
    if (depth > deepest) throw std::invalid_argument(fmt::format("at most {} levels are read", deepest));
    const auto [known, fresh] = done_.try_emplace(&object);
    auto& converted = known->second;  // references into an unordered_map stay valid
    if (!fresh) {
      if (!converted.finished) throw std::invalid_argument("a container that contains itself cannot be read");
      return converted;
    }
    converted.value = std::visit([&](const auto& value) { return of(value, depth, converted.counts); }, object.value);
    if (converted.counts.values > most_values)
      throw std::invalid_argument(fmt::format("at most {} values are read", most_values));
    if (converted.counts.tensor_bytes > most_tensor_bytes_)
      throw std::invalid_argument(
          fmt::format("the tensors take {} bytes, counting repeated elements (expected at most {}, 256 MiB and eight "
                      "times the file)",
                      converted.counts.tensor_bytes, most_tensor_bytes_));
    converted.finished = true;
    return converted;
  }

 private:
  c10::IValue of(std::monostate, int, Counts&) { return {}; }
  c10::IValue of(const Global& global, int, Counts&) {
    if (!global.name.starts_with("torch.") || !c10::getStringToDtypeMap().contains(global.name.substr(6))) {
      throw std::invalid_argument(fmt::format("{} is not a value that can be read", global.name));
    }
    return global.name;
  }
  c10::IValue of(const StorageOf&, int, Counts&) {
    throw std::invalid_argument("a storage without a tensor cannot be read");
  }
  c10::IValue of(const at::Tensor& tensor, int, Counts& counts) {
    counts.tensor_bytes = bytes_of(tensor);
    return tensor;
  }
  template <typename T>
  c10::IValue of(const T& plain, int, Counts&) {
    return c10::IValue(plain);
  }

  std::vector<c10::IValue> all(const std::vector<Object*>& items, int depth, Counts& counts) {
    std::vector<c10::IValue> converted;
    for (const auto* item : items) {
      const Converted& one = convert(*item, depth + 1);
      converted.push_back(one.value);
      counts.add(one.counts);
    }
    return converted;
  }

  static c10::TypePtr common_type(const std::vector<c10::IValue>& values) {
    const auto all_are = [&](auto is) { return !values.empty() && std::ranges::all_of(values, is); };
    if (all_are(&c10::IValue::isTensor)) return c10::TensorType::get();
    if (all_are(&c10::IValue::isInt)) return c10::IntType::get();
    if (all_are(&c10::IValue::isDouble)) return c10::FloatType::get();
    if (all_are(&c10::IValue::isBool)) return c10::BoolType::get();
    if (all_are(&c10::IValue::isString)) return c10::StringType::get();
    return c10::AnyType::get();
  }

  c10::IValue of(const List& list, int depth, Counts& counts) {
    const auto items = all(list.items, depth, counts);
    c10::impl::GenericList converted(common_type(items));
    for (const auto& item : items) converted.push_back(item);
    return converted;
  }

  c10::IValue of(const Tuple& tuple, int depth, Counts& counts) {
    return c10::ivalue::Tuple::create(all(tuple.items, depth, counts));
  }

  c10::IValue of(const Dict& dict, int depth, Counts& counts) {
    std::vector<Object*> keys, items;
    for (const auto& [key, item] : dict.entries) {
      keys.push_back(key);
      items.push_back(item);
    }
    const auto names = all(keys, depth, counts);
    const auto key_type = names.empty() ? c10::TypePtr(c10::StringType::get()) : common_type(names);
    if (*key_type != *c10::StringType::get() && *key_type != *c10::IntType::get()) {
      throw std::invalid_argument("the keys of a dict must all be strings or all be integers");
    }
    const auto too_long = [](const c10::IValue& key) {
      return key.isString() && key.toStringRef().size() > longest_key;
    };
    if (std::ranges::any_of(names, too_long))
      throw std::invalid_argument(fmt::format("a key of a dict is longer than {} bytes", longest_key));
    const auto contents = all(items, depth, counts);
    const auto value_type = common_type(contents);
    c10::impl::GenericDict converted(
        key_type, *value_type == *c10::TensorType::get() ? value_type : c10::TypePtr(c10::AnyType::get()));
    for (size_t i = 0; i < names.size(); ++i) converted.insert_or_assign(names[i], contents[i]);
    return converted;
  }

  int64_t most_tensor_bytes_;
  std::unordered_map<const Object*, Converted> done_;
};

}  // namespace

c10::IValue to_ivalue(const Object& root, uint64_t file_bytes) { return Converter(file_bytes).convert(root, 0).value; }

std::string describe(const Object& object) {
  struct Describe {
    std::string operator()(std::monostate) { return "None"; }
    std::string operator()(bool value) { return value ? "True" : "False"; }
    std::string operator()(int64_t value) { return fmt::format("the integer {}", value); }
    std::string operator()(double value) { return fmt::format("the number {}", value); }
    std::string operator()(const c10::complex<double>&) { return "a complex number"; }
    std::string operator()(const std::string& value) { return fmt::format("the string \"{}\"", value.substr(0, 60)); }
    std::string operator()(const at::Tensor&) { return "a tensor"; }
    std::string operator()(const at::Device&) { return "a device"; }
    std::string operator()(const Global& value) { return "the global " + value.name; }
    std::string operator()(const StorageOf&) { return "a storage"; }
    std::string operator()(const List&) { return "a list"; }
    std::string operator()(const Tuple&) { return "a tuple"; }
    std::string operator()(const Dict&) { return "a dict"; }
  };
  return std::visit(Describe(), object.value);
}

}  // namespace torchstone::formats::pickle
