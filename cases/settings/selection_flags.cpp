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

/// PyTorch's flag for a check. Several such flags may be combined.
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
          "only this model, or this file: TorchScript (.pt), or an exported program (.pt2, or a folder with "
          "eval.pt2 and train.pt2); or SOURCE:NAME of a Python package (timm:ghostnet_100); or a Python module that "
          "torch.compile compiles: path:FILE.py,class:NAME or module:PACKAGE.MODULE:FUNCTION_OR_CLASS; for several "
          "models give the flag several times"};
  flag.set = [](Flags& f, const config::Yaml& v) {
    if (const std::string only = text_of(v); !contains(f.only, only)) f.only.push_back({only, v});
  };
  return std::move(flag).repeatable();
}

/// A flag for the values of an axis. `what` follows "only these" in the help text. The singular is another name of it.
template <typename T, typename Parse>
FlagInfo axis_flag(const std::string& name, const char* value, const std::string& what,
                   config::Choices<T> config::Axes::*member, Parse parse, const std::string& fallback = "the suites'",
                   std::vector<config::Yaml> (*parts)(const config::Yaml&) = split) {
  const std::string help = fmt::format("only these {}; a value that no row has is added to every row", what);
  FlagInfo flag = list_flag(name.c_str(), value, help.c_str(), member, parse, parts).defaults_to(fallback);
  return name.ends_with('s') ? std::move(flag).with_alias(name.substr(0, name.size() - 1)) : flag;
}

using fastrnns::Executor;
using fastrnns::Fuser;

constexpr int64_t million = 1'000'000;

FlagInfo of_operators(FlagInfo flag, const std::string& fallback) {
  return std::move(flag).used_by(config::operators_of_a_log()).defaults_to(fallback);
}

/// A size of the recurrent models of fastrnns.
FlagInfo size_flag(const char* name, int64_t most, const std::string& what,
                   std::optional<int64_t> fastrnns::RecurrentFlags::*member, const std::string& fallback) {
  const std::string help = what + " of the recurrent models of fastrnns";
  return number_flag(name, "N", int64_t{1}, most, help.c_str(), member)
      .used_by(config::recurrent_models())
      .defaults_to(fallback);
}

FlagInfo layouts_flag() {
  FlagInfo flag{
      .name = "layouts", .value = "recorded,channels_last", .help = "memory layouts of the inputs of operators"};
  flag.set = [](Flags& f, const config::Yaml& v) {
    f.operators.layouts.clear();
    for (const auto& part : split(v)) f.operators.layouts.push_back(config::layout_of(part));
  };
  return of_operators(std::move(flag), "the suite's (recorded)");
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
                 "checks=batch_invariance: whether the compiled model gives the same bits for parts of a batch (its "
                 "first N/2, …, 1) as for the whole"),
      check_flag("find_batch_sizes", "largest_batch",
                 "checks=largest_batch: find the largest batch that fits into memory in eager, by halving from 1024; "
                 "writes OUT/batch_sizes.txt, which batch_size_file reads"),
      text_flag("suites", "FOLDER_OR_FILE", "suite files (*.yaml)", &Flags::suites_folder)
          .is_path()
          .defaults_to("the program's own"),
      list_flag("suite", "NAME,…", "suites by name", &Flags::suites, config::text_of).defaults_to("all"),
      axis_flag("checks", "accuracy,performance,…", "checks", &config::Axes::checks, config::text_of),
      axis_flag("modes", "inference,training", "modes", &config::Axes::modes, config::mode_of),
      axis_flag("dtypes", "float32,bfloat16,float16,amp,float64", "dtypes", &config::Axes::dtypes, config::dtype_of),
      axis_flag("backends", "NAME[:OPTION=VALUE,…],…", "backends", &config::Axes::backends, config::backend_spec_of,
                "the suites'", split_backends),
      axis_flag(
          "devices", "cpu,cuda,cuda:N,…",
          "devices: cuda spreads the cases over all GPUs of CUDA_VISIBLE_DEVICES, and cuda:0,cuda:1 over these two",
          &config::Axes::devices, config::device_of, "the suites' (cpu)"),
      axis_flag("presets", "mini,full", "presets", &config::Axes::presets, config::preset_of, "the suites' (mini)"),
      axis_flag("dynamic", "off,batch,all",
                "dynamic sizes: one program for all batch sizes of dynamic_range (batch), and for the other dimensions "
                "that a model declares (all)",
                &config::Axes::dynamic, config::dynamic_of, "the suites' (off)"),
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
                  "a variant ties with the fastest unless it is significantly slower by more than this",
                  &Flags::tournament_margin_pct),
      number_flag("tournament_ship_limit", "SECONDS", 0.0, no_limit,
                  "time for measuring the fastest variants of a model's file in Python without Torchstone, as they are "
                  "shipped; 0: not measured",
                  &Flags::tournament_ship_limit_s),
      boolean_flag("no_skip", "also run models that the policies' keys skip and slow exclude; the rows name the key",
                   &Flags::no_skip),
      boolean_flag("fast", "skip the models that the policies' key slow names", &Flags::fast),
      only_flag(),
      word_flag(
          "subject", config::Words<SubjectKind>{{"native", SubjectKind::native}, {"python", SubjectKind::python}},
          "where a model of a Python package runs: exported and in this program, or the module itself in a Python "
          "process, compiled by torch.compile",
          &Flags::subject),
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
      boolean_flag("update_expected",
                   "write the statuses of this run to the expected-status files, where failures expire after 90 days; "
                   "the run then fails only for statuses that these files cannot hold",
                   &Flags::update_expected)
          .outside_reproductions(),
  };
}

std::vector<FlagInfo> model_suite_flags() {
  return {
      of_operators(texts_flag("operator_logs", "FILE", "logs of operator inputs that the suite operators runs",
                              &OperatorFlags::logs)
                       .is_path(),
                   "the suite's"),
      of_operators(list_flag("operators_of", "NAME,…",
                             "logs by name for the suite operators: a model, or all of torchbench, timm or huggingface",
                             &OperatorFlags::names, config::text_of),
                   "the suite's"),
      of_operators(text_flag("operator_log_folder", "FOLDER",
                             "upstream's folder operator_inp_logs; operators_of takes a log from it, if it has one, "
                             "else Torchstone's own",
                             &OperatorFlags::folder)
                       .is_path(),
                   "none"),
      of_operators(number_flag("max_samples", "N", int64_t{1}, million, "number of inputs to run for each operator",
                               &OperatorFlags::max_samples),
                   "the suite's"),
      of_operators(number_flag("start_index", "N", int64_t{0}, million, "first input to run for each operator",
                               &OperatorFlags::start_index),
                   "the suite's (0)"),
      layouts_flag(),
      size_flag("seq_length", million, "steps", &fastrnns::RecurrentFlags::steps, "100, mini 5"),
      size_flag("layers", 1000, "layers", &fastrnns::RecurrentFlags::layers, "1"),
      size_flag("input_size", million, "input size", &fastrnns::RecurrentFlags::input, "512, mini 16"),
      size_flag("hidden_size", million, "hidden size", &fastrnns::RecurrentFlags::hidden, "512, mini 16"),
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
