#pragma once
#include <functional>
#include <map>
#include <string>

namespace torchstone {

/// What a run could not write: a disk is full, a folder was removed. The run goes on, because its results are in memory
/// too, and the reports are tried at its end.
class Unwritten {
 public:
  /// Runs `write`. An error of the system is kept under `what` until the same is written after all; the first one is
  /// said at once on stderr.
  void attempt(const std::string& what, const std::function<void()>& write);
  bool empty() const { return causes_.empty(); }
  /// A line for the end of the run: how many, the first ones by name, and why.
  std::string line() const;

 private:
  std::map<std::string, std::string> causes_;
  bool said_ = false;
};

}  // namespace torchstone
