// Backends that are right by construction: they run eager under a condition that changes only the rounding.
// tests/benchmarks/rounding_alarms.py counts how often the verdict `rounding` rejects them.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <ATen/Context.h>
#include <fmt/format.h>
#include <torchstone/backend.h>
#include <torchstone/compile_error.h>

#include "fixtures/checks/reference/rounding_runs.h"

namespace torchstone::right_by_construction {
namespace {

using Call = std::function<c10::IValue(const Tensors&)>;

/// Calls `set` on construction and `restore` on destruction.
class Restored {
 public:
  Restored(const std::function<void()>& set, std::function<void()> restore) : restore_(std::move(restore)) { set(); }
  ~Restored() { restore_(); }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  std::function<void()> restore_;
};

c10::IValue by_other_threads(const Call& call, const Tensors& inputs) {
  const checks::OtherThreads threads;
  return call(inputs);
}

c10::IValue without_onednn(const Call& call, const Tensors& inputs) {
  auto& context = at::globalContext();
  const bool before = context.userEnabledMkldnn();
  const Restored library([&] { context.setUserEnabledMkldnn(false); }, [&] { context.setUserEnabledMkldnn(before); });
  return call(inputs);
}

c10::IValue without_cudnn(const Call& call, const Tensors& inputs) {
  auto& context = at::globalContext();
  const bool before = context.userEnabledCuDNN();
  const Restored library([&] { context.setUserEnabledCuDNN(false); }, [&] { context.setUserEnabledCuDNN(before); });
  return call(inputs);
}

c10::IValue by_channels_last(const Call& call, const Tensors& inputs) {
  return call(checks::with_channels_last(inputs));
}

/// A condition, and the device type on which it has an effect.
struct Condition {
  c10::IValue (*run)(const Call& call, const Tensors& inputs);
  std::string device;  ///< empty: any device
};

const std::map<std::string, Condition>& conditions() {
  static const std::map<std::string, Condition> all{{"threads", {by_other_threads, "cpu"}},
                                                    {"no_onednn", {without_onednn, "cpu"}},
                                                    {"no_cudnn", {without_cudnn, "cuda"}},
                                                    {"channels_last", {by_channels_last, ""}}};
  return all;
}

class RightProgram : public Compiled {
 public:
  RightProgram(Call call, const Condition& condition) : call_(std::move(call)), condition_(condition) {}

 protected:
  c10::IValue execute(const Tensors& inputs) override { return condition_.run(call_, inputs); }

 private:
  Call call_;
  const Condition& condition_;
};

/// For example, `right:by=threads` runs eager with another number of threads.
class RightBackend : public Backend {
 public:
  std::optional<std::string> wrong_option(const std::string& key, const std::string& value) const override {
    if (key == "by" && conditions().contains(value)) return std::nullopt;
    return "expected by=threads, no_onednn, no_cudnn or channels_last";
  }
  std::optional<std::string> unsupported(const Case& c) const override {
    const auto by = c.backend.options.find("by");
    if (by == c.backend.options.end()) return "right needs its option by=CONDITION";
    const std::string& device = conditions().at(by->second).device;
    if (!c.device.starts_with(device)) return fmt::format("{} changes nothing on {}", by->second, c.device);
    return std::nullopt;
  }
  bool captures() const override { return false; }
  bool is_control() const override { return true; }
  std::unique_ptr<Compiled> compile(Captured captured, const Case& c) const override {
    const std::string& by = c.backend.options.at("by");
    if (by == "channels_last" && std::ranges::none_of(captured.example, checks::has_channels))
      throw CompileError("no input has a memory format");
    return std::make_unique<RightProgram>(std::move(captured.call), conditions().at(by));
  }
};

TORCHSTONE_BACKEND(right, std::make_unique<RightBackend>());

}  // namespace
}  // namespace torchstone::right_by_construction
