#include "cases/settings/flag_types.h"

namespace torchstone::flags {
namespace {

// Splits `inductor:freezing=true,shape_padding=false,torchscript`. A part with = and without : continues the backend
// before it.
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
                .help = "full: every model with all modes, all dtypes, and all backends of its suite",
                .fallback = "suites"};
  flag.set = [](Flags& f, const config::Yaml& v) {
    f.full_matrix.reset();
    if (word_of(v, config::Words<bool>{{"suites", false}, {"full", true}})) f.full_matrix = v;
  };
  return flag;
}

/// PyTorch's flag for a check. Several may be given together.
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
  FlagInfo flag{
      .name = "only",
      .value = "NAME_OR_FILE",
      .help =
          "only this one model, or this file: TorchScript (.pt), or an exported program (.pt2, or a folder with "
          "eval.pt2 and train.pt2); or SOURCE:NAME of a Python package (timm:ghostnet_100); for several "
          "models use --gtest_filter"};
  flag.set = [](Flags& f, const config::Yaml& v) {
    f.only = text_of(v);
    f.only_place = v;
  };
  return flag;
}

using fastrnns::Executor;
using fastrnns::Fuser;

constexpr int64_t million = 1'000'000;

FlagInfo layouts_flag() {
  FlagInfo flag{
      .name = "layouts", .value = "recorded,channels_last", .help = "memory layouts of the inputs of operators"};
  flag.set = [](Flags& f, const config::Yaml& v) {
    f.operators.layouts.clear();
    for (const auto& part : split(v)) f.operators.layouts.push_back(config::layout_of(part));
  };
  return std::move(flag).used_by(config::operators_of_a_log()).defaults_to("the suite's (recorded)");
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
                 "checks=largest_batch: the largest batch that fits into memory in eager, halving from 1024; writes "
                 "OUT/batch_sizes.txt, a batch_size_file"),
      text_flag("suites", "FOLDER_OR_FILE", "suite files (*.yaml)", &Flags::suites_folder)
          .is_path()
          .defaults_to("the program's own"),
      list_flag("suite", "NAME,…", "suites by name", &Flags::suites, config::text_of).defaults_to("all"),
      list_flag("checks", "accuracy,performance,…", "only these checks; adds one that no row has",
                &config::Axes::checks, config::text_of)
          .with_alias("check")
          .defaults_to("the suites'"),
      list_flag("modes", "inference,training", "only these modes; adds one that no row has", &config::Axes::modes,
                config::mode_of)
          .with_alias("mode")
          .defaults_to("the suites'"),
      list_flag("dtypes", "float32,bfloat16,float16,amp,float64", "only these dtypes; adds one that no row has",
                &config::Axes::dtypes, config::dtype_of)
          .with_alias("dtype")
          .defaults_to("the suites'"),
      list_flag("backends", "NAME[:OPTION=VALUE,…],…", "only these backends; adds one that no row has",
                &config::Axes::backends, config::backend_spec_of, split_backends)
          .with_alias("backend")
          .defaults_to("the suites'"),
      list_flag("devices", "cpu,cuda,cuda:N,…", "only these devices; adds one that no row has", &config::Axes::devices,
                config::device_of)
          .with_alias("device")
          .defaults_to("the suites' (cpu)"),
      list_flag("presets", "mini,full", "only these presets; adds one that no row has", &config::Axes::presets,
                config::preset_of)
          .with_alias("preset")
          .defaults_to("the suites' (mini)"),
      list_flag("dynamic", "off,batch,all",
                "only these dynamic sizes: one program for all batch sizes of dynamic_range (batch), and for the other "
                "dimensions that a model declares (all); adds one that no row has",
                &config::Axes::dynamic, config::dynamic_of)
          .defaults_to("the suites' (off)"),
      matrix_flag(),
      boolean_flag("tournament",
                   "compare all variants of the file tournament_variants, or the given backends, on each selected "
                   "model: times those that pass accuracy's ladder in interleaved rounds; OUT/tournament.html names "
                   "the best for each purpose",
                   &Flags::tournament),
      text_flag("tournament_variants", "FILE", "YAML with the backends and options that a tournament tries",
                &Flags::tournament_variants)
          .is_path()
          .defaults_to("the program's own"),
      number_flag("tournament_margin", "PERCENT", 0.0, 100.0,
                  "variants that are not significantly slower than the fastest by more than this tie with it",
                  &Flags::tournament_margin_pct),
      boolean_flag("no_skip", "also run models that the policies' keys skip and slow exclude; the rows name the key",
                   &Flags::no_skip),
      boolean_flag("fast", "skip the models that the policies' key slow names", &Flags::fast),
      only_flag(),
      text_flag("inputs", "FILE.pt", "inputs of the TorchScript file: a list or tuple of tensors", &Flags::inputs)
          .is_path(),
      texts_flag("library", "FILE.so", "a shared library of operators (TORCH_LIBRARY) that a model's file needs",
                 &Flags::libraries)
          .is_path(),
      texts_flag("plugin", "LIBRARY", "a shared library of models, backends, checks or report writers", &Flags::plugins)
          .is_path(),
      texts_flag("expected", "FILE",
                 "expected statuses, upstream's CSV or YAML; the first file with an entry for a case decides",
                 &Flags::expected)
          .is_path()
          .defaults_to("the suites'"),
      boolean_flag(
          "update_expected",
          "write the statuses of this run to the expected-status files; then only statuses that they cannot hold fail",
          &Flags::update_expected)
          .outside_reproductions(),
  };
}

std::vector<FlagInfo> model_suite_flags() {
  return {
      texts_flag("operator_logs", "FILE", "logs of operator inputs that the suite operators runs", &OperatorFlags::logs)
          .is_path()
          .used_by(config::operators_of_a_log())
          .defaults_to("the suite's"),
      number_flag("max_samples", "N", int64_t{1}, million, "number of inputs to run for each operator",
                  &OperatorFlags::max_samples)
          .used_by(config::operators_of_a_log())
          .defaults_to("the suite's"),
      number_flag("start_index", "N", int64_t{0}, million, "first input to run for each operator",
                  &OperatorFlags::start_index)
          .used_by(config::operators_of_a_log())
          .defaults_to("the suite's (0)"),
      layouts_flag(),
      number_flag("seq_length", "N", int64_t{1}, million, "steps of the recurrent models of fastrnns",
                  &fastrnns::RecurrentFlags::steps)
          .used_by(config::recurrent_models())
          .defaults_to("100, mini 5"),
      number_flag("layers", "N", int64_t{1}, int64_t{1000}, "layers of the recurrent models of fastrnns",
                  &fastrnns::RecurrentFlags::layers)
          .used_by(config::recurrent_models())
          .defaults_to("1"),
      number_flag("input_size", "N", int64_t{1}, million, "input size of the recurrent models of fastrnns",
                  &fastrnns::RecurrentFlags::input)
          .used_by(config::recurrent_models())
          .defaults_to("512, mini 16"),
      number_flag("hidden_size", "N", int64_t{1}, million, "hidden size of the recurrent models of fastrnns",
                  &fastrnns::RecurrentFlags::hidden)
          .used_by(config::recurrent_models())
          .defaults_to("512, mini 16"),
      word_flag("fuser",
                config::Words<Fuser>{
                    {"te", Fuser::te}, {"old", Fuser::old}, {"none", Fuser::none}, {"default", Fuser::untouched}},
                "TorchScript's fuser", &FastrnnsFlags::fuser),
      word_flag("executor",
                config::Words<Executor>{{"profiling", Executor::profiling},
                                        {"simple", Executor::simple},
                                        {"legacy", Executor::legacy},
                                        {"default", Executor::untouched}},
                "TorchScript's executor", &FastrnnsFlags::executor),
  };
}

}  // namespace torchstone::flags
