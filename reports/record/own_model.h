#pragma once
#include <string>
#include <vector>

#include <torchstone/result.h>

namespace torchstone {

/// Whether there are results, and all are of models that the user named (Result::own_model). Reports then have a
/// sentence for each backend and mode. Averages over backends or modes of one model mean nothing.
bool are_of_own_model(const std::vector<Result>& results);

/// Whether all results are of models that the user named, and the user expects a pass of each. "As expected" then means
/// no more than "passed", so reports say the latter.
bool is_own_without_expectations(const std::vector<Result>& results);

/// Returns the names of the models, with a comma between them.
std::string model_names(const std::vector<Result>& results);

/// The verdicts of one backend, mode and dtype, as a sentence.
struct OwnModelSentence {
  std::string text;
  char mark = ' ';  ///< the most urgent one of its cases (reports/record/verdict.h)
};

/// Returns the sentences in the order of the results: "inductor, inference, float32: correct (an error of 0.014 % would
/// have been seen); 1.26x faster [1.14, 1.39]; pays for its compile after 900 calls."
std::vector<OwnModelSentence> own_model_sentences(const std::vector<Result>& results);

}  // namespace torchstone
