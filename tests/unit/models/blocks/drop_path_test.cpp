#include <gtest/gtest.h>
#include <torch/cuda.h>

#include "models/blocks/basic_layers.h"

namespace torchstone {
namespace {

torch::Tensor dropped(torch::Device device, torch::Dtype dtype) {
  torch::manual_seed(3);
  DropPath drop_path(0.4);
  return drop_path(torch::ones({1000, 2}, torch::device(device).dtype(dtype)));
}

void expect_same_samples(torch::Device device) {
  const auto exact = dropped(device, torch::kDouble);
  EXPECT_EQ(exact.dtype(), torch::kDouble);
  for (const auto dtype : {torch::kFloat, torch::kBFloat16})
    EXPECT_TRUE((dropped(device, dtype) == 0).equal(exact == 0)) << dtype;
  EXPECT_NEAR((exact == 0).to(torch::kDouble).mean().item<double>(), 0.4, 0.1);
  EXPECT_EQ(exact.max().item<double>(), 1 / 0.6);
}

TEST(DropPath, LeavesOutTheSameSamplesInFloat64) { expect_same_samples(torch::kCPU); }

TEST(DropPathOnCuda, LeavesOutTheSameSamplesInFloat64) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
  expect_same_samples(torch::kCUDA);
}

TEST(DropPath, LeavesNothingOutInEvalModeOrAtRateZero) {
  const auto x = torch::randn({8, 2});
  DropPath in_eval(0.4), of_nothing(0.0);
  in_eval->eval();
  EXPECT_TRUE(in_eval(x).equal(x));
  EXPECT_TRUE(of_nothing(x).equal(x));
}

}  // namespace
}  // namespace torchstone
