#include "reports/base/process.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace torchstone {
namespace {

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Prefix of a service's tokens, and the least number of letters and digits that must follow it. Model names may have
/// the same prefix (hf_Bert), but have an underscore within that length or are shorter.
struct Token {
  std::string_view prefix;
  size_t least;
};
constexpr std::array tokens = {Token{"ghp_", 30},        Token{"gho_", 30}, Token{"ghu_", 30},   Token{"ghs_", 30},
                               Token{"ghr_", 30},        Token{"hf_", 30},  Token{"nvapi-", 10}, Token{"AKIA", 16},
                               Token{"github_pat_", 20}, Token{"sk-", 16},  Token{"glpat-", 8},  Token{"xoxb-", 8},
                               Token{"xoxp-", 8},        Token{"eyJ", 30}};

bool holds(std::string_view value, const Token& token) {
  for (size_t at = value.find(token.prefix); at != std::string_view::npos; at = value.find(token.prefix, at + 1)) {
    if (at > 0 && is_letter_or_digit(value[at - 1])) continue;
    const std::string_view rest = value.substr(at + token.prefix.size());
    const auto end = std::ranges::find_if_not(rest, is_letter_or_digit);
    if (static_cast<size_t>(end - rest.begin()) >= token.least) return true;
  }
  return false;
}

/// Whether the text holds an address scheme://user:password@host.
bool holds_password(std::string_view value) {
  for (size_t at = value.find("://"); at != std::string_view::npos; at = value.find("://", at + 1)) {
    const std::string_view authority = value.substr(at + 3, value.find_first_of("/?# \t\n", at + 3) - at - 3);
    const size_t host = authority.rfind('@');
    if (host != std::string_view::npos && authority.substr(0, host).find(':') != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // open() returns the lowest free number, which is the closed one. Child processes should inherit the descriptor.
    if (open("/dev/null", O_RDWR) != descriptor)  // NOLINT(android-cloexec-open)
      throw std::system_error(errno, std::generic_category(), "/dev/null");
  }
}

std::string_view version() { return TORCHSTONE_VERSION; }

bool names_secret(std::string_view name) {
  static constexpr std::array words = {"KEY",    "TOKEN",      "SECRET",     "PASSWORD",
                                       "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH"};
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return std::ranges::any_of(words, [&](const char* word) { return upper.find(word) != std::string::npos; });
}

bool looks_secret(std::string_view value) {
  if (holds_password(value) || value.find("PRIVATE KEY-----") != std::string_view::npos) return true;
  return std::ranges::any_of(tokens, [&](const Token& token) { return holds(value, token); });
}

std::string without_secret(const std::string& word) {
  const size_t equals = word.find('=');
  const bool named = equals != std::string::npos && equals + 1 < word.size() && names_secret(word.substr(0, equals));
  if (!named && !looks_secret(word)) return word;
  return (equals == std::string::npos ? "" : word.substr(0, equals + 1)) + std::string(hidden);
}

std::vector<std::string> without_secrets(std::vector<std::string> words) {
  bool follows = false;  // the previous word names a secret and has no value
  for (auto& word : words) {
    const bool flag = word.starts_with('-');
    const bool names = flag && word.find('=') == std::string::npos && names_secret(word);
    word = follows && !flag ? std::string(hidden) : without_secret(word);
    follows = names;
  }
  return words;
}

}  // namespace torchstone
