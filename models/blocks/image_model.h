#pragma once
#include <algorithm>

#include <torchstone/model.h>

#include "models/blocks/basic_layers.h"

namespace torchstone {

/// A model of RGB images, square by default: [N, 3, side, side].
class ImageModel : public Model {
 public:
  explicit ImageModel(int64_t side) : side_(side) {}
  Tensors example_inputs(const ModelOptions& options) const override { return {random_images(options, side_)}; }

 protected:
  /// Returns the dimensions of a model whose height and width may be any multiples of `step`. They range from about
  /// half of the side to one and a half of it.
  std::vector<ModelDimension> sides(int64_t step, int64_t least = 0) const {
    const int64_t half = (side_ / 2 + step - 1) / step, more = side_ * 3 / 2 / step;
    const int64_t minimum = std::max({2 * step, half * step, least});
    const int64_t maximum = std::max(more * step, minimum + 2 * step);
    return {{"height", side_, minimum, maximum, step}, {"width", side_, minimum, maximum, step}};
  }
  int64_t side_;
};

/// Returns the side of timm's images for a model that is trained at 224 pixels and tested at 288.
inline int64_t side_of_224_or_288(Mode mode) { return mode == Mode::training ? 224 : 288; }

/// An ImageModel with the inputs of upstream's timm_models.py: random bytes, less their mean, divided by their standard
/// deviation.
class ByteImageModel : public ImageModel {
 public:
  using ImageModel::ImageModel;
  Tensors example_inputs(const ModelOptions& options) const override {
    const auto height = options.size_of("height", side_), width = options.size_of("width", side_);
    const auto bytes = torch::randint(256, {options.batch_size, 3, height, width}, torch::kFloat32);
    return {(bytes - bytes.mean()) / bytes.std()};
  }
};

/// classifier(flatten(average(features(images)))). The average pools to a square grid of `grid` cells per side.
class FeaturesAndClassifier : public ImageModel {
 public:
  c10::IValue forward(const Tensors& inputs) override {
    const auto x = torch::adaptive_avg_pool2d(features_->forward(inputs.at(0)), {grid_, grid_});
    return classifier_->forward(x.flatten(1));
  }
  std::vector<ModelDimension> dimensions() const override { return sides(32); }

 protected:
  explicit FeaturesAndClassifier(int64_t side, int64_t grid = 1) : ImageModel(side), grid_(grid) {}
  /// Registers both parts as `features` and `classifier` at the end of a constructor.
  void register_parts(nn::Sequential features, nn::Sequential classifier) {
    features_ = register_module("features", std::move(features));
    classifier_ = register_module("classifier", std::move(classifier));
  }

 private:
  int64_t grid_;
  nn::Sequential features_{nullptr}, classifier_{nullptr};
};

}  // namespace torchstone
