#pragma once
#include <cstdint>

namespace caffe2::serialize {
class PyTorchStreamReader;
}

namespace torchstone::formats {

/// Throws std::invalid_argument when the records of an archive come to more than a file of `file_bytes` can hold:
/// records under data/ and constants/ are tensors, are never compressed and so fit into the file together, unless
/// several lie over each other; all others (code, pickles) may be compressed and have 256 MiB together. Nothing is read
/// yet.
void require_possible_sizes(caffe2::serialize::PyTorchStreamReader& archive, uint64_t file_bytes);

}  // namespace torchstone::formats
