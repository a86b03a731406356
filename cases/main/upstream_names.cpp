#include "cases/main/upstream_names.h"

namespace torchstone {

UpstreamNames upstream_names_of(const std::vector<suite::Suite>& suites) {
  UpstreamNames names;
  for (const auto& suite : suites)
    for (const auto& [ours, upstream] : suite.policy.upstream_names) names[{suite.name, ours}] = upstream;
  return names;
}

void add_upstream_name(const UpstreamNames& names, Result& result) {
  const auto found = names.find({result.suite, result.model});
  if (found != names.end()) result.outcome.notes["upstream_name"] = found->second;
}

}  // namespace torchstone
