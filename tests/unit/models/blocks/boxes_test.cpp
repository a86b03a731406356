// Boxes of detectors: overlap, non-maximum suppression, coding, and pooling of regions.
#include "models/blocks/boxes.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/blocks/roi_align.h"

namespace torchstone {
namespace {

std::vector<int64_t> rows(const torch::Tensor& x) { return {x.data_ptr<int64_t>(), x.data_ptr<int64_t>() + x.numel()}; }

// The first two boxes have an intersection over union of 81 / 119.
const auto make_boxes = [] {
  return torch::tensor({0.0F, 0.0F, 10.0F, 10.0F, 1.0F, 1.0F, 11.0F, 11.0F, 20.0F, 20.0F, 30.0F, 30.0F}).view({3, 4});
};
const auto make_scores = [] { return torch::tensor({0.5F, 0.9F, 0.7F}); };

TEST(Nms, DropsABoxThatOverlapsABetterOneAndOrdersTheRestByScore) {
  EXPECT_EQ(rows(nms(make_boxes(), make_scores(), 0.5)), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(rows(nms(make_boxes(), make_scores(), 0.7)), (std::vector<int64_t>{1, 2, 0}));
  EXPECT_EQ(nms(torch::empty({0, 4}), torch::empty({0}), 0.5).sizes(), torch::IntArrayRef{0});
}

TEST(Nms, DropsWithinAGroupOnly) {
  const auto groups = torch::tensor({0, 1, 0}, torch::kInt64), same = torch::zeros({3}, torch::kInt64);
  EXPECT_EQ(rows(grouped_nms(make_boxes(), make_scores(), groups, 0.5)), (std::vector<int64_t>{1, 2, 0}));
  EXPECT_EQ(rows(grouped_nms(make_boxes(), make_scores(), same, 0.5)), (std::vector<int64_t>{1, 2}));
}

TEST(Nms, OfManyBoxesIsThatOfGroupsMovedApart) {
  torch::manual_seed(1);
  const auto begin = torch::rand({1500, 2}) * 50,
             boxes = torch::cat({begin, begin + 5 + torch::rand({1500, 2}) * 20}, 1);
  const auto scores = torch::rand({1500});
  const auto groups = torch::randint(4, {1500}, torch::kInt64);
  const auto apart = boxes + 1000 * groups.unsqueeze(1);
  const auto kept = rows(grouped_nms(boxes, scores, groups, 0.5));
  EXPECT_EQ(kept, rows(nms(apart, scores, 0.5)));
  EXPECT_LT(kept.size(), 1500U);
}

TEST(BoxCoder, DecodesWhatItEncoded) {
  const BoxCoder coder{{10, 10, 5, 5}};
  const auto references = torch::tensor({0.0F, 0.0F, 8.0F, 16.0F, 4.0F, 4.0F, 10.0F, 8.0F}).view({2, 4});
  const auto boxes = torch::tensor({2.0F, 1.0F, 7.0F, 9.0F, 3.0F, 5.0F, 12.0F, 9.0F}).view({2, 4});
  EXPECT_TRUE(torch::allclose(coder.decode(coder.encode(boxes, references), references).squeeze(1), boxes));
}

TEST(MatchBoxes, SetsLowOverlapsToNegativeNumbersAndKeepsTheBestOfEachTrueBox) {
  const auto overlaps = torch::tensor({0.9F, 0.4F, 0.1F, 0.0F, 0.0F, 0.2F}).view({2, 3});
  EXPECT_EQ(rows(match_boxes(overlaps, 0.3, 0.7, /*keeps_best=*/false)), (std::vector<int64_t>{0, -2, -1}));
  EXPECT_EQ(rows(match_boxes(overlaps, 0.3, 0.7, /*keeps_best=*/true)), (std::vector<int64_t>{0, -2, 1}));
}

/// Returns an image of 8 x 8 pixels whose values are the numbers of their columns.
torch::Tensor columns() { return torch::arange(8, torch::kFloat32).expand({1, 1, 8, 8}); }
torch::Tensor box(float x1, float y1, float x2, float y2) { return torch::tensor({0.0F, x1, y1, x2, y2}).view({1, 5}); }

TEST(RoiAlign, AveragesTheSamplesOfEachPart) {
  const auto expected = torch::tensor({3.0F, 5.0F}).expand({1, 1, 2, 2});
  EXPECT_TRUE(torch::allclose(roi_align(columns(), box(2, 2, 6, 6), 2, 1, 2), expected));
  EXPECT_TRUE(torch::allclose(roi_align(columns(), box(4, 4, 12, 12), 2, 0.5, 2), expected)) << "in pixels";
  EXPECT_TRUE(torch::allclose(roi_align(columns(), box(2, 2, 6, 6), 2, 1, 0), expected)) << "one sample per cell";
  EXPECT_EQ(roi_align(columns(), torch::empty({0, 5}), 2, 1, 2).sizes(), (torch::IntArrayRef{0, 1, 2, 2}));
}

TEST(RoiAlign, CountsSamplesOutsideOfTheMapAsZero) {
  // The samples are in columns 7 and 9, and the map ends at 8.
  EXPECT_TRUE(torch::allclose(roi_align(columns(), box(6, 0, 10, 4), 1, 1, 2), torch::full({1, 1, 1, 1}, 3.5F)));
}

TEST(RoiAlign, ReadsEachBoxFromItsImageAndLevel) {
  const Tensors levels = {torch::ones({2, 3, 64, 64}), torch::full({2, 3, 32, 32}, 2.0F)};
  levels[0][1].fill_(5);
  const auto small = torch::tensor({0.0F, 0.0F, 20.0F, 20.0F}).view({1, 4}), large = 12 * small;
  const auto pooled = pyramid_roi_align(levels, {small, torch::cat({large, small})}, {256, 256}, 7, 2);
  EXPECT_EQ(pooled.sizes(), (torch::IntArrayRef{3, 3, 7, 7}));
  EXPECT_TRUE(torch::allclose(pooled.amax({1, 2, 3}), torch::tensor({1.0F, 2.0F, 5.0F})));
  EXPECT_TRUE(torch::allclose(pooled.amin({1, 2, 3}), torch::tensor({1.0F, 2.0F, 5.0F})));
}

}  // namespace
}  // namespace torchstone
