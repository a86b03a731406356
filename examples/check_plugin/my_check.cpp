// A custom check: two calls of a compiled model with the same inputs return the same bits.
#include <torchstone/check.h>

using namespace torchstone;

Outcome check_repeats(CheckRun& run) {
  constexpr int calls = 5;
  const c10::IValue first = run.compiled(run.inputs());
  for (int call = 2; call <= calls; ++call) {
    const Agreement agreement = run.compare(first, run.compiled(run.inputs()), /*tolerance=*/0);
    if (!agreement.same)
      return run.end(Status::fail_accuracy,
                     "call " + std::to_string(call) + " differs from the first: " + agreement.reason, agreement.report);
  }
  run.notes()["calls"] = std::to_string(calls);
  return run.verdict(run.compare_by_reference(run.inputs(), run.eager(run.inputs()), first));
}

TORCHSTONE_CHECK(repeats, .claim = "CompiledRepeatsItself", .help = "the compiled model gives the same bits again",
                 .run = check_repeats);
