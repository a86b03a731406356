#include "cases/settings/flag_types.h"
#include "cases/settings/flags.h"

namespace torchstone::flags {
namespace {

// `inductor:freezing=true,shape_padding=false,torchscript`: a part with = and without : continues the backend before
// it.
std::vector<config::Yaml> split_backends(const config::Yaml& value) {
  std::vector<config::Yaml> backends;
  for (auto& part : split(value)) {
    const bool continues = !backends.empty() && backends.back().text.find(':') != std::string::npos &&
                           part.text.find('=') != std::string::npos && part.text.find(':') == std::string::npos;
    if (continues)
      backends.back().text += "," + part.text;
    else
      backends.push_back(std::move(part));
  }
  return backends;
}

FlagInfo matrix_flag() {
  FlagInfo flag{.name = "matrix",
                .value = "suites|full",
                .help = "full: every model with all modes, dtypes and backends that its suite knows",
                .fallback = "suites"};
  flag.set = [](Flags& f, const config::Yaml& v) {
    f.full_matrix.reset();
    if (word_of(v, config::Words<bool>{{"suites", false}, {"full", true}})) f.full_matrix = v;
  };
  return flag;
}

/// PyTorch's name for one check, or for several given together.
FlagInfo check_flag(const char* name, const char* check, const char* help) {
  FlagInfo flag{.name = name, .value = "BOOL", .help = help, .fallback = "false"};
  flag.boolean = true;
  flag.set = [check](Flags& f, const config::Yaml& v) {
    const bool wanted = boolean_of(v);
    if (wanted && !contains(f.axes.checks, std::string(check))) f.axes.checks.push_back({check, v});
  };
  return flag;
}

FlagInfo only_flag() {
  FlagInfo flag{.name = "only",
                .value = "NAME_OR_FILE",
                .help =
                    "exactly this model, or this file: TorchScript (.pt), or an exported program (.pt2, or a folder "
                    "with eval.pt2 and train.pt2); or SOURCE:NAME of a Python package (timm:ghostnet_100)"};
  flag.set = [](Flags& f, const config::Yaml& v) {
    f.only = text_of(v);
    f.only_place = v;
  };
  return flag;
}

}  // namespace

std::vector<config::Yaml> split(const config::Yaml& value) {
  std::vector<config::Yaml> parts;
  size_t begin = 0;
  for (size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = value.text.find(',', begin);
    config::Yaml part = value;
    part.text = value.text.substr(begin, end == std::string::npos ? end : end - begin);
    if (part.text.empty()) fail(value, "an empty entry (expected names with commas between them)");
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<FlagInfo> selection_flags() {
  return {
      check_flag("batch_invariance", "batch_invariance",
                 "checks=batch_invariance: whether compiled parts of a batch (N/2, …, 1) give the same bits"),
      check_flag("find_batch_sizes", "largest_batch",
                 "checks=largest_batch: the largest batch that eager holds, halving from 1024; OUT/batch_sizes.txt is "
                 "a batch_size_file"),
      text_flag(
          "suites", "FOLDER_OR_FILE", "suite files (*.yaml)", [](Flags & f) -> auto& { return f.suites_folder; })
          .is_path()
          .otherwise("the program's own"),
      list_flag(
          "suite", "NAME,…", "suites by name", [](Flags & f) -> auto& { return f.suites; }, config::text_of)
          .otherwise("all"),
      list_flag(
          "checks", "accuracy,performance,…", "only these checks; one that no row has is added",
          [](Flags & f) -> auto& { return f.axes.checks; }, config::text_of)
          .also("check")
          .otherwise("the suites'"),
      list_flag(
          "modes", "inference,training", "only these modes; one that no row has is added",
          [](Flags & f) -> auto& { return f.axes.modes; }, config::mode_of)
          .also("mode")
          .otherwise("the suites'"),
      list_flag(
          "dtypes", "float32,bfloat16,float16,amp,float64", "only these dtypes; one that no row has is added",
          [](Flags & f) -> auto& { return f.axes.dtypes; }, config::dtype_of)
          .also("dtype")
          .otherwise("the suites'"),
      list_flag(
          "backends", "NAME[:OPTION=VALUE,…],…", "only these backends; one that no row has is added",
          [](Flags & f) -> auto& { return f.axes.backends; }, config::backend_spec_of, split_backends)
          .also("backend")
          .otherwise("the suites'"),
      list_flag(
          "devices", "cpu,cuda,cuda:N,…", "only these devices; one that no row has is added",
          [](Flags & f) -> auto& { return f.axes.devices; }, config::device_of)
          .also("device")
          .otherwise("the suites' (cpu)"),
      list_flag(
          "presets", "mini,full", "only these presets; one that no row has is added",
          [](Flags & f) -> auto& { return f.axes.presets; }, config::preset_of)
          .also("preset")
          .otherwise("the suites' (mini)"),
      list_flag(
          "dynamic", "off,batch,all",
          "only these dynamic sizes: one program for all batches of dynamic_range (batch), and for the further "
          "dimensions that a model declares (all); one that no row has is added",
          [](Flags & f) -> auto& { return f.axes.dynamic; }, config::dynamic_of)
          .otherwise("the suites' (off)"),
      matrix_flag(),
      boolean_flag(
          "tournament",
          "all variants of the file tournament_variants, or the given backends, on each selected model: those that "
          "pass "
          "accuracy's ladder take turns, and OUT/tournament.html says which is best for what",
          [](Flags & f) -> auto& { return f.tournament; }),
      text_flag(
          "tournament_variants", "FILE", "YAML with the backends and options that a tournament tries",
          [](Flags & f) -> auto& { return f.tournament_variants; })
          .is_path()
          .otherwise("the program's own"),
      number_flag(
          "tournament_margin", "PERCENT", 0.0, 100.0,
          "variants that are not surely slower than the fastest by more than this tie with it",
          [](Flags & f) -> auto& { return f.tournament_margin_pct; }),
      boolean_flag(
          "no_skip", "also models that the policies' keys skip and slow leave out; the rows say which key it was",
          [](Flags & f) -> auto& { return f.no_skip; }),
      boolean_flag(
          "fast", "without the models that the policies' key slow names", [](Flags & f) -> auto& { return f.fast; }),
      only_flag(),
      text_flag(
          "inputs", "FILE.pt", "inputs of the TorchScript file: a list or tuple of tensors",
          [](Flags & f) -> auto& { return f.inputs; })
          .is_path(),
      texts_flag(
          "library", "FILE.so", "a shared library of operators (TORCH_LIBRARY) that a model's file needs",
          [](Flags & f) -> auto& { return f.libraries; })
          .is_path(),
      texts_flag(
          "plugin", "LIBRARY", "a shared library of models, backends, checks or report writers",
          [](Flags & f) -> auto& { return f.plugins; })
          .is_path(),
      texts_flag(
          "expected", "FILE", "expected statuses, upstream's CSV or YAML; the first that knows a case decides",
          [](Flags & f) -> auto& { return f.expected; })
          .is_path()
          .otherwise("the suites'"),
      boolean_flag(
          "update_expected",
          "make the expected-status files say what this run sees; then only what they cannot hold is red",
          [](Flags & f) -> auto& { return f.update_expected; })
          .of_output(),
  };
}

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
