#include "cases/main/results_folder.h"

#include <filesystem>

#include "reports/base/files.h"
#include "reports/results_folder/hold.h"

namespace torchstone {
namespace fs = std::filesystem;

void prepare_results(const flags::Flags& flags) {
  const fs::path out = flags.run.out;
  const auto empty = [&] {
    if (flags.report)
      for (const char* of_earlier_run : {"cases", "runs"}) fs::remove_all(out / of_earlier_run);
  };
  // Static: an interrupted run ends by std::exit.
  static const results_folder::Hold hold(
      out, this_process(flags.report ? results_folder::Holder::Kind::run : results_folder::Holder::Kind::part), empty);
  fs::create_directories(out / "cases");
  fs::create_directories(out / "logs");
  write_atomically(out / "cases" / ".writable", "");  // said now, not after the first hour
  fs::remove(out / "cases" / ".writable");
}

}  // namespace torchstone
