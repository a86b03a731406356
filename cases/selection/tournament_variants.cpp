#include "cases/selection/tournament_variants.h"

#include <algorithm>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/selection/expand.h"
#include "cases/settings/suite.h"
#include "fixtures/backends/catalogue.h"
#include "reports/base/process.h"
#include "reports/base/text.h"

namespace torchstone::selection {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

bool is_script(const std::string& file) { return file.ends_with(".pt"); }

/// Escapes a text for double quotes in Python and C++.
std::string in_quotes(const std::string& text) { return substituted(text, {{'\\', "\\\\"}, {'"', "\\\""}}); }

/// Escapes a text for single quotes in the shell, which enclose Python code.
std::string in_shell(const std::string& text) { return substituted(text, {{'\'', "'\\''"}}); }

/// Writes the options as a dict: {"freezing": True, "cpp.threads": 1}.
std::string python_options(const BackendSpec& backend) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : backend.options) {
    const std::string literal = value == "true"       ? "True"
                                : value == "false"    ? "False"
                                : value == "none"     ? "None"
                                : parse_number(value) ? value
                                                      : '"' + in_quotes(value) + '"';
    entries.push_back(fmt::format("\"{}\": {}", in_quotes(key), literal));
  }
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

const std::set<std::string> placeholders{"device", "file", "label", "name", "options", "program", "scripted"};

/// Returns the placeholders of a line. C++ and Python code in braces never consists of lower-case letters only.
std::vector<std::string> words_in_braces(const std::string& line) {
  static const std::regex word("[{]([a-z_]+)[}]");
  std::vector<std::string> words;
  for (std::sregex_iterator found(line.begin(), line.end(), word), end; found != end; ++found)
    words.push_back((*found)[1]);
  return words;
}

/// Tells whether the lines fit the backend and its options. Lines without {options} fit only a backend without options.
bool accept_options(const ShippingLines& lines, const BackendSpec& backend) {
  return backend.options.empty() || (lines.exported + lines.make).find("{options}") != std::string::npos;
}

/// Returns Python that casts an exported program as a case of this dtype does, and exports it again.
std::string cast_to(DType dtype, const std::string& program) {
  const std::string type = "torch." + to_string(dtype);
  return fmt::format(
      "(lambda p, cast: torch.export.export(p.module().to({0}), *torch.utils._pytree.tree_map(cast, "
      "p.example_inputs)))({1}, lambda x: x.to({0}) if torch.is_tensor(x) and x.is_floating_point() else x)",
      type, program);
}

bool is_cast(const Case& c) { return c.dtype != DType::float32 && c.dtype != DType::as_written; }

/// Returns Python that loads the exported program of a file as the case ran it.
std::string loaded_program(const Case& c, const std::string& quoted_file) {
  std::string program = fmt::format("torch.export.load(\"{}\")", quoted_file);
  if (is_cast(c)) program = cast_to(c.dtype, program);
  if (c.device == "cpu") return program;
  return fmt::format("torch.export.passes.move_to_device_pass({}, \"{}\")", program, c.device);
}

/// Torchstone's own options, which Inductor does not know.
const std::set<std::string> own_options{"patches", "quantization", "training"};

/// Fills in the placeholders of Python or C++.
std::string filled(std::string text, const Case& c, const std::string& path) {
  text = replaced(text, "{program}", loaded_program(c, "{file}"));
  text = replaced(text, "{scripted}", is_script(path) ? "{file}" : "{name}_torchscript.pt");
  text = replaced(text, "{options}", python_options(c.backend));
  text = replaced(text, "{label}", label_of(c.backend));
  text = replaced(text, "{device}", c.device);
  text = replaced(text, "{name}", c.model);
  return replaced(text, "{file}", in_quotes(path));  // last, because a file name may contain any placeholder
}

/// Fills in the placeholders of a command. In the command they are inside single quotes of the shell.
std::string filled_command(const std::string& command, const Case& c, const std::string& path) {
  std::string text;
  size_t end = 0;
  for (size_t at = command.find('{'); at != std::string::npos; at = command.find('{', end)) {
    text += command.substr(end, at - end);
    const size_t close = command.find('}', at);
    end = close == std::string::npos ? command.size() : close + 1;
    const std::string piece = command.substr(at, end - at), value = filled(piece, c, path);
    text += value == piece ? piece : in_shell(value);
  }
  return text + command.substr(end);
}

ShippingLines read_shipping(const config::Yaml& node) {
  config::require_map(node);
  config::require_keys(node, {"exported", "script", "code", "make", "python"});
  const auto text = [&](const char* key) {
    const config::Yaml* found = node.find(key);
    std::string line = found ? text_of(*found) : "";
    for (const std::string& word : words_in_braces(line))
      if (!placeholders.contains(word))
        config::fail(
            *found, fmt::format("unknown placeholder {{{}}} (expected {{{}}})", word, fmt::join(placeholders, "}, {")));
    return line;
  };
  if (node.find("make") && node.find("exported"))
    config::fail(*node.find("make"), "expected make or exported, not both");
  return {text("exported"), text("script"), text("code"), text("make"), text("python")};
}

std::string refusal_of(const std::string& what) {
  return fmt::format("--torchstone_tournament does not go with {}", what);
}

void require_one_shard() {
  const std::string shards = environment_variable("GTEST_TOTAL_SHARDS");
  if (parse_number(shards).value_or(1) > 1)
    throw config::ConfigError(refusal_of(
        fmt::format("GTEST_TOTAL_SHARDS={}: shards would divide the variants of a model, which are timed against each "
                    "other (divide the models instead, with --torchstone_only or --gtest_filter)",
                    shards)));
}

/// Throws ConfigError for flags that a tournament does not support, and where GoogleTest's variables make this process
/// one of several shards.
void require_tournament_flags(flags::Flags& flags) {
  std::string against;
  if (flags.print_program) against = "print_program";
  if (!flags.axes.checks.empty()) against = "checks (a tournament has its own)";
  if (!flags.axes.dynamic.empty()) against = "dynamic";
  if (!flags.baseline.empty()) against = "baseline";
  if (flags.update_expected) against = "update_expected";
  if (!flags.operator_log.empty()) against = "log_operator_inputs";
  if (flags.run.coverage) against = "coverage";
  if (flags.run.layers) against = "layer_times";
  if (flags.run.log_conv_args) against = "log_conv_args";
  if (!flags.run.save_outputs.empty()) against = "save_outputs";
  if (!flags.run.compare_outputs.empty()) against = "compare_outputs";
  if (flags.run.isolate == Isolation::off) against = "isolate=off (it times fresh processes)";
  if (!against.empty()) throw config::ConfigError(refusal_of("--torchstone_" + against));
  for (const std::string name :
       {"required_speedup", "max_compile_s", "max_memory_ratio", "npy", "export_profiler_trace", "memory_snapshot",
        "strict_undecided", "cuda_graphs", "interleave", "diagnose_limit", "diagnose_max"})
    flags::refuse_without_effect(flags, name, refusal_of("--torchstone_" + name));
  if (flags.run.diagnose == Diagnose::always)
    flags::refuse_without_effect(flags, "diagnose", refusal_of("--torchstone_diagnose=always"));
  if (flags.github == When::always)
    flags::refuse_without_effect(flags, "github", refusal_of("--torchstone_github=always"));
  require_one_shard();
}

/// Reads `devices: [cpu]` of an entry.
std::vector<std::string> read_devices(const config::Yaml& node) {
  std::vector<std::string> kinds;
  for (const auto& item : config::list_of(node)) {
    const std::string kind = config::device_of(item);
    if (kind.find(':') != std::string::npos)
      config::fail(item, fmt::format("'{}' is a single device (expected a kind of device: cpu or cuda)", kind));
    kinds.push_back(kind);
  }
  if (kinds.empty()) config::fail(node, "no device (expected cpu or cuda)");
  return kinds;
}

/// Reads `torchscript`, `{inductor: {freezing: true}}`, or the latter with the additional key `devices`.
void read_variant(config::Yaml node, Variants& variants) {
  if (const auto* devices = node.find("devices")) {
    variants.devices[config::origin_of(node)] = read_devices(*devices);
    std::erase_if(node.entries, [](const auto& entry) { return entry.first == "devices"; });
    if (node.entries.empty()) config::fail(node, "devices without a backend (expected {BACKEND: {}, devices: [cpu]})");
  }
  variants.backends.push_back({config::backend_spec_of(node), node});
}

std::string own_list() { return (suite::own_suites().parent_path() / "tournament/variants.yaml").string(); }

std::string name_in(const std::string& backend) { return backend.substr(0, backend.find(':')); }

/// Adds the lines of the file's `ship`. They replace all lines of the same backends.
void take_shipping(const config::Yaml& list, std::map<std::string, ShippingLines>& lines) {
  const config::Yaml* ship = list.find("ship");
  if (!ship) return;
  config::require_map(*ship);
  for (const auto& entry : ship->entries)
    std::erase_if(lines, [&](const auto& line) { return name_in(line.first) == name_in(entry.first); });
  for (const auto& [backend, node] : ship->entries) lines[backend] = read_shipping(node);
}

/// Returns why the case cannot be shipped by any lines. Empty if it can.
std::string why_not_shipped(const Case& c, const std::string& file) {
  if (c.backend.name == "eager") return "the model as it is";
  if (c.mode == Mode::training)
    return "a training step is not a model to ship: the program that trains compiles it (compile_program of "
           "<torchstone/compile.h>)";
  if (c.dtype == DType::amp) return "autocast is no part of an exported program: export the model inside it";
  if (is_cast(c) && is_script(file))
    return fmt::format("the lines are for the TorchScript file as it is, not for its cast to {}", to_string(c.dtype));
  for (const auto& [key, value] : c.backend.options)
    if (own_options.contains(key)) return fmt::format("{} is an option of Torchstone, not of the compiler", key);
  return "";
}

}  // namespace

Shipping shipping_of(const std::map<std::string, ShippingLines>& lines, const Case& c, const std::string& file) {
  if (std::string why = why_not_shipped(c, file); !why.empty()) return {.why_none = std::move(why)};
  auto found = lines.find(to_string(c.backend));
  if (found == lines.end()) found = lines.find(c.backend.name);
  const bool is_known =
      found != lines.end() && (found->first != c.backend.name || accept_options(found->second, c.backend));
  if (!is_known || (found->second.exported.empty() && found->second.make.empty() && found->second.code.empty()))
    return {.why_none = fmt::format("no shipping line of {} is known", to_string(c.backend))};
  const ShippingLines& of = found->second;
  if (is_script(file) && of.script.empty() && of.code.find("{scripted}") == std::string::npos)
    return {.why_none = fmt::format("no shipping line of {} is known for a TorchScript file", c.backend.name)};
  if (is_cast(c) && of.exported.empty() && of.make.empty())
    return {.why_none =
                fmt::format("{} runs the file as it is, not its cast to {}", c.backend.name, to_string(c.dtype))};
  // Any other path is a folder of two exported programs, for training and inference.
  const std::string path = is_script(file) || file.ends_with(".pt2") ? file : file + "/eval.pt2";
  Shipping shipping{.code = filled(of.code, c, path), .python = filled(of.python, c, path)};
  if (is_script(file)) {
    shipping.command = filled_command(of.script, c, path);
    return shipping;
  }
  shipping.program = filled("{program}", c, path);
  shipping.make = filled(of.make, c, path);
  shipping.command =
      of.make.empty() ? filled_command(of.exported, c, path) : fmt::format("python -c '{}'", in_shell(shipping.make));
  return shipping;
}

Variants read_variants(const std::string& file, const std::vector<std::string>& registered) {
  const std::string path = file.empty() ? own_list() : file;
  const config::Yaml root = config::read_yaml(path);
  config::require_map(root);
  config::require_keys(root, {"variants", "excluded", "ship"});
  Variants variants;
  std::vector<std::string> named;
  for (const auto& node : config::list_of(config::require(root, "variants"))) {
    read_variant(node, variants);
    named.push_back(variants.backends.back().value.name);
  }
  if (const auto* excluded = root.find("excluded"))
    for (const auto& node : config::list_of(*excluded)) named.push_back(text_of(node));
  for (const auto& name : registered)
    if (std::ranges::find(named, name) == named.end())
      variants.backends.push_back({BackendSpec{name, {}}, {path, 0, "variants"}});
  if (!file.empty()) take_shipping(config::read_yaml(own_list()), variants.shipping);
  take_shipping(root, variants.shipping);
  return variants;
}

std::optional<std::string> exclusion(const Variants& variants, const Case& c) {
  const auto decided = c.origin.find("backend");
  if (decided == c.origin.end()) return std::nullopt;
  const std::string kind = c.device.substr(0, c.device.find(':'));
  for (const auto& [place, kinds] : variants.devices) {
    // A policy may add an option, with its own origin after a comma.
    const bool is_this = decided->second == place || decided->second.starts_with(place + ",");
    if (is_this && std::ranges::find(kinds, kind) == kinds.end())
      return fmt::format("not tried on {}: {} limits it to {}", kind, place, fmt::join(kinds, ", "));
  }
  return std::nullopt;
}

void time_separately(std::vector<Case>& cases) {
  for (Case& c : cases) {
    if (c.check != "tournament" || c.backend.name != "torch_compile") continue;
    c.check = "performance";
    c.required_speedup.reset();  // a tournament has no gates
    c.origin.erase("required_speedup");
    c.skip_accuracy_check = false;  // wrong answers are not timed, as for the other variants
    c.origin.erase("skip_accuracy_check");
    c.origin["check"] = "a tournament times torch_compile against eager of its own process";
  }
}

void select_tournament(flags::Flags& flags) {
  require_tournament_flags(flags);
  const config::Place place{"flag --torchstone_tournament"};
  auto& axes = flags.axes;
  axes.checks = {{"tournament", place}};
  if (axes.modes.empty()) axes.modes = {{Mode::inference, place}};
  const bool files =
      !flags.only.empty() && std::ranges::all_of(flags.only, [](const auto& only) { return only_is_file(only.value); });
  if (axes.dtypes.empty() && !files) axes.dtypes = {{DType::float32, place}};  // a file has its own dtype
  if (axes.backends.empty()) axes.backends = read_variants(flags.tournament_variants, backend_names()).backends;
  const BackendSpec eager{"eager", {}};
  if (!contains(axes.backends, eager)) axes.backends.insert(axes.backends.begin(), {eager, place});
}

}  // namespace torchstone::selection
