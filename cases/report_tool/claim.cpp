#include "cases/report_tool/claim.h"

#include <memory>
#include <string>

#include "reports/results_folder/empty_results.h"
#include "reports/results_folder/hold.h"
#include "reports/results_folder/marker.h"

namespace torchstone {

void add_claim_command(CLI::App& app) {
  auto* command = app.add_subcommand(
      "claim", "Empties a results folder and keeps other runs out of it while the process that started this one runs");
  const auto folder = std::make_shared<std::string>();
  command->add_option("folder", *folder, "The results folder")->required();
  command->callback([folder] {
    const results_folder::Hold hold(*folder, results_folder::parent_process(), [&] {
      results_folder::require_results_folder(*folder);
      results_folder::empty_results(*folder);
    });
  });
}

}  // namespace torchstone
