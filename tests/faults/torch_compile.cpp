// Planted faults for the backend torch_compile. Its Python process does not run the program that torch.compile made,
// alters its answer, sends it incompletely, or dies.
#include "fixtures/backends/torch_compile/torch_compile.h"

#include <torchstone/backend.h>

#include "fixtures/backends/backend_registry.h"

namespace torchstone::torch_compile_faults {
namespace {

/// The backend torch_compile with these `options`, whose server script is patched by the Python code in `changes`.
class ChangedServer : public Backend {
 public:
  ChangedServer(std::string name, const std::string& changes, std::map<std::string, std::string> options)
      : script_{std::move(name),
                "import os, signal\nimport compiled_session, torch_compile_server\n"
                "from compiled_session import Session\nrun, step = Session.run, Session._step\n" +
                    changes + "\ntorch_compile_server.main()\n"},
        options_(std::move(options)) {}
  std::optional<std::string> unsupported(const Case& c) const override {
    return backend_named("torch_compile").unsupported(c);
  }
  std::unique_ptr<Compiled> compile(Captured captured, const Case& c) const override {
    Case changed = c;
    changed.backend = {"torch_compile", options_};
    return backends::make_torch_compile(std::move(captured), changed, script_);
  }

 private:
  compile::ServerScript script_;
  std::map<std::string, std::string> options_;
};

bool plant(const std::string& name, const std::string& changes, const std::map<std::string, std::string>& options) {
  return register_backend(name, std::make_unique<ChangedServer>(name + ".py", changes, options), __FILE__, __LINE__);
}

/// Dynamo without a compiler behind it: fast, and the graph runs eager's operators.
const std::map<std::string, std::string> dynamo_alone{{"backend", "eager"}};

[[maybe_unused]] const bool planted[] = {plant("fault_torch_compile_none", "", dynamo_alone),
                                         plant("fault_torch_compile_eager", R"(
def eager(session, trace):
    session.called = session.module
    return run(session, trace)
Session.run = eager
)",
                                               {}),
                                         plant("fault_torch_compile_for_show", R"(
def both(session, called=None):
    step(session, called)
    return step(session, session.module)
Session._step = both
)",
                                               dynamo_alone),
                                         plant("fault_torch_compile_swapped", R"(
Session._step = lambda session, called=None: step(session, called)[::-1]
)",
                                               dynamo_alone),
                                         plant("fault_torch_compile_silent", R"(
compiled_session.hand_over = lambda memory, slot, tensor: {"dtype": slot["dtype"], "sizes": slot["sizes"]}
)",
                                               dynamo_alone),
                                         plant("fault_torch_compile_wide", R"(
own = compiled_session.hand_over
compiled_session.hand_over = lambda memory, slot, tensor: own(memory, slot, tensor.double())
)",
                                               dynamo_alone),
                                         plant("fault_torch_compile_dies", R"(
def die(session, trace):
    print("planted: the end", flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)
Session.run = die
)",
                                               dynamo_alone)};

}  // namespace
}  // namespace torchstone::torch_compile_faults
