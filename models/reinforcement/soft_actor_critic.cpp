// Soft actor-critic: the stochastic actor, whose outputs parameterise a tanh-squashed Gaussian.
// Paper: Haarnoja, Zhou, Abbeel, Levine, "Soft actor-critic: off-policy maximum entropy deep RL", 2018.
// Original: pytorch/benchmark soft_actor_critic (StochasticActor, Pendulum). Input state [256, 3] → (mean [256, 1],
// deviation [256, 1]) before squashing, which are the leaves of upstream's distribution; 1,055,746 parameters.
// mini: hidden width 256 instead of 1024.
#include "models/blocks/basic_layers.h"

namespace torchstone::soft_actor_critic {
namespace {

constexpr int64_t state_size = 3, action_size = 1;
constexpr double min_log_deviation = -10, max_log_deviation = 2;

class StochasticActor : public Model {
 public:
  explicit StochasticActor(int64_t width) {
    fc1_ = register_module("fc1", nn::Linear(state_size, width));
    fc2_ = register_module("fc2", nn::Linear(width, width));
    fc3_ = register_module("fc3", nn::Linear(width, 2 * action_size));
    each_layer<nn::Linear>(*this, [](auto& layer) {
      nn::init::orthogonal_(layer.weight);
      nn::init::zeros_(layer.bias);
    });
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto halves = fc3_(fc2_(fc1_(inputs.at(0)).relu()).relu()).chunk(2, 1);
    const auto log_deviation =
        min_log_deviation + 0.5 * (max_log_deviation - min_log_deviation) * (halves[1].tanh() + 1);
    return std::make_tuple(halves[0], log_deviation.exp());
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    return {torch::randn({options.batch_size, state_size})};
  }

 private:
  nn::Linear fc1_{nullptr}, fc2_{nullptr}, fc3_{nullptr};
};

TORCHSTONE_MODEL(soft_actor_critic, .family = "soft_actor_critic", .suites = {"torchbench"}, .train_batch = 256,
                 .eval_batch = 256, .parameters = 1'055'746, .fixed_batch = true,
                 .make = by_preset<StochasticActor>(1024, 256));

}  // namespace
}  // namespace torchstone::soft_actor_critic
