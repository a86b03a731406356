#pragma once
#include <iosfwd>
#include <stdexcept>
#include <string>

#include <torch/torch.h>

namespace torchstone::formats {

/// An unreadable file. what() names the file, the byte of its pickle if known, and what was expected.
class PickleError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads a file of Python's `torch.save` or C++'s `torch::pickle_save` (the zip format, PyTorch ≥ 1.6), without Python
/// and without running code from the file. The file may only name the functions and classes listed in
/// models/formats/pickle/globals.cpp.
///
///   tensor, Parameter     tensor on the CPU; sizes, strides and shared storages kept, requires_grad and hooks not
///   sparse tensor         sparse tensor (COO, CSR, CSC, BSR, BSC)
///   list                  list of tensors, ints, doubles, bools or strings if all have that type, else list of any
///   tuple, torch.Size     tuple
///   dict, OrderedDict     dict with either string or integer keys; values any, or tensors if all are
///   int, float, bool, complex, str, None                 the same (integers of at most 64 bits)
///   torch.device          device
///   torch.dtype, layout   string ("torch.float32", "torch.strided")
///
/// Throws PickleError for everything else: other and truncated files, the legacy format, TorchScript, classes, damaged
/// tensors, cyclic structures, overlapping records, and more than 200 levels or 4 million values. It also throws when
/// the tensors exceed 256 MiB and eight times the file, counting elements that strides repeat.
c10::IValue read_pt(const std::string& path);
/// Reads from a seekable stream; `name` is used in errors.
c10::IValue read_pt(std::istream& stream, const std::string& name);

}  // namespace torchstone::formats
