// A plug-in that starts a thread while it is loaded. The thread holds a lock that the plug-in's model needs.
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include <torchstone/model.h>

namespace torchstone {
namespace {

/// Starts a thread that holds `mutex` until ask() is called.
struct Worker {
  Worker() {
    std::thread([this] {
      const std::lock_guard<std::mutex> held(mutex);
      running.store(true);
      running.notify_all();
      asked.wait(false);
    }).detach();
    running.wait(false);
  }
  /// Returns when the thread has released the lock. In a forked process, which lacks the thread, it never returns.
  void ask() {
    asked.store(true);
    asked.notify_all();
    const std::lock_guard<std::mutex> lock(mutex);
  }

  std::mutex mutex;
  std::atomic<bool> running = false, asked = false;
};

Worker& worker() {
  static auto* const worker = new Worker;  // its thread never ends
  return *worker;
}

class AsksAThread : public Model {
 public:
  AsksAThread() { linear_ = register_module("linear", torch::nn::Linear(8, 8)); }
  c10::IValue forward(const Tensors& inputs) override {
    worker().ask();
    return linear_(inputs.at(0));
  }
  Tensors example_inputs(const ModelOptions& options) const override { return {torch::randn({options.batch_size, 8})}; }

 private:
  torch::nn::Linear linear_{nullptr};
};

TORCHSTONE_MODEL(
    asks_a_thread, .family = "fault", .suites = {"faults"}, .train_batch = 4, .eval_batch = 4,
    .make = [](const ModelOptions&) -> std::shared_ptr<Model> { return std::make_shared<AsksAThread>(); });

[[maybe_unused]] const bool loaded = (worker(), true);

}  // namespace
}  // namespace torchstone
