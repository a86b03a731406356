#pragma once
#include <algorithm>

#include "models/blocks/basic_layers.h"

namespace torchstone {

/// A model of normally distributed RGB images, square by default: [N, 3, side, side].
class ImageModel : public Model {
 public:
  /// Height and width may be multiples of `step`, at least `least`; 0: they are always `side`.
  explicit ImageModel(int64_t side, int64_t step = 0, int64_t least = 0) : side_(side), step_(step), least_(least) {}
  Tensors example_inputs(const ModelOptions& options) const override { return {torch::randn(image_sizes(options))}; }
  /// Returns heights and widths from about half of the side to one and a half of it.
  std::vector<ModelDimension> dimensions() const override {
    if (step_ == 0) return {};
    const int64_t half = (side_ / 2 + step_ - 1) / step_, more = side_ * 3 / 2 / step_;
    const int64_t minimum = std::max({2 * step_, half * step_, least_});
    const int64_t maximum = std::max(more * step_, minimum + 2 * step_);
    return {{"height", side_, minimum, maximum, step_}, {"width", side_, minimum, maximum, step_}};
  }

 protected:
  std::vector<int64_t> image_sizes(const ModelOptions& options) const {
    return {options.batch_size, 3, options.size_of("height", side_), options.size_of("width", side_)};
  }

 private:
  int64_t side_, step_, least_;
};

/// Returns the side of timm's images for a model that is trained at 224 pixels and tested at 288.
inline int64_t side_of_224_or_288(Mode mode) { return mode == Mode::training ? 224 : 288; }

/// An ImageModel with the inputs of upstream's timm_models.py: random bytes, less their mean, divided by their standard
/// deviation.
class ByteImageModel : public ImageModel {
 public:
  using ImageModel::ImageModel;
  Tensors example_inputs(const ModelOptions& options) const override {
    const auto bytes = torch::randint(256, image_sizes(options), torch::kFloat32);
    return {(bytes - bytes.mean()) / bytes.std()};
  }
};

/// classifier(flatten(average(features(images)))). The average pools to a square grid of `grid` cells per side.
class FeaturesAndClassifier : public Layered<ImageModel> {
 protected:
  explicit FeaturesAndClassifier(int64_t side, int64_t grid = 1) : Layered(side, 32), grid_(grid) {}
  /// Adds both parts as `features` and `classifier` at the end of a constructor.
  void add_parts(const Chain& features, const Chain& classifier) {
    add("features", features);
    add(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions(grid_)));
    add(nn::Flatten());
    add("classifier", classifier);
  }

 private:
  int64_t grid_;
};

}  // namespace torchstone
