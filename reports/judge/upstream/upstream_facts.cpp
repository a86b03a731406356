#include <array>
#include <vector>

#include "reports/judge/upstream/upstream_table.h"

namespace torchstone::judge {
namespace {

/// Words that mean the same wherever they stand in a name, and of which field.
struct NameWord {
  std::string_view text, field, value;
};
constexpr std::array name_words = {
    NameWord{"torchbench", "suite", "torchbench"},
    NameWord{"timm", "suite", "timm"},
    NameWord{"huggingface", "suite", "huggingface"},
    NameWord{"inference", "mode", "inference"},
    NameWord{"training", "mode", "training"},
    NameWord{"float32", "dtype", "float32"},
    NameWord{"bfloat16", "dtype", "bfloat16"},
    NameWord{"float16", "dtype", "float16"},
    NameWord{"amp", "dtype", "amp"},
    NameWord{"float64", "dtype", "float64"},
    NameWord{"cpu", "device", "cpu"},
    NameWord{"cuda", "device", "cuda"},
    NameWord{"mini", "preset", "mini"},
    NameWord{"full", "preset", "full"},
    NameWord{"accuracy", "check", "accuracy"},
    NameWord{"performance", "check", "performance"},
};
constexpr std::array checks_of_ours = {std::string_view("batch_invariance"), std::string_view("largest_batch")};
/// A backend begins at one of these; `aot` alone is the way to Inductor that every case here goes.
constexpr std::array backends = {std::string_view("inductor"), std::string_view("eager"),
                                 std::string_view("torchscript")};

std::vector<std::string> words_of(std::string_view stem) {
  std::vector<std::string> parts(1);
  for (const char c : stem) {
    if (c == '_' || c == '-' || c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

template <typename Words>
bool is_one_of(const Words& known, std::string_view word) {
  for (const auto& text : known)
    if (text == word) return true;
  return false;
}

}  // namespace

std::map<std::string, std::string> facts_in_name(std::string_view stem) {
  std::map<std::string, std::string> facts;
  std::string kept(stem);
  for (const auto check : checks_of_ours) {
    if (!kept.ends_with(check)) continue;
    facts["check"] = check;
    kept.resize(kept.size() - check.size());
  }
  std::string backend, before;
  for (const auto& part : words_of(kept)) {
    const auto* known = name_words.begin();
    while (known != name_words.end() && known->text != part) ++known;
    if (known != name_words.end()) {
      // "cpu_inductor_amp": a word of another field stands between a backend and its options.
      facts.try_emplace(std::string(known->field), known->value);
    } else if (part == "dynamic") {
      facts["dynamic"] = "batch";  // upstream's CI names so what it runs with --dynamic-batch-only
    } else if (part == "all" && before == "dynamic") {
      facts["dynamic"] = part;
    } else if (!backend.empty()) {
      if (part != "models" && !part.empty() && !facts.contains("mode")) backend += "_" + part;
    } else if (is_one_of(backends, part)) {
      const bool another = part == "eager" && (before == "aot" || before == "dynamo");
      backend = another ? before + "_" + part : part;
    }
    before = part;
  }
  if (!backend.empty()) facts["backend"] = backend;
  return facts;
}

}  // namespace torchstone::judge
