// The leaves of a tree: listed, taken out and put back.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "models/core/tree.h"

namespace torchstone {
namespace {

using c10::IValue;

/// Numbers, strings and devices hold no tensor, whatever their value.
bool is_leaf(const IValue& value) {
  return value.isNone() || value.isTensor() || value.isScalar() || value.isString() || value.isDevice();
}

void collect_leaves(const IValue& tree, const std::string& path, std::vector<Leaf>& found) {
  if (is_leaf(tree)) {
    found.push_back({path, tree});
  } else if (is_container(tree)) {
    for (const auto& child : children_of(tree)) collect_leaves(child.value, join(path, child.step), found);
  } else {
    throw std::invalid_argument(fmt::format("{} is a {}: expected a tensor, or a tuple, list or dict of tensors",
                                            output_name(path), tree.tagKind()));
  }
}

/// Compiled programs are flattened in every timed call, so no path is written. False when a value may hide tensors.
bool collect_tensors(const IValue& tree, std::vector<torch::Tensor>& found) {
  const auto collect = [&](const IValue& child) { return collect_tensors(child, found); };
  if (is_tensor(tree)) found.push_back(tree.toTensor());
  if (tree.isTuple()) return std::ranges::all_of(tree.toTupleRef().elements(), collect);
  if (tree.isList()) return std::ranges::all_of(tree.toListRef(), collect);
  if (!tree.isGenericDict()) return is_leaf(tree);
  for (const auto& entry : tree.toGenericDict()) {
    if (!collect(entry.value())) return false;
  }
  return true;
}

/// Whether LibTorch can derive the type of a value: of a plain tuple it does so from the elements, and throws where one
/// of them is an undefined tensor. An exception in every timed call would cost a hundred times what the rest does.
bool has_type(const IValue& value) {
  if (value.isTensor()) return value.toTensor().defined();
  return !value.isTuple() || std::ranges::all_of(value.toTupleRef().elements(), has_type);
}

/// nullptr for a plain tuple, and for one with an undefined tensor.
c10::TupleTypePtr named_type_of(const IValue& tuple) {
  if (!has_type(tuple)) return nullptr;
  auto type = tuple.type()->cast<c10::TupleType>();
  return type && type->schema() ? type : nullptr;
}

}  // namespace

std::vector<Leaf> leaves(const IValue& tree) {
  std::vector<Leaf> found;
  collect_leaves(tree, "", found);
  return found;
}

std::vector<torch::Tensor> flatten(const IValue& tree) {
  std::vector<torch::Tensor> found;
  if (!collect_tensors(tree, found)) leaves(tree);  // throws, with the path
  return found;
}

IValue map_tensors(const IValue& tree, const std::function<torch::Tensor(const torch::Tensor&)>& change) {
  if (is_tensor(tree)) return change(tree.toTensor());
  if (tree.isTuple()) {
    std::vector<IValue> elements;
    for (const auto& element : tree.toTupleRef().elements()) elements.push_back(map_tensors(element, change));
    if (const auto type = named_type_of(tree)) return c10::ivalue::Tuple::createNamed(std::move(elements), type);
    return c10::ivalue::Tuple::create(std::move(elements));
  }
  if (tree.isList()) {
    c10::impl::GenericList list(tree.toList().elementType());
    for (const IValue& element : tree.toListRef()) list.push_back(map_tensors(element, change));
    return list;
  }
  if (tree.isGenericDict()) {
    const auto old = tree.toGenericDict();
    c10::impl::GenericDict dict(old.keyType(), old.valueType());
    for (const auto& entry : old) dict.insert(entry.key(), map_tensors(entry.value(), change));
    return dict;
  }
  return tree;
}

IValue rebuild(const IValue& structure, const std::vector<torch::Tensor>& tensors) {
  size_t next = 0;
  const auto rebuilt = map_tensors(
      structure, [&](const torch::Tensor& old) { return next < tensors.size() ? tensors[next++] : (++next, old); });
  if (next != tensors.size()) {
    throw std::invalid_argument(fmt::format("{} tensors for an output of {}", tensors.size(), next));
  }
  return rebuilt;
}

}  // namespace torchstone
