#include "reports/console/sweep_text.h"

#include <fmt/format.h>

#include "reports/base/terminal.h"
#include "reports/record/metric.h"

namespace torchstone::console {

std::string sweep_text(const judge::Sweep& sweep) {
  std::string text = fmt::format("\nThe fastest of {}\n  {:>10} {:>7} {:>11} {:>21} {:>11}  variant\n",
                                 terminal_line(sweep.title), "batch size", "threads", "time", "speed-up", "samples/s");
  for (const judge::SweepRow& row : sweep.rows) {
    const bool ranked = row.seconds > 0;
    const auto or_dash = [&](const std::string& number) { return ranked ? number : std::string("-"); };
    text += fmt::format("  {:>10} {:>7} {:>11} {:>21} {:>11}  {}\n", row.batch_size, row.threads,
                        or_dash(format_metric("compiled_ms", 1e3 * row.seconds)),
                        or_dash(fmt::format("{:.2f}x [{:.2f} {:.2f}]", row.speedup, row.speedup_low, row.speedup_high)),
                        or_dash(fmt::format("{:.4g}", row.samples_per_s)), terminal_line(row.fastest));
  }
  return text;
}

}  // namespace torchstone::console
