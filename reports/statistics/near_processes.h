#pragma once
#include <cstddef>
#include <vector>

// Which processes speak for a case.
//
// A machine has states that last for seconds or minutes: its threads lie near to each other (they share a cache) or
// apart, as the system or the host of a virtual machine puts them. What hands data from thread to thread is slower
// apart, compiled code often more than eager. A few processes one after the other say nothing of the other state. So a
// speed-up is that of one state, near where it can be had, as nvbench measures at the usual clock only.
namespace torchstone::statistics {

/// Times the usual fork_join_us of near threads: from there on threads lie apart, or the host gives a part of the
/// processors to others, which counts as apart too. The states that were seen differ by 1.2 to 2.6; near threads vary
/// by 4 %. What takes as much less lies in a third place: where hardly any process of the last hours was near, the
/// usual number is that of threads apart.
inline constexpr double apart_factor = 1.12;

/// Indices into the processes of a case.
struct ByPlace {
  std::vector<size_t> near, apart;
};

/// `fork_join_us` of each process, 0 where it is not known, which counts as near; `near_us` of near
/// threads on this machine.
ByPlace by_place(const std::vector<double>& fork_join_us, double near_us);

/// Whether one lay apart and the other did not; 0 where it is not known, which is no difference.
bool places_differ(double fork_join_us, double other_us);

}  // namespace torchstone::statistics
