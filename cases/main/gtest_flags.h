#pragma once
#include <string>
#include <vector>

#include "cases/settings/flags.h"

namespace torchstone {

/// Throws ConfigError for variables of shards that GoogleTest would refuse. GoogleTest itself would end the program
/// with exit code 1, which means a red case.
void require_shards();

/// Throws ConfigError for flags of GoogleTest that the program cannot honour. `arguments` is the command line before
/// GoogleTest took its flags. A tournament refuses flags that would have no effect.
void require_gtest_flags(const flags::Flags& flags, const std::vector<std::string>& arguments);

/// Whether GoogleTest's filter keeps a test of that full name. A filter is a list of patterns with `*` and `?`,
/// separated by colons. Patterns after the first `-` exclude tests. GoogleTest's own matcher is in no public header.
bool filter_keeps(const std::string& filter, const std::string& name);

}  // namespace torchstone
