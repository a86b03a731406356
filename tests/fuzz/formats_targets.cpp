#include <sstream>
#include <stdexcept>

#include "models/core/tree.h"
#include "models/formats/pickle/machine.h"
#include "models/formats/pickle/pickle.h"
#include "models/formats/safetensors.h"
#include "tests/fuzz/target.h"

namespace torchstone::fuzz {
namespace {

/// Touches the elements of small tensors.
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

/// A storage of 64 bytes under every key.
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
  };
  return table;
}

}  // namespace torchstone::fuzz
