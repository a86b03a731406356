#pragma once
#include <memory>
#include <optional>
#include <vector>

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

namespace torchstone::formats::exported {

/// Grad mode or autocast within a region; as before when it goes.
class Region {
 public:
  explicit Region(bool grad_mode) : grad_(std::in_place, grad_mode) {}
  Region(c10::DeviceType device, std::optional<c10::ScalarType> dtype, bool on, bool cache)
      : device_(device),
        on_(at::autocast::is_autocast_enabled(device)),
        cache_(at::autocast::is_autocast_cache_enabled()),
        dtype_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_enabled(device, on);
    if (dtype) at::autocast::set_autocast_dtype(device, *dtype);
    at::autocast::set_autocast_cache_enabled(cache && cache_);
    at::autocast::increment_nesting();
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() {
    if (grad_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, on_);
    at::autocast::set_autocast_dtype(device_, dtype_);
    at::autocast::set_autocast_cache_enabled(cache_);
  }

 private:
  std::optional<c10::AutoGradMode> grad_;
  c10::DeviceType device_ = c10::kCPU;
  bool on_ = false, cache_ = false;
  c10::ScalarType dtype_ = c10::kFloat;
};

/// Regions end in the reverse order of their starts, also when a step throws.
struct Regions {
  std::vector<std::unique_ptr<Region>> open;
  ~Regions() {
    while (!open.empty()) open.pop_back();
  }
};

}  // namespace torchstone::formats::exported
