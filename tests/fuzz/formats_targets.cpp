#include <sstream>
#include <stdexcept>

#include "models/core/tree.h"
#include "models/formats/exported/program_model.h"
#include "models/formats/exported/pt2_archive.h"
#include "models/formats/exported/pt2_program.h"
#include "models/formats/model_file.h"
#include "models/formats/pickle/machine.h"
#include "models/formats/pickle/pickle.h"
#include "models/formats/safetensors.h"
#include "tests/fuzz/target.h"

namespace torchstone::fuzz {
namespace {

/// Reads the elements of all small tensors in the value.
void use(const c10::IValue& value) {
  constexpr int64_t small = 10'000;
  for (const auto& child : children_of(value)) use(child.value);
  if (value.isTensor() && value.toTensor().numel() < small) value.toTensor().to_dense().clone();
}

template <typename Error, typename Read>
void taken_or_refused(Read read) {
  try {
    read();
  } catch (const Error&) {  // refused
  }
}

void load_programs(std::istream& stream) {
  namespace exported = formats::exported;
  exported::Archive archive(stream);
  for (const auto& name : archive.programs()) {
    const auto program = std::make_shared<const exported::Program>(exported::read_program(archive, name));
    const auto samples = exported::read_sample_inputs(archive, name, *program);
    exported::ProgramModel(program, exported::read_tensors(archive, name), samples, "", false)
        .example_inputs({Preset::mini, Mode::inference, samples.batch});
  }
}

/// Returns a storage of 64 bytes, whatever the key.
at::Storage small_storage(const std::string&) {
  constexpr size_t bytes = 64;
  at::Storage storage(at::Storage::use_byte_size_t(), bytes, at::getCPUAllocator());
  std::memset(storage.mutable_data(), 1, bytes);
  return storage;
}

}  // namespace

const std::vector<Target>& formats_targets() {
  static const std::vector<Target> table = {
      {"pt",
       [](const std::string& bytes) {
         std::istringstream stream(bytes);
         taken_or_refused<formats::PickleError>([&] { use(formats::read_pt(stream, "a.pt")); });
       }},
      {"pickle",
       [](const std::string& bytes) {
         taken_or_refused<formats::PickleError>([&] { use(formats::pickle::unpickle(bytes, small_storage)); });
       }},
      {"safetensors",
       [](const std::string& bytes) {
         std::istringstream stream(bytes);
         taken_or_refused<std::runtime_error>([&] { formats::read_safetensors(stream, "a.safetensors"); });
       }},
      {"exported",
       [](const std::string& bytes) {
         std::istringstream stream(bytes);
         taken_or_refused<std::runtime_error>([&] { formats::with_context("a.pt2", [&] { load_programs(stream); }); });
       }},
      {"program",
       [](const std::string& bytes) {
         taken_or_refused<std::runtime_error>([&] {
           formats::with_context("a.pt2", [&] {
             const auto json = formats::exported::parse_json(bytes, "models/model.json");
             formats::exported::read_program(formats::exported::JsonPlace(json, "models/model.json"));
           });
         });
       }},
  };
  return table;
}

}  // namespace torchstone::fuzz
