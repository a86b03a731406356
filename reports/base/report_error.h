#pragma once
#include <stdexcept>

namespace torchstone {

/// What a file lacks: "results.json: line 3: expected …", "results.json: results[2].outcome.status: expected …".
class ReportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace torchstone
