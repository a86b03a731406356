// Trains a compiled and an eager ResNet-18 from the same weights on the same batches. Writes both loss curves to
// loss.csv, results.json and report.html. Exits with 1 if the curves diverge.
//
// The data are synthetic. Each class is a random picture. Each image is its class's picture with noise.
//
// It calls private headers (capture, reports), which are not installed and may change with every version: it is built
// with the tests of Torchstone itself, from the repository.
//
//   build/bin/train_resnet18 --backend inductor --steps 200 --out curves
#include <algorithm>
#include <cmath>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "fixtures/backends/backend_registry.h"
#include "fixtures/capture/capture.h"
#include "fixtures/capture/eager_run.h"
#include "fixtures/core/case.h"
#include "fixtures/core/run_options.h"
#include "models/core/model_registry.h"
#include "models/core/model_state.h"
#include "reports/base/files.h"
#include "reports/record/run_facts.h"
#include "reports/write/html/page.h"

namespace torchstone {
namespace {

constexpr int64_t class_count = 10;

struct Options {
  std::string backend = "inductor", device = "cpu", out = "curves";
  int steps = 200;
  int64_t batch = 16, side = 64;
  double learning_rate = 0.01, noise = 1.0;
  bool full = false;
};

/// ResNet-18 with its loss: inputs are images and the numbers of their classes.
class Classifier : public Model {
 public:
  explicit Classifier(bool full) {
    const ModelOptions options{full ? Preset::full : Preset::mini, Mode::training, 1};
    net_ = register_module("net", find_model("resnet18")->make(options));
  }
  c10::IValue forward(const Tensors& inputs) override {
    return torch::cross_entropy_loss(net_->forward({inputs.at(0)}).toTensor(), inputs.at(1));
  }
  Tensors example_inputs(const ModelOptions&) const override { return {}; }

 private:
  std::shared_ptr<Model> net_;
};

/// Batches drawn from random pictures, one a class.
class Data {
 public:
  explicit Data(const Options& o) : options_(o), pictures_(torch::randn({class_count, 3, o.side, o.side})) {}
  Tensors batch() const {
    const auto classes = torch::randint(class_count, {options_.batch});
    const auto images = pictures_.index_select(0, classes);
    const auto noisy = images + options_.noise * torch::randn_like(images);
    return {noisy.to(options_.device), classes.to(options_.device)};
  }

 private:
  const Options& options_;
  torch::Tensor pictures_;
};

/// One training: a model, its optimizer, and how a step is called.
struct Side {
  std::shared_ptr<Classifier> model;
  torch::optim::SGD optimizer;
  std::function<c10::IValue(const Tensors&)> call;
  std::vector<double> losses{};

  void step(const Tensors& batch) {
    optimizer.zero_grad();
    losses.push_back(call(batch).toTensor().item<double>());
    optimizer.step();
  }
};

Side side_of(const Options& o) {
  auto model = std::make_shared<Classifier>(o.full);
  model->to(torch::Device(o.device));
  model->train();
  return {model, torch::optim::SGD(model->parameters(), torch::optim::SGDOptions(o.learning_rate)), {}};
}

Case case_of(const Options& o) {
  Case c;
  c.suite = "example";
  c.model = "resnet18";
  c.mode = Mode::training;
  c.device = o.device;
  c.backend = parse_backend(o.backend);
  c.preset = o.full ? Preset::full : Preset::mini;
  c.batch_size = o.batch;
  return c;
}

std::unique_ptr<Compiled> compiled_step(const Options& o, Model& model, const Data& data) {
  const Case c = case_of(o);
  const Backend& backend = backend_named(c.backend.name);
  if (const auto why = backend.unsupported(c)) throw std::runtime_error(*why);
  return backend.compile(capture::capture(model, data.batch(), data.batch(), {true, {}}), c);
}

void write_curves(const Options& o, const Side& eager, const Side& compiled) {
  std::string csv = fmt::format("step,eager,{}\n", o.backend);
  for (size_t i = 0; i < eager.losses.size(); ++i)
    csv += fmt::format("{},{:.6g},{:.6g}\n", i, eager.losses[i], compiled.losses[i]);
  write_atomically(o.out + "/loss.csv", csv);
}

void write_report(const Options& o, RunInfo run, Outcome outcome) {
  Result result = result_before_run(case_of(o));
  result.outcome = std::move(outcome);
  run.exit_reason = "finished";
  run.build = build_facts();
  write_atomically(o.out + "/results.json", write_json({result}, run));
  write_atomically(o.out + "/report.html", write::write_html({run, {result}}));
}

/// Mean of the last tenth.
double end_of(const std::vector<double>& losses) {
  const size_t count = std::max<size_t>(losses.size() / 10, 1);
  double sum = 0;
  for (size_t i = losses.size() - count; i < losses.size(); ++i) sum += losses[i];
  return sum / static_cast<double>(count);
}

/// The verdict, with both losses of each step.
Outcome train(const Options& o) {
  torch::manual_seed(1337);
  const Data data(o);
  Side eager = side_of(o), compiled = side_of(o);
  copy_state(*eager.model, *compiled.model);
  eager.call = [&](const Tensors& inputs) { return eager_call(*eager.model, inputs, {true, {}}); };
  fmt::print("compiling the training step with {} …\n", o.backend);
  std::fflush(stdout);
  const auto program = compiled_step(o, *compiled.model, data);
  compiled.call = [&](const Tensors& inputs) { return program->run(inputs); };
  for (int step = 0; step < o.steps; ++step) {
    const Tensors batch = data.batch();
    eager.step(batch);
    compiled.step(batch);
    if (step % 20 == 0 || step + 1 == o.steps) {
      fmt::print("step {:4}  loss: eager {:.5f}, {} {:.5f}\n", step, eager.losses.back(), o.backend,
                 compiled.losses.back());
      std::fflush(stdout);
    }
  }
  write_curves(o, eager, compiled);
  const double eager_end = end_of(eager.losses), compiled_end = end_of(compiled.losses);
  Outcome outcome;
  outcome.samples = {{"eager_loss", eager.losses}, {"compiled_loss", compiled.losses}};
  outcome.reason = fmt::format("the last {} steps: eager {:.5f}, {} {:.5f}", std::max(o.steps / 10, 1), eager_end,
                               o.backend, compiled_end);
  // Rounding errors grow along the way, so that single steps may differ; where training arrives may not.
  const bool together = std::abs(eager_end - compiled_end) <= 0.05 * eager.losses.front();
  outcome.status = together ? Status::pass : Status::fail_accuracy;
  return outcome;
}

}  // namespace
}  // namespace torchstone

int main(int argc, char** argv) {
  torchstone::Options options;
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
    const torchstone::RunInfo run = torchstone::begin_run(argc, argv);
    const torchstone::Outcome outcome = torchstone::train(options);
    torchstone::write_report(options, run, outcome);
    fmt::print("{}; curves in {}/report.html\n", outcome.reason, options.out);
    if (outcome.status == torchstone::Status::pass) return 0;
    std::cerr << "the curves part: the compiled step does not train as eager does\n";
    return 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
