// Planted faults in compilers. Most backends compile with TorchScript and then spoil one thing.
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

#include <ATen/Context.h>
#include <fmt/format.h>

#include "fixtures/backends/backend_registry.h"
#include "fixtures/compare/compare.h"
#include "fixtures/core/case.h"
#include "fixtures/measure/device_timing.h"
#include "models/core/model_registry.h"
#include "models/core/tree.h"

namespace torchstone::backends_faults {
namespace {

using Spoil = std::function<c10::IValue(const c10::IValue&)>;

class SpoiledProgram : public Compiled {
 public:
  SpoiledProgram(std::unique_ptr<Compiled> program, Spoil spoil)
      : program_(std::move(program)), spoil_(std::move(spoil)) {}

 protected:
  c10::IValue execute(const Tensors& inputs) override { return spoil_(program_->run(inputs)); }

 private:
  std::unique_ptr<Compiled> program_;
  Spoil spoil_;
};

class SpoiledBackend : public Backend {
 public:
  explicit SpoiledBackend(Spoil spoil) : spoil_(std::move(spoil)) {}
  std::optional<std::string> unsupported(const Case&) const override { return std::nullopt; }
  std::unique_ptr<Compiled> compile(Captured program, const Case& c) const override {
    return std::make_unique<SpoiledProgram>(backend_named("torchscript").compile(std::move(program), plain(c)), spoil_);
  }

 protected:
  static Case plain(Case c) {
    c.backend = {"torchscript", {}};
    return c;
  }

 private:
  Spoil spoil_;
};

/// Makes one weight of the compiled program 5 % larger.
class WrongWeight : public SpoiledBackend {
 public:
  WrongWeight() : SpoiledBackend([](const c10::IValue& output) { return output; }) {}
  std::unique_ptr<Compiled> compile(Captured program, const Case& c) const override {
    torch::NoGradGuard no_grad;
    for (const auto& [name, constant] : program.constants) {
      if (!constant.is_floating_point()) continue;
      constant.mul_(1.05);
      break;
    }
    return SpoiledBackend::compile(std::move(program), c);
  }
};

/// Changes the last bits of the result by an amount that depends on the batch size.
class BatchDependent : public SpoiledBackend {
 public:
  BatchDependent() : SpoiledBackend([](const c10::IValue& output) { return output; }) {}
  std::unique_ptr<Compiled> compile(Captured program, const Case& c) const override {
    const double factor = 1 + 1e-7 * static_cast<double>(c.batch_size == 1 ? 2 : 1);
    const Spoil spoil = [factor](const c10::IValue& output) {
      // Divides: a multiplication outside the program would look like eager code, because some models run nothing else.
      return map_tensors(output, [factor](const torch::Tensor& t) { return t / factor; });
    };
    return std::make_unique<SpoiledProgram>(backend_named("torchscript").compile(std::move(program), plain(c)), spoil);
  }
};

/// `fault_scaled` and `fault_scaled:factor=1.00002`: multiplies every output tensor by the factor, 1.05 by default.
class Scaled : public SpoiledBackend {
 public:
  Scaled() : SpoiledBackend([](const c10::IValue& output) { return output; }) {}
  std::unique_ptr<Compiled> compile(Captured program, const Case& c) const override {
    const double factor = std::stod(backend_option(c.backend, "factor", "1.05"));
    const Spoil spoil = [factor](const c10::IValue& output) {
      return map_tensors(output, [factor](const torch::Tensor& t) { return t * factor; });
    };
    return std::make_unique<SpoiledProgram>(backend_named("torchscript").compile(std::move(program), plain(c)), spoil);
  }
};

/// Returns the answer of its first call for all later inputs.
class StaleAnswer : public SpoiledBackend {
 public:
  StaleAnswer() : SpoiledBackend([](const c10::IValue& output) { return output; }) {}
  std::unique_ptr<Compiled> compile(Captured program, const Case& c) const override {
    const auto first = std::make_shared<c10::IValue>();
    const Spoil spoil = [first](const c10::IValue& output) {
      if (first->isNone()) *first = output;
      return *first;
    };
    return std::make_unique<SpoiledProgram>(backend_named("torchscript").compile(std::move(program), plain(c)), spoil);
  }
};

/// Returns its last answer, without a run, where its inputs are not checked: in timed regions.
class IdleWhileTimed : public Compiled {
 public:
  explicit IdleWhileTimed(std::unique_ptr<Compiled> program) : program_(std::move(program)) {}

 protected:
  c10::IValue execute(const Tensors& inputs) override {
    if (checked() || last_.isNone()) last_ = program_->run(inputs);
    return last_;
  }

 private:
  std::unique_ptr<Compiled> program_;
  c10::IValue last_;
};

class IdlesWhileTimed : public SpoiledBackend {
 public:
  IdlesWhileTimed() : SpoiledBackend([](const c10::IValue& output) { return output; }) {}
  std::unique_ptr<Compiled> compile(Captured program, const Case& c) const override {
    return std::make_unique<IdleWhileTimed>(backend_named("torchscript").compile(std::move(program), plain(c)));
  }
};

/// Returns the answer of the call before.
class LateAnswer : public SpoiledBackend {
 public:
  LateAnswer() : SpoiledBackend([](const c10::IValue& output) { return output; }) {}
  std::unique_ptr<Compiled> compile(Captured program, const Case& c) const override {
    const auto before = std::make_shared<c10::IValue>();
    const Spoil spoil = [before](const c10::IValue& output) {
      const c10::IValue late = before->isNone() ? output : *before;
      *before = output;
      return late;
    };
    return std::make_unique<SpoiledProgram>(backend_named("torchscript").compile(std::move(program), plain(c)), spoil);
  }
};

/// Fails every compile.
class Refuses : public Backend {
 public:
  std::optional<std::string> unsupported(const Case&) const override { return std::nullopt; }
  std::unique_ptr<Compiled> compile(Captured, const Case&) const override {
    throw CompileError("planted: the compiler refuses");
  }
};

/// Fails every compile with a message that lists the settings in effect, so that a test can read them.
class TellsSettings : public Backend {
 public:
  std::optional<std::string> unsupported(const Case&) const override { return std::nullopt; }
  std::unique_ptr<Compiled> compile(Captured, const Case&) const override {
    const auto& context = at::globalContext();
    const char* workspace = std::getenv("CUBLAS_WORKSPACE_CONFIG");
    throw CompileError(fmt::format(
        "planted: deterministic={:d} cudnn_deterministic={:d} mkldnn_deterministic={:d} tf32={:d}{:d} attention={:d} "
        "workspace={}",
        context.deterministicAlgorithms(), context.deterministicCuDNN(), context.deterministicMkldnn(),
        context.allowTF32CuBLAS(), context.allowTF32CuDNN(), context.allowFP16BF16ReductionMathSDP(),
        workspace ? workspace : "none"));
  }
};

class NotHere : public Backend {
 public:
  std::optional<std::string> unsupported(const Case&) const override { return "planted: not on this machine"; }
  std::unique_ptr<Compiled> compile(Captured, const Case&) const override {
    throw CompileError("planted: never asked");
  }
};

class NoCompiler : public Backend {
 public:
  std::optional<std::string> unsupported(const Case&) const override { return std::nullopt; }
  std::unique_ptr<Compiled> compile(Captured, const Case&) const override {
    throw CompilerMissing("planted: no compiler to be found");
  }
};

/// Silently runs eager code instead of a compiled program.
class Eager : public Compiled {
 public:
  explicit Eager(std::function<c10::IValue(const Tensors&)> call) : call_(std::move(call)) {}

 protected:
  c10::IValue execute(const Tensors& inputs) override { return call_(inputs); }

 private:
  std::function<c10::IValue(const Tensors&)> call_;
};

/// `fault_eager`: runs the model that it was given.
class CallsTheModel : public Backend {
 public:
  std::optional<std::string> unsupported(const Case&) const override { return std::nullopt; }
  std::unique_ptr<Compiled> compile(Captured captured, const Case&) const override {
    return std::make_unique<Eager>(std::move(captured.call));
  }
};

/// `fault_eager_copy`: runs a second instance of the model with the same weights, in inference.
class CallsItsOwnModel : public Backend {
 public:
  std::optional<std::string> unsupported(const Case&) const override { return std::nullopt; }
  std::unique_ptr<Compiled> compile(Captured captured, const Case& c) const override {
    const std::shared_ptr<Model> model = find_model(c.model)->make({c.preset, c.mode, c.batch_size});
    const torch::NoGradGuard no_grad;
    for (auto& parameter : model->named_parameters()) parameter->copy_(captured.constants.at(parameter.key()));
    model->to(torch::Device(c.device));
    model->eval();
    return std::make_unique<Eager>([model](const Tensors& inputs) {
      const torch::NoGradGuard without_gradients;
      return model->forward(inputs);
    });
  }
};

/// Runs eager, then busy-waits until the call has taken `factor` times as long. The slow-down is known exactly, however
/// noisy the machine is. On a device, the call synchronises before it waits.
class SlowerEager : public Compiled {
 public:
  SlowerEager(Captured captured, const Case& c, double factor)
      : eager_(std::move(captured.call)), device_(c.device), factor_(factor) {}

 protected:
  c10::IValue execute(const Tensors& inputs) override {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    auto output = eager_(inputs);
    measure::synchronize(device_);
    const std::chrono::duration<double> wanted = factor_ * (Clock::now() - start);
    while (Clock::now() - start < wanted) {
    }
    return output;
  }

 private:
  std::function<c10::IValue(const Tensors&)> eager_;
  torch::Device device_;
  double factor_;
};

/// `fault_slower` and `fault_slower:factor=1.02`: the planted slow-down of tests/benchmarks/eager_against_eager.py.
class Slower : public Backend {
 public:
  std::optional<std::string> unsupported(const Case&) const override { return std::nullopt; }
  bool captures() const override { return false; }
  bool is_control() const override { return true; }
  std::unique_ptr<Compiled> compile(Captured captured, const Case& c) const override {
    const auto factor = c.backend.options.find("factor");
    return std::make_unique<SlowerEager>(std::move(captured), c,
                                         factor == c.backend.options.end() ? 1.05 : std::stod(factor->second));
  }
};

bool register_spoiled(const std::string& name, Spoil spoil) {
  return register_backend(name, std::make_unique<SpoiledBackend>(std::move(spoil)), __FILE__, __LINE__);
}

template <typename Change>
Spoil each_tensor(Change change) {
  return [change](const c10::IValue& output) { return map_tensors(output, change); };
}

c10::IValue swapped(const c10::IValue& output) {
  if (!output.isTuple() || output.toTupleRef().elements().size() != 2) return output;
  return c10::ivalue::Tuple::create({output.toTupleRef().elements()[1], output.toTupleRef().elements()[0]});
}

c10::IValue slower(const c10::IValue& output) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  while (std::chrono::steady_clock::now() < end) {
  }
  return output;
}

/// Allocates 64 MiB in each call.
c10::IValue hungry(const c10::IValue& output) {
  const auto scratch = torch::empty({int64_t{1} << 24}, torch::kFloat32);
  return output;
}

c10::IValue killed(const c10::IValue&) {
  ::kill(getpid(), SIGKILL);
  return {};
}

[[maybe_unused]] const bool registered =
    register_spoiled("fault_none", [](const c10::IValue& output) { return output; }) &&
    register_spoiled("fault_zero", each_tensor([](const torch::Tensor& t) { return torch::zeros_like(t); })) &&
    register_spoiled("fault_nan", each_tensor([](const torch::Tensor& t) { return torch::full_like(t, NAN); })) &&
    register_spoiled("fault_dtype", each_tensor([](const torch::Tensor& t) { return t.to(torch::kFloat64); })) &&
    register_spoiled("fault_shape", each_tensor([](const torch::Tensor& t) { return t.unsqueeze(0); })) &&
    register_spoiled("fault_swapped", swapped) && register_spoiled("fault_slow", slower) &&
    register_spoiled("fault_hungry", hungry) && register_spoiled("fault_killed", killed) &&
    register_backend("fault_weight", std::make_unique<WrongWeight>(), __FILE__, __LINE__) &&
    register_backend("fault_scaled", std::make_unique<Scaled>(), __FILE__, __LINE__) &&
    register_backend("fault_stale_answer", std::make_unique<StaleAnswer>(), __FILE__, __LINE__) &&
    register_backend("fault_idle_while_timed", std::make_unique<IdlesWhileTimed>(), __FILE__, __LINE__) &&
    register_backend("fault_late_answer", std::make_unique<LateAnswer>(), __FILE__, __LINE__) &&
    register_backend("fault_batch", std::make_unique<BatchDependent>(), __FILE__, __LINE__) &&
    register_backend("fault_eager", std::make_unique<CallsTheModel>(), __FILE__, __LINE__) &&
    register_backend("fault_eager_copy", std::make_unique<CallsItsOwnModel>(), __FILE__, __LINE__) &&
    register_backend("fault_slower", std::make_unique<Slower>(), __FILE__, __LINE__) &&
    register_backend("fault_settings", std::make_unique<TellsSettings>(), __FILE__, __LINE__) &&
    register_backend("fault_refused", std::make_unique<Refuses>(), __FILE__, __LINE__) &&
    register_backend("fault_unsupported", std::make_unique<NotHere>(), __FILE__, __LINE__) &&
    register_backend("fault_missing", std::make_unique<NoCompiler>(), __FILE__, __LINE__);

}  // namespace
}  // namespace torchstone::backends_faults
