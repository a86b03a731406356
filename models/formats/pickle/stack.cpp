#include "models/formats/pickle/stack.h"

#include <fmt/format.h>

namespace torchstone::formats::pickle {

Object* Stack::top() const {
  const size_t floor = marks_.empty() ? 0 : marks_.back();
  if (values_.size() <= floor) throw std::invalid_argument("expected a value, the stack is empty");
  return values_.back();
}

Object* Stack::pop() {
  auto* value = top();
  values_.pop_back();
  return value;
}

std::vector<Object*> Stack::pop_to_mark() {
  if (marks_.empty()) throw std::invalid_argument("expected a mark, there is none");
  const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<Object*> items(begin, values_.end());
  values_.erase(begin, values_.end());
  marks_.pop_back();
  return items;
}

std::vector<Object*> Stack::pop_many(size_t size) {
  std::vector<Object*> items(size);
  for (size_t i = size; i-- > 0;) items[i] = pop();
  return items;
}

void Stack::recall(uint32_t key) {
  const auto found = memo_.find(key);
  if (found == memo_.end()) throw std::invalid_argument(fmt::format("expected a memo {}, there is none", key));
  push(found->second);
}

}  // namespace torchstone::formats::pickle
