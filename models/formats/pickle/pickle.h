#pragma once
#include <iosfwd>
#include <stdexcept>
#include <string>

#include <torch/torch.h>

namespace torchstone::formats {

/// what() names the file, the byte of its pickle where known, and what was expected.
class PickleError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads what Python's `torch.save` or C++'s `torch::pickle_save` wrote (the zip format, PyTorch ≥ 1.6), without Python
/// and without running anything from the file: only the functions and classes listed in
/// models/formats/pickle/globals.cpp may be named.
///
///   tensor, Parameter     tensor on the CPU; sizes, strides and shared storages kept, requires_grad and hooks not
///   sparse tensor         sparse tensor (COO, CSR, CSC, BSR, BSC)
///   list                  list of tensors, ints, doubles, bools or strings if all are of that kind, else list of any
///   tuple, torch.Size     tuple
///   dict, OrderedDict     dict with string or integer keys, all of one kind; values any, or tensors if all are
///   int, float, bool, complex, str, None                 the same (integers of at most 64 bits)
///   torch.device          device
///   torch.dtype, layout   string ("torch.float32", "torch.strided")
///
/// Throws PickleError for everything else: no zip, truncated, legacy format, TorchScript, a class, damaged tensors,
/// cyclic structures, more than 200 levels or 4 million values, records that lie over each other, and tensors that come
/// to more than 256 MiB and eight times the file when elements repeated by strides are counted.
c10::IValue read_pt(const std::string& path);
/// The same from a seekable stream; `name` is used in errors.
c10::IValue read_pt(std::istream& stream, const std::string& name);

}  // namespace torchstone::formats
