#include "models/operators/random_tensor.h"

#include <algorithm>

#include "models/operators/bind_literal.h"

namespace torchstone::operators {

torch::Tensor random_tensor(const TensorSpec& spec) {
  constexpr int64_t bound = 9;
  torch::ScalarType type = scalar_type_of(spec.dtype);
  if (at::isFloatingType(type)) type = torch::kFloat32;
  const bool empty = std::find(spec.sizes.begin(), spec.sizes.end(), 0) != spec.sizes.end();
  // Strided tensors are views of one long row: elements of an expanded one share memory, and copying refuses that.
  const bool strided = !spec.strides.empty() && !empty;
  std::vector<int64_t> sizes = spec.sizes;
  if (strided) {
    sizes = {1};
    for (size_t i = 0; i < spec.sizes.size(); ++i) sizes[0] += (spec.sizes[i] - 1) * spec.strides[i];
  }
  torch::Tensor values;
  if (at::isComplexType(type)) {
    sizes.push_back(2);
    values = torch::view_as_complex(torch::rand(sizes) * (2 * bound) - bound);
  } else if (type == torch::kFloat32) {
    values = torch::rand(sizes) * (2 * bound) - bound;
  } else if (type == torch::kBool) {
    values = torch::randint(0, 2, sizes, torch::kInt64);
  } else {
    values = torch::randint(type == torch::kUInt8 ? 0 : -bound, bound + 1, sizes, torch::kInt64);
  }
  values = values.to(type);
  return strided ? values.as_strided(spec.sizes, spec.strides) : values;
}

torch::Tensor in_channels_last(const torch::Tensor& tensor) {
  if (tensor.dim() == 4) return tensor.contiguous(at::MemoryFormat::ChannelsLast);
  return tensor.dim() == 5 ? tensor.contiguous(at::MemoryFormat::ChannelsLast3d) : tensor;
}

}  // namespace torchstone::operators
