#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>
#include <torch/torch.h>
#include <torch/version.h>

#include "models/core/tree.h"
#include "models/formats/exported/program_model.h"
#include "models/formats/exported/pt2_archive.h"
#include "models/formats/exported/pt2_program.h"
#include "models/formats/model_file.h"

namespace torchstone::formats::exported {

/// Compares the program's own eager outputs with those that the exporter stored: floating-point ones may differ by a
/// share of the largest stored value (1e-3 in float32 and float64, 5e-3 in float16, 3e-2 in bfloat16), and of integers
/// and truth values one in a hundred may differ. Throws std::invalid_argument naming the tensor and the difference.
void require_stored_outputs(const std::vector<torch::Tensor>& own, const std::vector<torch::Tensor>& stored);

namespace {

double tolerance_of(c10::ScalarType dtype) {
  if (dtype == c10::kBFloat16) return 3e-2;
  return dtype == c10::kHalf ? 5e-3 : 1e-3;
}

[[noreturn]] void differ(size_t index, const std::string& how) {
  throw std::invalid_argument(fmt::format("output {} is not the one that the exporter stored: {}", index, how));
}

void require_equal(const torch::Tensor& own, const torch::Tensor& stored, size_t index) {
  if (own.sizes() != stored.sizes() || own.scalar_type() != stored.scalar_type())
    differ(index, fmt::format("{}, stored is {}", describe(own), describe(stored)));
  if (own.numel() == 0) return;
  if (!own.is_floating_point() && !own.is_complex()) {
    const auto share = own.ne(stored).to(torch::kDouble).mean().item<double>();
    if (share > 0.01) differ(index, fmt::format("{:.1f} % of its values are others (at most 1 % may be)", share * 100));
    return;
  }
  const auto wide = stored.is_complex() ? torch::kComplexDouble : torch::kDouble;
  const auto a = own.to(wide), b = stored.to(wide);
  const auto same = a.eq(b).logical_or(a.ne(a).logical_and(b.ne(b)));  // equal, equally infinite, or both NaN
  const auto finite = b.isfinite();
  const auto zero = torch::zeros({}, torch::kDouble);
  const auto difference = torch::where(same, zero, (a - b).abs()).max().item<double>();
  const auto largest = torch::where(finite, b.abs(), zero).max().item<double>();
  const auto allowed = tolerance_of(stored.scalar_type()) * largest;
  if (!(difference <= allowed))
    differ(index, fmt::format("{} differs by up to {:.3g}, {:.3g} is allowed (values up to {:.3g})", describe(own),
                              difference, allowed, largest));
}

}  // namespace

void require_stored_outputs(const std::vector<torch::Tensor>& own, const std::vector<torch::Tensor>& stored) {
  if (own.size() != stored.size())
    throw std::invalid_argument(
        fmt::format("the program returns {} tensors, the exporter stored {}", own.size(), stored.size()));
  for (size_t i = 0; i < own.size(); ++i) require_equal(own[i], stored[i], i);
}

}  // namespace torchstone::formats::exported

namespace torchstone::formats {

namespace exported {
namespace {

constexpr const char* info_record = "extra/torchstone_info.json";
/// Not under extra/, which torch.export.load reads as text.
constexpr const char* outputs_record = "torchstone/outputs.pt";

/// A program of an archive, and what its exporter says of it.
struct ProgramFile {
  std::string path, name;
  std::shared_ptr<const Program> program{};
  SampleInputs samples{};
  std::string mode{}, loss{};  ///< "eval", "train"; empty: the exporter says nothing
  bool has_outputs = false;
};

ProgramFile read_program_file(const std::string& path, const std::string& name) {
  return with_file(path, [&] {
    Archive archive(path);
    ProgramFile source{path, name};
    source.program = std::make_shared<const Program>(read_program(archive, name));
    source.samples = read_sample_inputs(archive, name, *source.program);
    source.has_outputs = name != "train" && archive.has(outputs_record);
    if (!archive.has(info_record)) return source;
    const auto json = archive.json(info_record);
    const JsonPlace info(json, info_record);
    if (info.at("format").integer() != 1) info.at("format").fail("expected 1");
    if (info.has("mode") && name != "train") source.mode = info.at("mode").text();
    if (info.has("loss")) source.loss = info.at("loss").text();
    return source;
  });
}

struct ProgramFiles {
  std::optional<ProgramFile> eval, train;
};

/// The one program of an archive in a folder, or `model` and `train` of an archive with two.
ProgramFiles program_files_of(const std::string& path) {
  ProgramFiles sources;
  if (std::filesystem::is_directory(path)) {
    for (const auto& [file, source] : {std::pair("eval.pt2", &sources.eval), std::pair("train.pt2", &sources.train)}) {
      const auto inner = (std::filesystem::path(path) / file).string();
      if (std::filesystem::exists(inner))
        *source = read_program_file(inner, with_file(inner, [&] { return Archive(inner).programs(); }).front());
    }
    return sources;
  }
  const auto names = with_file(path, [&] { return Archive(path).programs(); });
  const bool has_train = std::ranges::find(names, "train") != names.end();
  if (names.size() > (has_train ? 2 : 1))
    throw std::runtime_error(fmt::format(
        "{}: {} programs (expected one, or two of which one is called train and is for training)", path, names.size()));
  for (const auto& name : names) (name == "train" ? sources.train : sources.eval) = read_program_file(path, name);
  return sources;
}

constexpr const char* how_to_train =
    "export model.train() as well, and save both as torch.export.pt2_archive._package.package_pt2(\"NAME.pt2\", "
    "exported_programs={\"model\": evaluating, \"train\": training}), or as eval.pt2 and train.pt2 in one folder";

/// Why the sources cannot be used in a mode; empty when they can.
std::string not_trained(const ProgramFiles& sources) {
  const ProgramFile& trained = sources.train ? *sources.train : *sources.eval;
  if (std::ranges::none_of(trained.program->inputs,
                           [](const ProgramInput& input) { return input.source == ProgramInput::Source::parameter; }))
    return fmt::format("{} has no parameter that requires a gradient", trained.path);
  if (sources.train) return "";
  const ProgramFile& eval = *sources.eval;
  if (eval.mode == "train" || eval.program->evaluates.empty()) return "";
  return fmt::format("{} was exported in eval mode, on which {} depends: {}", eval.path, eval.program->evaluates,
                     how_to_train);
}

std::string not_evaluated(const ProgramFiles& sources) {
  const ProgramFile& source = sources.eval ? *sources.eval : *sources.train;
  if (source.mode == "eval" || source.program->trains.empty()) return "";
  return fmt::format(
      "{} is not for inference: {} works as in training (the file was exported in train mode, or a call of "
      "the model asks for it by training=True): export model.eval() for inference",
      source.path, source.program->trains);
}

std::shared_ptr<ProgramModel> load(const ProgramFile& source, bool training) {
  return with_file(source.path, [&] {
    Archive archive(source.path);
    return std::make_shared<ProgramModel>(source.program, read_tensors(archive, source.name), source.samples,
                                          source.loss, training);
  });
}

/// Leaves the generator as it was: who asks for the model again expects the same draws.
void compare_with_stored(const ProgramFile& source) {
  auto generator = at::detail::getDefaultCPUGenerator();
  const auto before = generator.get_state();
  const auto model = load(source, false);
  const torch::NoGradGuard no_grad;
  with_file(source.path, [&] {
    Archive archive(source.path);
    const auto own =
        flatten(model->forward(model->example_inputs({Preset::mini, Mode::inference, source.samples.batch})));
    try {
      require_stored_outputs(own, flatten(archive.saved(outputs_record)));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("{} (exported by PyTorch {}, run by {})", error.what(),
                                              source.program->torch_version, TORCH_VERSION));
    }
  });
  generator.set_state(before);
}

/// What the rows of a file say of it: the dtype of the models that are judged. References in float64 follow as well.
struct FollowedDtype {
  bool other = false;
};

ModelFacts facts_of(const ProgramFiles& sources, const FollowedDtype& followed) {
  ModelFacts facts;
  const ProgramFile& source = sources.eval ? *sources.eval : *sources.train;
  if (followed.other)
    facts.notes["dtype_constants"] = fmt::format("follow the model instead of {} ({} of the file)",
                                                 dtype_name(source.program->dtype), source.program->dtypes);
  return facts;
}

/// Once a process, whatever number of models is made.
struct Compared {
  std::mutex mutex;
  bool done = false;
};

}  // namespace
}  // namespace exported

bool is_exported_model(const std::string& path) { return is_model_file(path) && !path.ends_with(".pt"); }

ModelInfo exported_model_info(const std::string& path) {
  using namespace exported;
  const auto sources = std::make_shared<const ProgramFiles>(program_files_of(path));
  const ProgramFile& eval = sources->eval ? *sources->eval : *sources->train;
  const ProgramFile& train = sources->train ? *sources->train : *sources->eval;
  ModelInfo info;
  info.name = model_name_of(path);
  info.family = "exported";
  info.suites = {"own"};
  info.eval_batch = eval.samples.batch;
  info.train_batch = train.samples.batch;
  info.fixed_batch = !eval.samples.batch_can_change || !train.samples.batch_can_change;
  info.dimensions_alone = info.fixed_batch && (!eval.samples.dimensions.empty() || !train.samples.dimensions.empty());
  info.not_trained = not_trained(*sources);
  info.file = path;
  const auto followed = std::make_shared<FollowedDtype>();
  info.facts = [sources, followed] { return facts_of(*sources, *followed); };
  info.make = [sources, followed,
               compared = std::make_shared<Compared>()](const ModelOptions& options) -> std::shared_ptr<Model> {
    const bool training = options.mode == Mode::training;
    const auto why = training ? not_trained(*sources) : not_evaluated(*sources);
    if (!why.empty()) throw std::runtime_error(why);
    const bool second = training ? sources->train.has_value() : !sources->eval.has_value();
    const ProgramFile& source = second ? *sources->train : *sources->eval;
    const ProgramFile& first = sources->eval ? *sources->eval : *sources->train;
    {
      const std::lock_guard lock(compared->mutex);
      if (first.has_outputs && !compared->done) compare_with_stored(first);
      compared->done = true;
    }
    auto model = load(source, training);
    model->watch_dtype([followed, program = source.program](c10::ScalarType dtype) {
      if (dtype != torch::kFloat64) followed->other = dtype != program->dtype && program->dtypes > 0;
    });
    return model;
  };
  return info;
}

}  // namespace torchstone::formats
