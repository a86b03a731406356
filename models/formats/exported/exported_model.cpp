// Exported programs as models: which program of a file serves which mode, and whether it computes what was exported.
#include <algorithm>
#include <filesystem>
#include <mutex>
#include <new>
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
#include "models/formats/exported/recorded_upstream.h"
#include "models/formats/model_file.h"

namespace torchstone::formats::exported {
namespace {

double tolerance_of(c10::ScalarType dtype) {
  if (dtype == c10::kBFloat16) return 3e-2;
  return dtype == c10::kHalf ? 5e-3 : 1e-3;
}

[[noreturn]] void differ(size_t index, const std::string& how) {
  throw std::invalid_argument(fmt::format("output {} differs from the one that the exporter stored: {}", index, how));
}

void require_equal(const torch::Tensor& own, const torch::Tensor& stored, size_t index) {
  if (own.sizes() != stored.sizes() || own.scalar_type() != stored.scalar_type())
    differ(index, fmt::format("{}, stored is {}", describe(own), describe(stored)));
  if (own.numel() == 0) return;
  if (!own.is_floating_point() && !own.is_complex()) {
    const auto share = own.ne(stored).to(torch::kDouble).mean().item<double>();
    if (share > 0.01) differ(index, fmt::format("{:.1f} % of its values differ (at most 1 % may)", share * 100));
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

/// Compares the program's own eager outputs with those that the exporter stored. Floating-point values may differ by a
/// fraction of the largest stored value: 1e-3 in float32 and float64, 5e-3 in float16, 3e-2 in bfloat16. One percent of
/// integers and booleans may differ. Throws std::invalid_argument with the tensor and the difference.
void require_stored_outputs(const std::vector<torch::Tensor>& own, const std::vector<torch::Tensor>& stored) {
  if (own.size() != stored.size())
    throw std::invalid_argument(
        fmt::format("the program returns {} tensors, the exporter stored {}", own.size(), stored.size()));
  for (size_t i = 0; i < own.size(); ++i) require_equal(own[i], stored[i], i);
}

/// Not under extra/, which torch.export.load reads as text.
constexpr const char* outputs_record = "torchstone/outputs.pt";

/// A program of an archive, and what its exporter recorded about it.
struct ProgramFile {
  std::string path, name;
  std::shared_ptr<const Program> program{};
  SampleInputs samples{};
  std::string mode{}, loss{};  ///< "eval", "train"; empty: not recorded
  std::optional<UpstreamModel> upstream{};
  bool has_outputs = false;
};

ProgramFile read_program_file(const std::string& path, const std::string& name) {
  return with_context(path, [&] {
    Archive archive(path);
    ProgramFile source{path, name};
    source.program = std::make_shared<const Program>(read_program(archive, name));
    source.samples = read_sample_inputs(archive, name, *source.program);
    source.has_outputs = name != "train" && archive.has(outputs_record);
    if (!archive.has(info_record)) return source;
    const auto json = archive.json(info_record);
    const JsonPlace info(json, info_record);
    if (info.at("format").integer() != 1) info.at("format").fail("expected 1");
    source.upstream = recorded_upstream(info, model_name_of(path));
    if (info.has("mode") && name != "train") source.mode = info.at("mode").text();
    if (info.has("loss")) source.loss = info.at("loss").text();
    return source;
  });
}

/// The programs of a file or folder, at least one.
struct ProgramFiles {
  std::optional<ProgramFile> eval, train;
  const ProgramFile& inferred() const { return eval ? *eval : *train; }
  const ProgramFile& trained() const { return train ? *train : *eval; }
};

/// Reads the one program of each archive in a folder, or `model` and `train` of a single archive.
ProgramFiles program_files_of(const std::string& path) {
  ProgramFiles files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& [file, source] : {std::pair("eval.pt2", &files.eval), std::pair("train.pt2", &files.train)}) {
      const auto inner = (std::filesystem::path(path) / file).string();
      if (std::filesystem::exists(inner))
        *source = read_program_file(inner, with_context(inner, [&] { return Archive(inner).programs(); }).front());
    }
    return files;
  }
  const auto names = with_context(path, [&] { return Archive(path).programs(); });
  const bool has_train = std::ranges::find(names, "train") != names.end();
  if (names.size() > (has_train ? 2 : 1))
    throw std::runtime_error(fmt::format(
        "{}: {} programs (expected one, or two of which the one for training is named train)", path, names.size()));
  for (const auto& name : names) (name == "train" ? files.train : files.eval) = read_program_file(path, name);
  return files;
}

/// Returns why the programs cannot be trained; empty when they can.
std::string why_not_trained(const ProgramFiles& files) {
  const ProgramFile& file = files.trained();
  if (std::ranges::none_of(file.program->inputs,
                           [](const ProgramInput& input) { return input.source == ProgramInput::Source::parameter; }))
    return fmt::format("{} has no parameter that requires a gradient", file.path);
  if (files.train || file.mode == "train" || file.program->evaluates.empty()) return "";
  return fmt::format(
      "{} was exported in eval mode, on which {} depends: export model.train() as well, and save both as "
      "torch.export.pt2_archive._package.package_pt2(\"NAME.pt2\", exported_programs={{\"model\": evaluating, "
      "\"train\": training}}), or as eval.pt2 and train.pt2 in one folder",
      file.path, file.program->evaluates);
}

/// Returns why the programs cannot be used for inference; empty when they can.
std::string why_not_inferred(const ProgramFiles& files) {
  const ProgramFile& file = files.inferred();
  if (file.mode == "eval" || file.program->trains.empty()) return "";
  return fmt::format(
      "{} is not for inference: {} works as in training (the file was exported in train mode, or a call of "
      "the model asks for it by training=True): export model.eval() for inference",
      file.path, file.program->trains);
}

std::shared_ptr<ProgramModel> load(const ProgramFile& source, bool training) {
  return with_context(source.path, [&] {
    Archive archive(source.path);
    return std::make_shared<ProgramModel>(source.program, read_tensors(archive, source.name), source.samples,
                                          source.loss, training);
  });
}

/// State that the models of one file share within a process.
struct SharedState {
  std::mutex mutex{};
  bool compared = false;           ///< with the stored outputs
  bool follows_new_dtype = false;  ///< a judged model, not a float64 reference, has another dtype than the export
  bool unreadable = false;         ///< the tensors of the archive could not be read
};

/// Loads a program's tensors, and remembers that they are unreadable.
std::shared_ptr<ProgramModel> load_or_note(const ProgramFile& source, bool training, SharedState& shared) {
  try {
    return load(source, training);
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    shared.unreadable = true;
    throw;
  }
}

/// Compares the outputs of a program with those in its archive. Restores the random generator: whoever made the model
/// expects the same numbers again.
void compare_with_stored(const ProgramFile& source, SharedState& shared) {
  auto generator = at::detail::getDefaultCPUGenerator();
  const auto before = generator.get_state();
  const auto model = load_or_note(source, false, shared);
  const torch::NoGradGuard no_grad;
  with_context(source.path, [&] {
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

std::set<c10::ScalarType> dtypes_of_archive(const std::string& path) {
  Archive archive(path);
  const std::string name = archive.programs().front();
  const auto program = read_program(archive, name);
  std::set<std::string> buffers;
  for (const auto& input : program.inputs)
    if (input.source == ProgramInput::Source::buffer) buffers.insert(input.name);
  auto [dtypes, constants] = stored_dtypes(archive, name, buffers);
  for (const auto& leaf : read_sample_inputs(archive, name, program).leaves)
    if (leaf.isTensor() && (leaf.toTensor().is_floating_point() || leaf.toTensor().is_complex()))
      dtypes.insert(c10::toRealValueType(leaf.toTensor().scalar_type()));
  // Casting an exported program leaves its constants unchanged, except in float64.
  if (dtypes == std::set{torch::kFloat64}) dtypes.merge(constants);
  return dtypes;
}

}  // namespace
}  // namespace torchstone::formats::exported

namespace torchstone::formats {

std::set<c10::ScalarType> dtypes_of_exported(const std::string& path) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(path)) return exported::dtypes_of_archive(path);
  const fs::path eval = fs::path(path) / "eval.pt2";
  return exported::dtypes_of_archive((fs::exists(eval) ? eval : fs::path(path) / "train.pt2").string());
}

ModelInfo exported_model_info(const std::string& path) {
  using namespace exported;
  const auto files = std::make_shared<const ProgramFiles>(program_files_of(path));
  const SampleInputs &eval = files->inferred().samples, &train = files->trained().samples;
  ModelInfo info;
  info.name = model_name_of(path);
  info.family = "exported";
  info.suites = {"own"};
  info.eval_batch = eval.batch;
  info.train_batch = train.batch;
  info.fixed_batch = !eval.batch_can_change || !train.batch_can_change;
  info.dimensions_alone = info.fixed_batch && (!eval.dimensions.empty() || !train.dimensions.empty());
  info.fixed_mode = true;
  info.not_trained = why_not_trained(*files);
  info.upstream = files->inferred().upstream;
  info.file = path;
  const auto shared = std::make_shared<SharedState>();
  info.facts = [files, shared] {
    ModelFacts facts;
    const Program& program = *files->inferred().program;
    if (shared->follows_new_dtype)
      facts.notes["dtype_constants"] =
          fmt::format("follow the model instead of {} ({} of the file)", dtype_name(program.dtype), program.dtypes);
    if (shared->unreadable) facts.infrastructure_fault = unreadable_file;
    return facts;
  };
  info.make = [files, shared](const ModelOptions& options) -> std::shared_ptr<Model> {
    const bool training = options.mode == Mode::training;
    const auto why = training ? why_not_trained(*files) : why_not_inferred(*files);
    if (!why.empty()) throw std::runtime_error(why);
    {
      const std::lock_guard lock(shared->mutex);
      if (files->inferred().has_outputs && !shared->compared) compare_with_stored(files->inferred(), *shared);
      shared->compared = true;
    }
    const ProgramFile& source = training ? files->trained() : files->inferred();
    auto model = load_or_note(source, training, *shared);
    model->watch_dtype([shared, program = source.program](c10::ScalarType dtype) {
      if (dtype != torch::kFloat64) shared->follows_new_dtype = dtype != program->dtype && program->dtypes > 0;
    });
    return model;
  };
  return info;
}

}  // namespace torchstone::formats
