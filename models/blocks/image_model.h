#pragma once
#include <torchstone/model.h>

#include "models/blocks/layers.h"

namespace torchstone {

/// A model of square RGB images of one side: [N, 3, side, side].
class ImageModel : public Model {
 public:
  explicit ImageModel(int64_t side) : side_(side) {}
  Tensors example_inputs(const ModelOptions& options) const override {
    return {random_images(options.batch_size, side_)};
  }

 protected:
  int64_t side_;
};

/// The side of the images that timm gives a model which it trained at 224 pixels and tests at 288.
inline int64_t side_of_224_or_288(Mode mode) { return mode == Mode::training ? 224 : 288; }

/// The same with the inputs of upstream's timm_models.py: bytes drawn from 0 to 255, less their mean, over their
/// standard deviation.
class ByteImageModel : public ImageModel {
 public:
  using ImageModel::ImageModel;
  Tensors example_inputs(const ModelOptions& options) const override {
    const auto bytes = torch::randint(256, {options.batch_size, 3, side_, side_}, torch::kFloat32);
    return {(bytes - bytes.mean()) / bytes.std()};
  }
};

/// classifier(flatten(average(features(images)))); the average pools to a grid of this many cells a side.
class FeaturesAndClassifier : public ImageModel {
 public:
  c10::IValue forward(const Tensors& inputs) override {
    const auto x = torch::adaptive_avg_pool2d(features_->forward(inputs.at(0)), {grid_, grid_});
    return classifier_->forward(x.flatten(1));
  }

 protected:
  explicit FeaturesAndClassifier(int64_t side, int64_t grid = 1) : ImageModel(side), grid_(grid) {}
  /// For the end of a constructor: registers both parts as `features` and `classifier`.
  void register_parts(nn::Sequential features, nn::Sequential classifier) {
    features_ = register_module("features", std::move(features));
    classifier_ = register_module("classifier", std::move(classifier));
  }

 private:
  int64_t grid_;
  nn::Sequential features_{nullptr}, classifier_{nullptr};
};

}  // namespace torchstone
