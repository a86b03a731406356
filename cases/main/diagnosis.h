#pragma once
#include <cstddef>

#include <torchstone/result.h>

#include "cases/main/checks.h"

namespace torchstone {

/// Diagnoses a case that has run, where --torchstone_diagnose asks for it and its backend compiles parts of a program
/// (fixtures/diagnose/diagnosis.h). `result` gets what was found, the sentence in the notes diagnosis,
/// diagnosis_outcome and diagnosis_folder, and a failure in its detail too.
void add_diagnosis(Session& session, size_t index, Result& result);

}  // namespace torchstone
