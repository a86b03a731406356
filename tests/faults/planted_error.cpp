// The check behind tests/end_to_end/detection_limit_test.cpp. It plants a relative error in eager's own answer and
// judges that as a compiled answer. An error of twice the stated limit must be red, one of half the limit must not.
#include <algorithm>
#include <cmath>

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>
#include <torchstone/check.h>

#include "fixtures/checks/reference/eager_reference.h"
#include "fixtures/checks/subject/answer.h"
#include "models/core/tree.h"

namespace torchstone::planted_error_faults {
namespace {

/// Returns the names that reports give to the tensors, in the order of flatten().
std::vector<std::string> names_of(const c10::IValue& answer, const std::vector<std::string>& parts) {
  std::vector<std::string> names;
  const auto add = [&](const c10::IValue& tree, const std::string& path) {
    for (const auto& leaf : leaves(tree)) {
      if (!is_tensor(leaf.value)) continue;
      const bool named = !path.empty() && !leaf.path.empty() && !leaf.path.starts_with('[');
      names.push_back(output_name(path + (named ? "." : "") + leaf.path));
    }
  };
  if (parts.empty()) add(answer, "");
  for (size_t i = 0; i < parts.size(); ++i) add(answer.toTupleRef().elements()[i], parts[i]);
  return names;
}

/// Multiplies each number by 1 + error or 1 - error, chosen at random from `seed`.
torch::Tensor with_error(const torch::Tensor& tensor, double error, uint64_t seed) {
  const auto draws = torch::rand(tensor.sizes(), at::make_generator<at::CPUGeneratorImpl>(seed)).to(tensor.device());
  return (tensor.to(torch::kDouble) * (1 + error * torch::where(draws.gt(0.5), 1.0, -1.0))).to(tensor.scalar_type());
}

/// Returns the answer with this relative error in the tensor called `name`.
compare::Answer with_error(compare::Answer answer, const std::vector<std::string>& parts, const std::string& name,
                           double error, uint64_t seed) {
  for (auto* changes : {&answer.inputs, answer.state ? &*answer.state : nullptr}) {
    if (!changes || !changes->contains(name)) continue;
    changes->at(name).after = with_error(changes->at(name).after, error, seed);
    return answer;
  }
  auto tensors = flatten(answer.output);
  const auto names = names_of(answer.output, parts);
  const auto found = std::ranges::find(names, name);
  if (found == names.end() || names.size() != tensors.size()) throw std::runtime_error("no tensor " + name);
  auto& tensor = tensors[static_cast<size_t>(found - names.begin())];
  tensor = with_error(tensor, error, seed);
  answer.output = rebuild(answer.output, tensors);
  return answer;
}

Outcome plant_error(const CheckRun& run) {
  const Case& c = run.test_case();
  auto subject = checks::load_subject(c, run.on_phase());
  const auto options = checks::compare_options(c, {});
  const auto eager = checks::eager_output(c, subject, subject.inputs);
  checks::EagerReferences references(c, subject, subject.inputs);
  Outcome outcome;
  checks::add_detection_limit(references, eager, options, outcome);
  const auto limit = outcome.metrics.find("detection_limit");
  if (limit == outcome.metrics.end() || !std::isfinite(limit->second)) {
    outcome.status = Status::uninformative;
    outcome.reason = "no relative error would be red";
    return outcome;
  }
  outcome.status = Status::pass;
  for (const double part : {2.0, 0.5}) {
    const auto planted =
        with_error(eager, options.parts, outcome.notes["detection_limit_of"], part * limit->second, c.seed);
    const auto found = checks::compare_with_lazy_reference(references, eager, planted, options);
    if (found.same == (part < 1)) continue;
    outcome.status = Status::fail_accuracy;
    outcome.reason += fmt::format("{} x the limit {:.3g} of {} is {}. ", part, limit->second,
                                  outcome.notes["detection_limit_of"], found.same ? "green" : "red");
  }
  return outcome;
}

TORCHSTONE_CHECK(
    planted_error, .claim = "LimitSeparatesRedFromGreen",
    .help = "a planted error of twice the detection limit is red, and one of half of it is not",
    .run = [](CheckRun& run) { return plant_error(run); });

}  // namespace
}  // namespace torchstone::planted_error_faults
