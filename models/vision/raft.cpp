// RAFT: optical flow, refined repeatedly by a recurrent unit that looks up how well all pairs of positions match.
// Paper: Teed, Deng, "RAFT: recurrent all-pairs field transforms for optical flow", 2020. Original:
// torchvision.models.optical_flow.raft_small. Input two images [N, 3, 224, 224] → a list of 12 flows
// [N, 2, 224, 224]; 990,162 parameters. mini: narrow encoders, matches of 2 scales, 2 refinements, 64 pixels.
#include <cmath>

#include "models/blocks/image_model.h"

namespace torchstone::raft {
namespace {

constexpr int64_t lookup_radius = 3, lookup_size = (2 * lookup_radius + 1) * (2 * lookup_radius + 1),
                  downscale_factor = 8;

struct RaftShape {
  std::vector<int64_t> features = {32, 32, 64, 96, 128}, context = {32, 32, 64, 96, 160};
  int64_t levels = 4, correlation = 96, flow = 64, motion = 82, hidden = 96, head = 128, updates = 12, side = 224;
};

/// Returns a convolution with bias that keeps the size at stride 1, with optional normalisation and ReLU.
Chain conv_unit(int64_t in, int64_t out, int64_t kernel, int64_t stride, bool normalises, bool rectifies = true) {
  Chain layers(conv(in, out, kernel, {.stride = stride, .padding = kernel / 2}));
  if (normalises) layers->push_back(nn::InstanceNorm2d(out));
  if (rectifies) layers->push_back(relu());
  return layers;
}

Block raft_bottleneck(int64_t in, int64_t out, int64_t stride, bool norm) {
  Block block;
  auto narrow = block.add("convnormrelu1", conv_unit(in, out / 4, 1, 1, norm));
  auto middle = block.add("convnormrelu2", conv_unit(out / 4, out / 4, 3, stride, norm));
  auto widen = block.add("convnormrelu3", conv_unit(out / 4, out, 1, 1, norm));
  Chain downsample;
  if (stride > 1) downsample = block.add("downsample", conv_unit(in, out, 1, stride, norm, false));
  return block.running([=](torch::Tensor x) mutable {
    const auto y = widen(middle(narrow(x)));
    return torch::relu(downsample(x) + y);
  });
}

/// Encoder of an image: [N, 3, H, W] → [N, last width, H / 8, W / 8].
Chain encoder(const std::vector<int64_t>& widths, bool norm) {
  auto layers = chain({{"convnormrelu", conv_unit(3, widths[0], 7, 2, norm)}});
  for (size_t i = 1; i < 4; ++i) {
    const auto in = widths[i - 1], out = widths[i];
    layers->push_back("layer" + std::to_string(i),
                      Chain(raft_bottleneck(in, out, i > 1 ? 2 : 1, norm), raft_bottleneck(out, out, 1, norm)));
  }
  layers->push_back("conv", conv(widths[3], widths[4], 1));
  return layers;
}

/// The recurrent unit with the layers of its inputs and outputs. [N, hidden, H, W] → the same.
struct UpdateImpl : nn::Module {
  explicit UpdateImpl(const RaftShape& s)
      : correlation(conv_unit(s.levels * lookup_size, s.correlation, 1, 1, false)),
        flow1(conv_unit(2, s.flow, 7, 1, false)),
        flow2(conv_unit(s.flow, s.flow / 2, 3, 1, false)),
        motion(conv_unit(s.correlation + s.flow / 2, s.motion - 2, 3, 1, false)),
        head1(conv(s.hidden, s.head, 3, {.padding = 1})),
        head2(conv(s.head, 2, 3, {.padding = 1})) {
    const auto input = s.context.back() + s.motion;  // hidden state, context and motion
    for (auto* gate : {&update, &reset, &candidate}) *gate = conv(input, s.hidden, 3, {.padding = 1});
    register_module("motion_encoder", group({{"convcorr1", correlation.ptr()},
                                             {"convflow1", flow1.ptr()},
                                             {"convflow2", flow2.ptr()},
                                             {"conv", motion.ptr()}}));
    const auto gru = group({{"convz", update.ptr()}, {"convr", reset.ptr()}, {"convq", candidate.ptr()}});
    register_module("recurrent_block", group({{"convgru1", gru.ptr()}}));
    register_module("flow_head", group({{"conv1", head1.ptr()}, {"conv2", head2.ptr()}}));
  }
  torch::Tensor forward(const torch::Tensor& hidden, const torch::Tensor& context, const torch::Tensor& matches,
                        const torch::Tensor& flow) {
    const auto seen = motion(torch::cat({correlation(matches), flow2(flow1(flow))}, 1));
    const auto x = torch::cat({context, seen, flow}, 1);
    const auto both = torch::cat({hidden, x}, 1);
    const auto z = torch::sigmoid(update(both)), r = torch::sigmoid(reset(both));
    return (1 - z) * hidden + z * torch::tanh(candidate(torch::cat({r * hidden, x}, 1)));
  }
  torch::Tensor change(const torch::Tensor& hidden) { return head2(torch::relu(head1(hidden))); }
  Chain correlation, flow1, flow2, motion;
  nn::Conv2d head1, head2, update{nullptr}, reset{nullptr}, candidate{nullptr};
};
TORCH_MODULE(Update);

/// Returns how well each position of one map matches each of another: [N * H * W, 1, H / 2^i, W / 2^i] for each level
/// i.
Tensors match_pyramid(const torch::Tensor& one, const torch::Tensor& other, int64_t levels) {
  const auto dots = torch::matmul(one.flatten(2).transpose(1, 2), other.flatten(2));
  Tensors pyramid = {(dots / std::sqrt(static_cast<double>(one.size(1)))).reshape({-1, 1, one.size(2), one.size(3)})};
  while (static_cast<int64_t>(pyramid.size()) < levels) pyramid.push_back(torch::avg_pool2d(pyramid.back(), 2, 2));
  return pyramid;
}

/// Returns the matches around positions [N, 2, H, W] (x before y): [N, levels * neighbours, H, W].
torch::Tensor look_up(const Tensors& pyramid, const torch::Tensor& places) {
  const auto batch = places.size(0), rows = places.size(2), columns = places.size(3);
  const auto steps = torch::arange(-lookup_radius, lookup_radius + 1, places.options());
  const auto around = torch::stack(torch::meshgrid({steps, steps}, "ij"), -1).unsqueeze(0);
  auto centres = places.permute({0, 2, 3, 1}).reshape({-1, 1, 1, 2});
  Tensors found;
  for (const auto& level : pyramid) {
    const auto points = centres + around;
    const auto scaled = [&](int64_t axis, int64_t size) {
      return 2 * points.narrow(-1, axis, 1) / static_cast<double>(size - 1) - 1;
    };
    const auto grid = torch::cat({scaled(0, level.size(3)), scaled(1, level.size(2))}, -1);
    found.push_back(at::grid_sampler(level, grid, /*bilinear=*/0, /*zero padding=*/0, /*align_corners=*/true)
                        .view({batch, rows, columns, lookup_size}));
    centres = centres / 2;
  }
  return torch::cat(found, -1).permute({0, 3, 1, 2}).contiguous();
}

class Raft : public ImageModel {
 public:
  explicit Raft(const RaftShape& shape)
      : ImageModel(shape.side, 16),
        shape_(shape),
        features_(register_module("feature_encoder", encoder(shape.features, true))),
        context_(register_module("context_encoder", encoder(shape.context, false))),
        update_(register_module("update_block", Update(shape))) {
    for (auto* part : {&features_, &context_})
      each_layer<nn::Conv2d>(**part, [](auto& conv) { nn::init::kaiming_normal_(conv.weight, 0, torch::kFanOut); });
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto maps = features_(torch::cat({inputs.at(0), inputs.at(1)})).chunk(2);
    const auto pyramid = match_pyramid(maps[0], maps[1], shape_.levels);
    const auto context =
        context_(inputs[0]).split_with_sizes({shape_.hidden, shape_.context.back() - shape_.hidden}, 1);
    auto hidden = torch::tanh(context[0]);
    const auto rows = maps[0].size(2), columns = maps[0].size(3);
    const auto axes =
        torch::meshgrid({torch::arange(rows, hidden.options()), torch::arange(columns, hidden.options())}, "ij");
    const auto start = torch::stack({axes[1], axes[0]}).unsqueeze(0).repeat({hidden.size(0), 1, 1, 1});
    auto places = start;
    c10::List<torch::Tensor> flows;
    for (int64_t i = 0; i < shape_.updates; ++i) {
      places = places.detach();
      hidden = update_(hidden, torch::relu(context[1]), look_up(pyramid, places), places - start);
      places = places + update_->change(hidden);
      flows.push_back(downscale_factor * at::upsample_bilinear2d(places - start,
                                                                 {downscale_factor * rows, downscale_factor * columns},
                                                                 true));
    }
    return flows;
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    auto first = ImageModel::example_inputs(options)[0];
    return {first, ImageModel::example_inputs(options)[0]};
  }

 private:
  RaftShape shape_;
  Chain features_, context_;
  Update update_;
};

const RaftShape mini_shape{.features = {16, 16, 24, 32, 48},
                           .context = {16, 16, 24, 32, 56},
                           .levels = 2,
                           .correlation = 32,
                           .flow = 16,
                           .motion = 26,
                           .hidden = 32,
                           .head = 32,
                           .updates = 2,
                           .side = 64};
TORCHSTONE_MODEL(raft_small, .family = "raft", .suites = {"torchvision"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 990'162, .make = by_preset<Raft>(RaftShape{}, mini_shape));

}  // namespace
}  // namespace torchstone::raft
