#include "models/blocks/layers.h"

namespace torchstone {

void init_convolutions_he(torch::nn::Module& root) {
  each_layer<torch::nn::Conv2d>(root, [](auto& conv) {
    torch::nn::init::kaiming_normal_(conv.weight, 0, torch::kFanOut, torch::kReLU);
    if (conv.bias.defined()) torch::nn::init::zeros_(conv.bias);
  });
}

void init_linears_normal(torch::nn::Module& root, double deviation) {
  each_layer<torch::nn::Linear>(root, [deviation](auto& linear) {
    torch::nn::init::normal_(linear.weight, 0, deviation);
    if (linear.bias.defined()) torch::nn::init::zeros_(linear.bias);
  });
}

}  // namespace torchstone
