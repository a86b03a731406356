// The network that MAML trains on Omniglot: three convolutions with norms and poolings, and a linear layer.
// Paper: Finn, Abbeel, Levine, "Model-agnostic meta-learning for fast adaptation of deep networks", 2017. Original:
// pytorch/benchmark maml_omniglot and functorch_maml_omniglot. Their training takes gradients through steps of an
// optimizer; upstream's accuracy run, like this model, calls the network alone. Input [5, 1, 28, 28] → logits [5, 5];
// 75,205 parameters. The norms of functorch_maml_omniglot keep no statistics. mini: 16 channels instead of 64.
#include <string>
#include <vector>

#include "models/blocks/conv_blocks.h"

namespace torchstone::omniglot {
namespace {

constexpr int64_t sample_count = 5, class_count = 5;

class MetaLearner : public Layered<Model> {
 public:
  MetaLearner(int64_t width, bool keeps_statistics) {
    for (int64_t i = 0; i < 3; ++i) {
      const auto name = [&](int64_t place) { return std::to_string(4 * i + place); };
      auto norm = nn::BatchNorm2dOptions(width).track_running_stats(keeps_statistics);
      if (keeps_statistics) norm.momentum(1.0);
      add(name(0), conv(i == 0 ? 1 : width, width, 3));
      add(name(1), nn::BatchNorm2d(norm));
      add(relu());
      add(max_pool(2, 2));
    }
    add(nn::Flatten());
    add("13", nn::Linear(width, class_count));
  }
  Tensors example_inputs(const ModelOptions&) const override { return {torch::rand({sample_count, 1, 28, 28})}; }
};

TORCHSTONE_MODEL(maml_omniglot, .family = "omniglot", .suites = {"torchbench"}, .train_batch = 5, .eval_batch = 5,
                 .parameters = 75'205, .fixed_batch = true,
                 .make = by_preset<MetaLearner>(std::tuple(64, true), std::tuple(16, true)));
TORCHSTONE_MODEL(functorch_maml_omniglot, .family = "omniglot", .suites = {"torchbench"}, .train_batch = 1,
                 .eval_batch = 1, .parameters = 75'205, .fixed_batch = true,
                 .make = by_preset<MetaLearner>(std::tuple(64, false), std::tuple(16, false)));

}  // namespace
}  // namespace torchstone::omniglot
