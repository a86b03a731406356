#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace torchstone {

/// Exit codes of torchstone and torchstone-report (docs/ci.md). Only this place knows the numbers.
struct ExitCode {
  enum Value : int {
    success = 0,
    gate_failed = 1,     ///< a wrong answer, a missed speed-up, or a loss against the baseline
    usage_error = 2,     ///< a flag or a file that cannot be used
    nothing_judged = 3,  ///< nothing selected, nothing measured, nothing compared
    infrastructure = 4,  ///< crash, time-out, lack of memory, no compiler, a report that could not be written
    undecided = 5,       ///< a case is undecided, and the user asked to be strict
    interrupted = 130,   ///< 128 + SIGINT, as in shells
  };
};

/// Returns the value of an environment variable; empty when it is not set.
std::string environment_variable(const char* name);

/// Opens /dev/null for each closed descriptor of 0 to 2. Call it before anything else: otherwise a
/// file or a pipe gets such a number, and the program's output goes there. Throws std::system_error.
void open_standard_descriptors();

/// Returns the version of Torchstone, from `project(VERSION)` in the top-level CMakeLists.txt: "0.1.0".
std::string_view version();

/// Text that replaces a secret.
inline constexpr std::string_view hidden = "[hidden]";

/// Whether a variable or flag of this name may hold a secret. Such names contain, in any case, KEY, TOKEN, SECRET,
/// PASSWORD, PASSWD, PASSPHRASE, CREDENTIAL or AUTH.
bool names_secret(std::string_view name);
/// Whether the text holds an address with a password (scheme://user:password@host), a private key, or a token of a
/// well-known service (ghp_…, glpat-…, hf_…, nvapi-…, AKIA…).
bool looks_secret(std::string_view value);

/// Replaces the secrets in the words of a command. `--api-token=X` and `--api-token X` keep the name. A word that
/// looks like a secret keeps only the name before its `=`.
std::vector<std::string> without_secrets(std::vector<std::string> words);
/// Replaces the secret in one word, if it has one.
std::string without_secret(const std::string& word);

}  // namespace torchstone
