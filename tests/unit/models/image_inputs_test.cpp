// Inputs of timm's models must be like upstream's.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>
#include <torchstone/model.h>

#include "models/core/model_registry.h"

namespace torchstone {
namespace {

TEST(ImageModels, OfTimmGetNormalisedBytes) {
  int seen = 0;
  for (const auto* info : all_models()) {
    if (!info->file.starts_with(TORCHSTONE_SOURCE_DIR "/models/") ||
        std::find(info->suites.begin(), info->suites.end(), "timm") == info->suites.end())
      continue;
    const ModelOptions options{.batch_size = 2};
    torch::manual_seed(3);
    const auto images = info->make(options)->example_inputs(options).at(0);
    EXPECT_NEAR(images.mean().item<float>(), 0, 1e-3) << info->name;
    EXPECT_NEAR(images.std().item<float>(), 1, 1e-3) << info->name;
    // 0 and 255 are √3 standard deviations away from the mean of a uniform distribution.
    EXPECT_NEAR(images.max().item<float>(), std::sqrt(3.0), 0.1) << info->name;
    EXPECT_LE(std::get<0>(at::_unique(images)).numel(), 256) << info->name;
    ++seen;
  }
  EXPECT_EQ(seen, 63);
}

}  // namespace
}  // namespace torchstone
