#include <limits>
#include <memory>
#include <sstream>

#include "cases/report_tool/commands.h"
#include "fixtures/compare/compare.h"
#include "reports/base/terminal.h"

namespace torchstone {

void add_diff_command(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("diff", "Compare two files of torch.save. Exit codes: 0 same, 1 different, 2 unusable");
  const auto options = std::make_shared<compare::DiffOptions>();
  options->compare.equal_nan = false;
  auto& compare = options->compare;
  command->add_option("REF", options->reference, "Reference output (eager)")->required();
  command->add_option("RES", options->result, "Output to judge (compiled)")->required();
  command->add_option("--fp64", options->fp64, "Output of the float64 run, for the RMSE rule");
  command->add_option("--tol", compare.tolerance, "Absolute and relative tolerance")
      ->capture_default_str()
      ->check(number_between(0, std::numeric_limits<double>::max()));
  command->add_flag("--cosine", compare.cosine, "Accept a cosine similarity of at least 0.99");
  command->add_flag("--equal-nan", compare.equal_nan, "NaN equals NaN");
  command->add_flag("--larger-multiplier", compare.larger_multiplier_for_smaller_tensor,
                    "Use the multiplier 10 up to 10 elements, 8 up to 500");
  command->add_flag("--force-max-multiplier", compare.force_max_multiplier, "Use the multiplier 10 for all tensors");
  command
      ->add_option("--iou", compare.iou_threshold, "Accept boolean tensors with at least this intersection over union")
      ->check(number_between(0, 1));
  command->add_flag("--upstream", compare.upstream_semantics,
                    "Accept shapes that broadcast to each other, as torch._dynamo does");
  command->callback([options, &exit_code] {
    std::ostringstream text;
    exit_code = diff(*options, text);
    print_text(text.str());
  });
}

}  // namespace torchstone
