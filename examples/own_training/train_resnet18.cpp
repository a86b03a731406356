// Trains a compiled and an eager ResNet-18 from the same weights on the same batches. Writes both loss curves to
// loss.csv. Exits with 1 if the curves diverge.
//
// The data are synthetic. Each class is a random picture. Each image is its class's picture with noise.
//
//   build/bin/train_resnet18 --backend inductor --steps 200 --out curves
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>

#include <CLI/CLI.hpp>
#include <torch/torch.h>
#include <torchstone/compile.h>
#include <torchstone/model.h>

namespace {

constexpr int64_t class_count = 10;

struct Options {
  std::string backend = "inductor", device = "cpu", out = "curves";
  int steps = 200;
  int64_t batch = 16, side = 64;
  double learning_rate = 0.01, noise = 1.0;
  bool full = false;
};

/// ResNet-18 with its loss. Inputs: images [N, 3, side, side] and classes [N], int64. Output: the loss, a 0-d tensor.
class Classifier : public torchstone::Model {
 public:
  explicit Classifier(bool full) {
    const auto preset = full ? torchstone::Preset::full : torchstone::Preset::mini;
    const auto* resnet = torchstone::find_model("resnet18");
    net_ = register_module("net", resnet->make({preset, torchstone::Mode::training, 1}));
  }
  c10::IValue forward(const torchstone::Tensors& inputs) override {
    return torch::cross_entropy_loss(net_->forward({inputs.at(0)}).toTensor(), inputs.at(1));
  }
  torchstone::Tensors example_inputs(const torchstone::ModelOptions&) const override { return {}; }

 private:
  std::shared_ptr<torchstone::Model> net_;
};

/// Batches of noisy random pictures, one picture per class.
class Data {
 public:
  explicit Data(const Options& o) : options_(o), pictures_(torch::randn({class_count, 3, o.side, o.side})) {}
  torchstone::Tensors batch() const {
    const auto classes = torch::randint(class_count, {options_.batch});
    const auto images = pictures_.index_select(0, classes);
    const auto noisy = images + options_.noise * torch::randn_like(images);
    return {noisy.to(options_.device), classes.to(options_.device)};
  }

 private:
  const Options& options_;
  torch::Tensor pictures_;
};

/// A model with its optimizer, and the loss of each step.
struct Training {
  explicit Training(const Options& o) {
    torch::manual_seed(1337);  // both models get the same weights
    model = std::make_shared<Classifier>(o.full);
    model->to(torch::Device(o.device));
    model->train();
    optimizer = std::make_unique<torch::optim::SGD>(model->parameters(), o.learning_rate);
  }

  std::shared_ptr<Classifier> model;
  std::unique_ptr<torch::optim::SGD> optimizer;
  std::vector<double> losses;
};

/// Trains both models. The eager step is PyTorch's usual loop. In the compiled one, run() replaces forward and
/// backward.
void train(const Options& o, Training& eager, Training& compiled) {
  const Data data(o);
  std::cout << "compiling the training step with " << o.backend << " …" << std::endl;
  // A trace on one batch becomes the program. The second batch checks that no branch or number depends on the data.
  auto program = torchstone::capture_program(*compiled.model, data.batch(), data.batch(), {.training = true});
  const auto step = torchstone::compile_program(std::move(program), o.backend);

  for (int i = 0; i < o.steps; ++i) {
    const auto batch = data.batch();

    eager.optimizer->zero_grad();
    const auto loss = eager.model->forward(batch).toTensor();
    loss.backward();
    eager.losses.push_back(loss.item<double>());
    eager.optimizer->step();

    compiled.optimizer->zero_grad();
    compiled.losses.push_back(step->run(batch).toTensor().item<double>());  // adds to the gradients of the model
    compiled.optimizer->step();

    if (i % 20 == 0 || i + 1 == o.steps) {
      std::printf("step %4d  loss: eager %.5f, %s %.5f\n", i, eager.losses.back(), o.backend.c_str(),
                  compiled.losses.back());
      std::fflush(stdout);
    }
  }
}

void write_losses(const Options& o, const Training& eager, const Training& compiled) {
  std::filesystem::create_directories(o.out);
  std::ofstream csv(o.out + "/loss.csv");
  csv << "step,eager," << o.backend << "\n";
  for (size_t i = 0; i < eager.losses.size(); ++i)
    csv << i << "," << eager.losses[i] << "," << compiled.losses[i] << "\n";
  if (!csv.flush()) throw std::runtime_error("cannot write " + o.out + "/loss.csv");
}

/// Mean of the last `count` losses.
double final_loss(const std::vector<double>& losses, int count) {
  return std::accumulate(losses.end() - count, losses.end(), 0.0) / count;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Trains a compiled ResNet-18 and an eager one");
  app.add_option("--backend", options.backend, "NAME[:OPTION=VALUE,…]")->capture_default_str();
  app.add_option("--device", options.device)->capture_default_str();
  app.add_option("--steps", options.steps)->check(CLI::Range(1, 1'000'000))->capture_default_str();
  app.add_option("--batch", options.batch)->check(CLI::Range(2, 100'000))->capture_default_str();
  app.add_option("--side", options.side, "of the square images")->check(CLI::Range(32, 1024))->capture_default_str();
  app.add_option("--lr", options.learning_rate)->capture_default_str();
  app.add_flag("--full", options.full, "the published size in place of the small one");
  app.add_option("--out", options.out, "folder of the curves")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    Training eager(options), compiled(options);
    train(options, eager, compiled);
    write_losses(options, eager, compiled);
    const int count = std::max(options.steps / 10, 1);
    const double of_eager = final_loss(eager.losses, count), of_compiled = final_loss(compiled.losses, count);
    std::printf("the last %d steps: eager %.5f, %s %.5f; curves in %s/loss.csv\n", count, of_eager,
                options.backend.c_str(), of_compiled, options.out.c_str());
    // Rounding errors grow during training, so single steps may differ. The final losses may not. NaN fails.
    if (std::abs(of_eager - of_compiled) <= 0.05 * eager.losses.front()) return 0;
    std::cerr << "the curves diverge: the compiled step does not train as eager does\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
  }
  return 1;
}
