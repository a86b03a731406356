#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <torchstone/result.h>

#include "cases/suite/suite.h"

namespace torchstone {

/// (suite, our name of a model) → upstream's, of the models that are named otherwise here.
using UpstreamNames = std::map<std::pair<std::string, std::string>, std::string>;

/// What the policies of the suites say.
UpstreamNames upstream_names_of(const std::vector<suite::Suite>& suites);

/// Gives the row of a renamed model the note upstream_name, by which tables of benchmarks/dynamo know it.
void add_upstream_name(const UpstreamNames& names, Result& result);

}  // namespace torchstone
