// Lennard-Jones: a small tanh network for the energy of two particles at a distance.
// Method: Lennard-Jones, "On the determination of molecular fields", 1924 (the learned potential).
// Original: pytorch/benchmark lennard_jones, a bare nn.Sequential. Input distances [1000, 1] in [0.5, 1) (sigma is 0.5)
// → energies [1000, 1]; 865 parameters. Upstream's distances are evenly spaced, here they are random. mini is full.
#include "models/blocks/basic_layers.h"

namespace torchstone::lennard_jones {
namespace {

class LennardJones : public Layered<Model> {
 public:
  LennardJones() {
    const std::vector<int64_t> widths = {1, 16, 16, 16, 16, 1};
    for (size_t i = 0; i + 1 < widths.size(); ++i) {
      // The original counts the tanh between two layers as a child too.
      if (i > 0) add(nn::Tanh());
      add(std::to_string(2 * i), nn::Linear(widths[i], widths[i + 1]));
    }
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    return {0.5 + 0.5 * torch::rand({options.batch_size, 1})};
  }
};

TORCHSTONE_MODEL(
    lennard_jones, .family = "lennard_jones", .suites = {"torchbench"}, .train_batch = 1000, .eval_batch = 1000,
    .parameters = 865,
    .make = [](const ModelOptions&) -> std::shared_ptr<Model> { return std::make_shared<LennardJones>(); });

}  // namespace
}  // namespace torchstone::lennard_jones
