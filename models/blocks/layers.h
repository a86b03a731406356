#pragma once
#include <torchstone/model.h>
// The layers of the zoo in one line each, with the defaults of the Python originals.
#include <torch/torch.h>

namespace torchstone {

namespace nn = torch::nn;

struct ConvShape {
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t groups = 1;
  bool bias = true;
  int64_t dilation = 1;
};

/// Square convolution: [N, in, H, W] → [N, out, H', W'].
inline nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, ConvShape shape = {}) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel)
                        .stride(shape.stride)
                        .padding(shape.padding)
                        .groups(shape.groups)
                        .bias(shape.bias)
                        .dilation(shape.dilation));
}

struct PoolShape {
  int64_t padding = 0;
  bool ceil = false;  ///< windows that hang over the edge count too
};

inline nn::MaxPool2d max_pool(int64_t kernel, int64_t stride, PoolShape shape = {}) {
  return nn::MaxPool2d(nn::MaxPool2dOptions(kernel).stride(stride).padding(shape.padding).ceil_mode(shape.ceil));
}

/// In place, as in the originals.
inline nn::ReLU relu() { return nn::ReLU(nn::ReLUOptions(true)); }
inline nn::ReLU6 relu6() { return nn::ReLU6(nn::ReLU6Options(true)); }
inline nn::LeakyReLU leaky_relu(double slope) {
  return nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(slope).inplace(true));
}

/// Normally distributed RGB images [N, 3, side, side], or as high and wide as the options say.
inline torch::Tensor random_images(const ModelOptions& options, int64_t side) {
  return torch::randn({options.batch_size, 3, options.size_of("height", side), options.size_of("width", side)});
}

}  // namespace torchstone
