#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>

#include "models/formats/pickle/object.h"

namespace torchstone::formats::pickle {
namespace {

constexpr int deepest = 200;
constexpr int64_t most_values = 1 << 24;  // a few bytes can name one list a billion times

struct Converted {
  c10::IValue value;
  int64_t values = 1;  // counted as often as they are reached
  bool finished = false;
};

class Converter {
 public:
  const Converted& convert(const Object& object, int depth) {
    if (depth > deepest) throw std::invalid_argument(fmt::format("at most {} levels are read", deepest));
    const auto [known, fresh] = done_.try_emplace(&object);
    auto& converted = known->second;  // stays where it is: references into an unordered_map are stable
    if (!fresh) {
      if (!converted.finished) throw std::invalid_argument("a container that holds itself cannot be read");
      return converted;
    }
    converted.value = std::visit([&](const auto& value) { return of(value, depth, converted.values); }, object.value);
    if (converted.values > most_values)
      throw std::invalid_argument(fmt::format("at most {} values are read", most_values));
    converted.finished = true;
    return converted;
  }

 private:
  c10::IValue of(std::monostate, int, int64_t&) { return {}; }
  c10::IValue of(const Global& global, int, int64_t&) {
    if (!global.name.starts_with("torch.") || !c10::getStringToDtypeMap().contains(global.name.substr(6))) {
      throw std::invalid_argument(fmt::format("{} is not a value that can be read", global.name));
    }
    return global.name;
  }
  c10::IValue of(const StorageOf&, int, int64_t&) {
    throw std::invalid_argument("a storage without a tensor cannot be read");
  }
  template <typename T>
  c10::IValue of(const T& plain, int, int64_t&) {
    return c10::IValue(plain);
  }

  std::vector<c10::IValue> all(const std::vector<Object*>& items, int depth, int64_t& values) {
    std::vector<c10::IValue> converted;
    for (const auto* item : items) {
      const auto& [value, count, finished] = convert(*item, depth + 1);
      converted.push_back(value);
      values = std::min(values + count, most_values + 1);
    }
    return converted;
  }

  static c10::TypePtr common_type(const std::vector<c10::IValue>& values) {
    const auto all_are = [&](auto is) { return !values.empty() && std::ranges::all_of(values, is); };
    if (all_are([](const auto& v) { return v.isTensor(); })) return c10::TensorType::get();
    if (all_are([](const auto& v) { return v.isInt(); })) return c10::IntType::get();
    if (all_are([](const auto& v) { return v.isDouble(); })) return c10::FloatType::get();
    if (all_are([](const auto& v) { return v.isBool(); })) return c10::BoolType::get();
    if (all_are([](const auto& v) { return v.isString(); })) return c10::StringType::get();
    return c10::AnyType::get();
  }

  c10::IValue of(const List& list, int depth, int64_t& values) {
    const auto items = all(list.items, depth, values);
    c10::impl::GenericList converted(common_type(items));
    for (const auto& item : items) converted.push_back(item);
    return converted;
  }

  c10::IValue of(const Tuple& tuple, int depth, int64_t& values) {
    return c10::ivalue::Tuple::create(all(tuple.items, depth, values));
  }

  c10::IValue of(const Dict& dict, int depth, int64_t& values) {
    std::vector<Object*> keys, items;
    for (const auto& [key, item] : dict.entries) {
      keys.push_back(key);
      items.push_back(item);
    }
    const auto names = all(keys, depth, values);
    const auto key_type = names.empty() ? c10::TypePtr(c10::StringType::get()) : common_type(names);
    if (*key_type != *c10::StringType::get() && *key_type != *c10::IntType::get()) {
      throw std::invalid_argument("the keys of a dict must all be strings or all be integers");
    }
    const auto contents = all(items, depth, values);
    const auto value_type = common_type(contents);
    c10::impl::GenericDict converted(
        key_type, *value_type == *c10::TensorType::get() ? value_type : c10::TypePtr(c10::AnyType::get()));
    for (size_t i = 0; i < names.size(); ++i) converted.insert_or_assign(names[i], contents[i]);
    return converted;
  }

  std::unordered_map<const Object*, Converted> done_;
};

}  // namespace

c10::IValue to_ivalue(const Object& root) { return Converter().convert(root, 0).value; }

std::string describe(const Object& object) {
  struct Words {
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
  return std::visit(Words(), object.value);
}

}  // namespace torchstone::formats::pickle
