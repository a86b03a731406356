#include "cases/flags/model_suite_flags.h"

#include "cases/flags/flag_types.h"

namespace torchstone::flags {
namespace {

using fastrnns::Executor;
using fastrnns::Fuser;

constexpr int64_t million = 1'000'000;

const config::Words<Fuser>& fusers() {
  static const config::Words<Fuser> words{
      {"te", Fuser::te}, {"old", Fuser::old}, {"none", Fuser::none}, {"default", Fuser::untouched}};
  return words;
}

const config::Words<Executor>& executors() {
  static const config::Words<Executor> words{{"profiling", Executor::profiling},
                                             {"simple", Executor::simple},
                                             {"legacy", Executor::legacy},
                                             {"default", Executor::untouched}};
  return words;
}

FlagInfo layouts_flag() {
  FlagInfo flag{.name = "layouts", .value = "recorded,channels_last", .help = "of the inputs of operators"};
  flag.set = [](Flags& f, const config::Yaml& v) {
    f.operators.layouts.clear();
    for (const auto& part : split(v)) f.operators.layouts.push_back(config::layout_of(part));
  };
  return std::move(flag).used_by(config::operators_of_a_log()).otherwise("the suite's (recorded)");
}

}  // namespace

std::vector<FlagInfo> model_suite_flags() {
  return {
      texts_flag(
          "operator_logs", "FILE", "logs of operator inputs that the suite operators runs",
          [](Flags & f) -> auto& { return f.operators.logs; })
          .is_path()
          .used_by(config::operators_of_a_log())
          .otherwise("the suite's"),
      number_flag(
          "max_samples", "N", int64_t{1}, million, "inputs of one operator that are run",
          [](Flags & f) -> auto& { return f.operators.max_samples; })
          .used_by(config::operators_of_a_log())
          .otherwise("the suite's"),
      number_flag(
          "start_index", "N", int64_t{0}, million, "the first of the inputs of an operator that are run",
          [](Flags & f) -> auto& { return f.operators.start_index; })
          .used_by(config::operators_of_a_log())
          .otherwise("the suite's (0)"),
      layouts_flag(),
      number_flag(
          "seq_length", "N", int64_t{1}, million, "steps of the recurrent models of fastrnns",
          [](Flags & f) -> auto& { return f.fastrnns.sizes.steps; })
          .used_by(config::recurrent_models())
          .otherwise("100, mini 5"),
      number_flag(
          "layers", "N", int64_t{1}, int64_t{1000}, "layers of the recurrent models of fastrnns",
          [](Flags & f) -> auto& { return f.fastrnns.sizes.layers; })
          .used_by(config::recurrent_models())
          .otherwise("1"),
      number_flag(
          "input_size", "N", int64_t{1}, million, "width of their input",
          [](Flags & f) -> auto& { return f.fastrnns.sizes.input; })
          .used_by(config::recurrent_models())
          .otherwise("512, mini 16"),
      number_flag(
          "hidden_size", "N", int64_t{1}, million, "width of their state",
          [](Flags & f) -> auto& { return f.fastrnns.sizes.hidden; })
          .used_by(config::recurrent_models())
          .otherwise("512, mini 16"),
      word_flag(
          "fuser", fusers(), "TorchScript's fuser", [](Flags & f) -> auto& { return f.fastrnns.fuser; }),
      word_flag(
          "executor", executors(), "TorchScript's executor", [](Flags & f) -> auto& { return f.fastrnns.executor; }),
  };
}

}  // namespace torchstone::flags
