#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "fixtures/core/run_options.h"

// Run options that tests pass as Case::run.

namespace torchstone {

inline std::shared_ptr<const RunOptions> run_with_cache(const std::filesystem::path& cache) {
  RunOptions options;
  options.cache = cache.string();
  return std::make_shared<const RunOptions>(options);
}

/// Returns the cache folder next to the test program. Tests that compile share its workers and precompiled headers.
inline std::filesystem::path shared_cache(const std::string& name = "test-cache") {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

inline std::shared_ptr<const RunOptions> run_with_python(const std::filesystem::path& python) {
  RunOptions options;
  options.python = python.string();
  return std::make_shared<const RunOptions>(options);
}

}  // namespace torchstone
