// A library with one operator, as a user would build it. It tests --torchstone_library.
#include <torch/library.h>
#include <torch/torch.h>

namespace {

torch::Tensor shifted_relu(const torch::Tensor& x, double by) { return (x + by).relu(); }
torch::Tensor like(const torch::Tensor& x, double) { return torch::empty_like(x); }

TORCH_LIBRARY(torchstone_test, library) { library.def("shifted_relu(Tensor x, float by) -> Tensor"); }
TORCH_LIBRARY_IMPL(torchstone_test, CPU, library) { library.impl("shifted_relu", shifted_relu); }
TORCH_LIBRARY_IMPL(torchstone_test, Meta, library) { library.impl("shifted_relu", like); }

}  // namespace
