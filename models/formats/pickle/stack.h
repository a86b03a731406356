#pragma once
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/formats/pickle/object.h"

namespace torchstone::formats::pickle {

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

}  // namespace torchstone::formats::pickle
