#pragma once
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/cases/support.h"

namespace torchstone::selection {

inline constexpr auto policy = "skip: {device: {cuda: [second]}}\naccuracy: {skip: {large_models: [second]}}\n";
/// Suite of the models first and second. Its policy file is `policy` above.
inline constexpr auto two_rows =
    "suite: small\npolicy: p.yaml\ndefaults: {seed: 5}\nmatrix:\n"
    "  - {checks: [accuracy], dtypes: [float32, bfloat16], backends: [torchscript, inductor]}\n"
    "  - {checks: [performance], backends: [inductor], required_speedup: 1.1, time_limit: 50}\n"
    "  - {checks: [performance], backends: [eager], models: [first]}\n"
    "models:\n  - first\n  - second: {batch_size: 3, tolerance: 0.5}\n";

/// Expansion of a suite, or the error that it ends in.
struct Expanded {
  test::Folder folder;
  Expansion expansion;
  std::string error;

  explicit Expanded(const std::string& suite, std::vector<std::string> arguments = {},
                    const Known& known = test::fake_known()) {
    folder.write("p.yaml", policy);
    folder.write("s.yaml", suite);
    error = test::error_of(
        [&] {
          expansion =
              expand(suite::read_suites(folder.path() + "/s.yaml"), known, test::flags_of(std::move(arguments)));
        },
        folder.path());
  }
  const Case& at(const std::string& test) const {
    for (const auto& c : expansion.cases)
      if (name_of(c).find(test) != std::string::npos) return c;
    throw std::out_of_range(test);
  }
  std::string origin(const std::string& test, const std::string& field) const {
    const std::string text = at(test).origin.at(field);
    return text.starts_with(folder.path()) ? text.substr(folder.path().size() + 1) : text;
  }
  std::vector<std::string> names() const { return test::names_of(expansion.cases); }
};

}  // namespace torchstone::selection
