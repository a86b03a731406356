#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace torchstone {

/// Result of testing a claim about a part on the whole program.
enum class Confirmation {
  untried,
  confirmed,  ///< the whole program is right without the blamed part
  refuted,    ///< the whole program is still wrong
};

/// Outcome of a diagnosis (docs/diagnosis.md).
enum class DiagnosisOutcome {
  unknown,      ///< Diagnosis::sentence has the reason; also any outcome of a later version
  located,      ///< a part of few nodes, run alone, shows the fault
  narrowed,     ///< a larger part shows the fault, and no smaller one was found
  tolerance,    ///< rounding explains the error of the compiled values
  vanished,     ///< the program is right after being compiled and run again
  healthy,      ///< the case had not failed, and no fault was found
  unsupported,  ///< the backend compiles no parts
};

/// How a compiled result differs from eager's. `state`: constants or inputs that the program writes to differ.
enum class ResultFault { none, number, not_finite, integer, state, shape, dtype };

/// An operator of a program, as a diagnosis names it. Unknown values are empty.
struct DiagnosedNode {
  std::string value{};      ///< its result: "v7"
  std::string operation{};  ///< "aten::softmax.int"
  std::string shape{};      ///< dtype and shape of the value: "float32[8, 64]"
  std::string module{};     ///< "layer3.0.conv2", or "after layer3.0.conv2" if only the preceding module is known
  std::string source{};     ///< "net.py:12"
};

/// Eager's and the compiled value of one element. Errors in this file are relative: the RMS of the difference over the
/// RMS of the value.
struct DiagnosedElement {
  std::vector<int64_t> index{};    ///< index of the element that differs most; empty if the shapes differ
  double expected = 0, found = 0;  ///< eager's and the compiled value
};

/// The first wrong value of the whole compiled program, in program order.
struct FirstWrongValue {
  DiagnosedNode node{};
  std::string kernel{};              ///< the kernel that computes the value
  std::vector<std::string> fused{};  ///< all values that the kernel computes
  double difference = 0;             ///< difference of the compiled value from eager's
  double allowed = 0;                ///< largest difference that rounding explains
  double eager_error = 0;            ///< error of eager's value against float64; NaN if unknown
  DiagnosedElement element{};
};

/// Errors against float64 of the smallest part that shows the fault when run alone.
struct DiagnosedErrors {
  std::string value{};  ///< the result that exceeds its allowed error most
  double eager = 0, compiled = 0, allowed = 0;
  DiagnosedElement element{};
  std::optional<ResultFault> fault{};  ///< absent in older records
  std::string reason{};                ///< text for any fault but a number: "64 of 64 integers differ"
};

/// The part of the compiler that makes the program wrong.
struct GuiltyPart {
  std::string name{}, kind{};  ///< kind: setting, pass, lowering, decomposition or patch; both empty if none was found
  std::string sentence{};      ///< "right without `…`", or why nothing was found
  int64_t trials = 0;          ///< number of compiles
  Confirmation confirmation = Confirmation::untried;
};

/// A program that shows the fault with PyTorch alone.
struct DiagnosedReproducer {
  std::string command{};         ///< to be run in the folder of the diagnosis; empty without a program
  int64_t runs = 0, failed = 0;  ///< number of runs, and of runs that showed the failure
  std::string fault{};           ///< why the program, or the package, was not run
};

/// A range of a dimension that the compiler narrows.
struct NarrowedRange {
  std::string dimension{};      ///< "batch"
  std::string text{};           ///< "batch from 2 to 64 to 2 to 15: batch < 16 (… in …, line 9)"
  std::vector<int64_t> kept{};  ///< minimum and maximum, in steps of the dimension
  std::string value{};          ///< result of the operator that the range is narrowed for; empty if unknown
  std::string kept_by{};        ///< the patch that prevents the narrowing, if one is known
};

/// Findings on why the compiled program of a case is wrong (docs/diagnosis.md).
struct Diagnosis {
  DiagnosisOutcome outcome = DiagnosisOutcome::unknown;
  std::string sentence{};
  std::string message{};  ///< message of a compiler that failed, or a signal
  int64_t nodes = 0;      ///< number of operators of the whole program
  int64_t trials = 0;     ///< number of parts that were compiled and run
  double seconds = 0;
  std::optional<FirstWrongValue> first_wrong{};
  int64_t seen = 0;      ///< number of values of the whole compiled program that could be compared with eager's
  std::string unseen{};  ///< why no values could be compared
  std::vector<DiagnosedNode> part{};  ///< the smallest part that shows the fault alone
  /// Confirmation of the part: the whole program ran with eager's values instead of the part's.
  Confirmation confirmation = Confirmation::untried;
  std::vector<NarrowedRange> ranges{};     ///< for a program of dynamic sizes: ranges that the compiler narrows
  std::map<std::string, int64_t> sizes{};  ///< for such a program: the sizes that all other members refer to
  std::optional<DiagnosedErrors> errors{};
  std::optional<GuiltyPart> guilty{};
  std::optional<DiagnosedReproducer> reproducer{};
  std::vector<std::string> files{};   ///< in the folder of the diagnosis
  std::vector<std::string> faults{};  ///< files of the diagnosis that could not be read, with the reason
  std::string folder{};               ///< folder of the files, relative to the report; empty if absent
};

}  // namespace torchstone
