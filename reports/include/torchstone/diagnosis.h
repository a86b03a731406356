#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace torchstone {

/// Whether a claim about a part was tried on the whole program, and what came of it.
enum class Confirmation {
  untried,
  confirmed,  ///< the whole program is right without what is blamed
  refuted,    ///< it is not
};

/// What a diagnosis found (docs/diagnosis.md).
enum class DiagnosisOutcome {
  unknown,      ///< the sentence has the reason; also any outcome of a later version
  located,      ///< a part of few nodes shows the fault alone
  narrowed,     ///< a part shows it, and no smaller one was found
  tolerance,    ///< rounding explains the error of the compiled values
  vanished,     ///< the program, compiled and run again, is right
  healthy,      ///< the case had not failed, and nothing is wrong
  unsupported,  ///< the backend compiles no parts
};

/// How a compiled result differs from eager's. `state` is any difference of constants and inputs that were written to.
enum class ResultFault { none, number, not_finite, integer, state, shape, dtype };

/// An operator of a program, as a diagnosis names it. Unknown values are empty.
struct DiagnosedNode {
  std::string value{};      ///< what it gives: "v7"
  std::string operation{};  ///< "aten::softmax.int"
  std::string shape{};      ///< of the value: "float32[8, 64]"
  std::string module{};     ///< "layer3.0.conv2"; "after layer3.0.conv2" where only what comes before it is known
  std::string source{};     ///< "net.py:12"
};

/// Two values of one element. Errors in this file are root mean squares of a difference over that of the value.
struct DiagnosedElement {
  std::vector<int64_t> index{};    ///< of the element that differs most; empty where the sizes differ
  double expected = 0, found = 0;  ///< eager's and the compiled value
};

/// The first value of the whole compiled program, in its order, that is wrong.
struct FirstWrongValue {
  DiagnosedNode node{};
  std::string kernel{};              ///< that computes it
  std::vector<std::string> fused{};  ///< the values that the kernel computes
  double difference = 0;             ///< of the compiled value from eager's
  double allowed = 0;                ///< what roundings explain of it
  double eager_error = 0;            ///< of eager's value against float64; NaN where it is not known
  DiagnosedElement element{};
};

/// How the smallest part that shows the fault, run alone, compares with float64.
struct DiagnosedErrors {
  std::string value{};  ///< the result that is furthest over what is allowed
  double eager = 0, compiled = 0, allowed = 0;
  DiagnosedElement element{};
  std::optional<ResultFault> fault{};  ///< absent in older records
  std::string reason{};                ///< of any but a number: "64 of 64 integers differ"
};

/// The part of the compiler that makes the program wrong.
struct GuiltyPart {
  std::string name{}, kind{};  ///< kind: setting, pass, lowering, decomposition or patch; both empty: none was found
  std::string sentence{};      ///< "right without `…`", or why nothing was found
  int64_t trials = 0;          ///< compiles that it took
  Confirmation confirmation = Confirmation::untried;
};

/// A program that shows the fault with PyTorch alone.
struct DiagnosedReproducer {
  std::string command{};         ///< to be run in the folder of the diagnosis; empty where there is no program
  int64_t runs = 0, failed = 0;  ///< how often it was run, and in how many of the runs the failure showed
  std::string fault{};           ///< why there are no runs, or none of the package
};

/// A range of a dimension that the compiler narrows.
struct NarrowedRange {
  std::string dimension{};      ///< "batch"
  std::string text{};           ///< "batch from 2 to 64 to 2 to 15: batch < 16 (… in …, line 9)"
  std::vector<int64_t> kept{};  ///< minimum and maximum, in steps of the dimension
  std::string value{};          ///< what the operator gives that it is narrowed for; empty where it is not known
  std::string kept_by{};        ///< the patch with which it is not narrowed, where one is known
};

/// Why the compiled program of a case is wrong, as far as it was found (docs/diagnosis.md).
struct Diagnosis {
  DiagnosisOutcome outcome = DiagnosisOutcome::unknown;
  std::string sentence{};
  std::string message{};  ///< of a compiler that refused, or a signal
  int64_t nodes = 0;      ///< operators of the whole program
  int64_t trials = 0;     ///< parts that were compiled and run
  double seconds = 0;
  std::optional<FirstWrongValue> first_wrong{};
  int64_t seen = 0;                   ///< values of the whole compiled program that could be compared with eager's
  std::string unseen{};               ///< why none were
  std::vector<DiagnosedNode> part{};  ///< the smallest part that shows the fault alone
  /// Of the part: the whole program was run with eager's values in its place.
  Confirmation confirmation = Confirmation::untried;
  std::vector<NarrowedRange> ranges{};     ///< of a program for ranges of sizes: those that the compiler narrows
  std::map<std::string, int64_t> sizes{};  ///< of such a program: the sizes that all other members are about
  std::optional<DiagnosedErrors> errors{};
  std::optional<GuiltyPart> guilty{};
  std::optional<DiagnosedReproducer> reproducer{};
  std::vector<std::string> files{};   ///< in the folder of the diagnosis
  std::vector<std::string> faults{};  ///< files of the diagnosis that could not be read, with the reason
  std::string folder{};               ///< of the files, relative to the report; empty where it is absent
};

}  // namespace torchstone
