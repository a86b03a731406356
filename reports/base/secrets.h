#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace torchstone {

/// Shown in the place of a secret.
inline constexpr std::string_view hidden = "[hidden]";

/// Whether a variable or flag of this name may hold a secret: it says KEY, TOKEN, SECRET, PASSWORD, PASSWD, PASSPHRASE,
/// CREDENTIAL or AUTH, in letters of any case.
bool names_secret(std::string_view name);
/// Whether the text holds an address with a password (scheme://user:password@host), a private key, or a token of a
/// well-known service (ghp_…, glpat-…, hf_…, nvapi-…, AKIA…).
bool looks_secret(std::string_view value);

/// The words of a command without its secrets: `--api-token=X` and `--api-token X` keep the name, and a word that
/// looks like a secret keeps nothing but the name before its `=`.
std::vector<std::string> without_secrets(std::vector<std::string> words);
/// The same for one word.
std::string without_secret(const std::string& word);

}  // namespace torchstone
