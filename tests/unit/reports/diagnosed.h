#pragma once
#include <limits>
#include <string>

#include <torchstone/diagnosis.h>

namespace torchstone {

/// Returns a diagnosis with a value in every member. The operator is aten::`word`.
inline Diagnosis diagnosed(const std::string& word) {
  const DiagnosedNode node{"v7", "aten::" + word, "float32[8, 64]", "layer3.0", "net.py:12"};
  const DiagnosedElement element{{0, 3}, 1.2, 1.5};
  return {.outcome = DiagnosisOutcome::located,
          .sentence = "aten::" + word + " (v7, layer3.0, net.py:12) alone is wrong",
          .message = "words of the compiler",
          .nodes = 87,
          .trials = 12,
          .seconds = 71.5,
          .first_wrong = FirstWrongValue{node,
                                         "cpp_fused_" + word + "_0",
                                         {"v5", "v7"},
                                         std::numeric_limits<double>::infinity(),
                                         1e-6,
                                         1e-8,
                                         element},
          .seen = 10,
          .part = {node, {"v8", "aten::mul.Scalar"}},
          .ranges = {{"batch", "batch from 2 to 64 to 2 to 15: batch < 16", {2, 15}, "v7", "patch_of_" + word}},
          .sizes = {{"batch", 7}, {"length", 128}},
          .errors = DiagnosedErrors{"v7", 1e-8, 0.25, 1e-6, element},
          .guilty = GuiltyPart{"online_" + word, "setting", "right without `online_" + word + "`", 14},
          .reproducer = DiagnosedReproducer{"python reproduce.py", 10, 10, ""},
          .files = {"issue.md", "reproduce.py", "diagnosis.json"},
          .faults = {"tensors.pt is not used: it is empty"}};
}

}  // namespace torchstone
