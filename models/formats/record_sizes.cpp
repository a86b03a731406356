#include "models/formats/record_sizes.h"

#include <stdexcept>
#include <string>

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>

namespace torchstone::formats {
namespace {

constexpr uint64_t most_of_other_records = uint64_t{256} << 20;
constexpr size_t most_records = 1'000'000;

}  // namespace

void require_possible_sizes(caffe2::serialize::PyTorchStreamReader& archive, uint64_t file_bytes) {
  const auto names = archive.getAllRecords();
  if (names.size() > most_records)
    throw std::invalid_argument(fmt::format("{} records (expected at most {})", names.size(), most_records));
  uint64_t of_tensors = 0, of_others = 0;
  for (const auto& name : names) {
    const uint64_t size = archive.getRecordSize(name);
    uint64_t& sum = name.starts_with("data/") || name.starts_with("constants/") ? of_tensors : of_others;
    if (__builtin_add_overflow(sum, size, &sum)) throw std::invalid_argument("the sizes of its records overflow");
  }
  if (of_tensors > file_bytes)
    throw std::invalid_argument(
        fmt::format("its tensors are stored in {} bytes, more than the {} of the file: records "
                    "that are compressed or lie over each other (expected neither)",
                    of_tensors, file_bytes));
  if (of_others > most_of_other_records)
    throw std::invalid_argument(fmt::format("its code and pickles come to {} bytes unpacked (expected at most {})",
                                            of_others, most_of_other_records));
}

}  // namespace torchstone::formats
