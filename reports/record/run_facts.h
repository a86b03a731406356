#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torchstone/run_info.h>

namespace torchstone {

/// The run that begins now, with everything that needs no torch. Secrets in the command line are hidden
/// (reports/base/process.h). `more_names`: further environment variables to record.
RunInfo begin_run(int argc, const char* const* argv, const std::vector<std::string>& more_names = {});

/// The variables of this process that are recorded, by name: never one whose name or value looks like a secret.
Facts environment_facts(const std::vector<std::string>& more_names = {});

/// Returns the full names of the environment variables that can change a result, which are therefore recorded. They
/// belong to GoogleTest, PyTorch, OpenMP, the BLAS libraries, CUDA, Triton, the allocators and the dynamic linker.
/// Inductor's own (TORCHINDUCTOR_…, AOT_INDUCTOR_…) are missing, because its workers are started without them.
std::span<const std::string_view> result_variables();

/// Returns facts of this machine, from the files under `root`/proc, `root`/sys and `root`/etc. `host` is a hash, so
/// that results can be compared by machine without its name. A fact that cannot be read is absent.
Facts machine_facts(const std::string& root = "");

/// Returns what timings depend on, of the machine of a run: processor, usable cores and GPU. Equal machines have equal
/// text.
std::string machine_text(const RunInfo& run);
/// Returns Result::machine, or the machine of the run if the result has none.
std::string machine_of(const Result& result, const RunInfo& run);

/// Returns the number of CPUs whose time this process may use, by the least quota of its cgroup and of the groups above
/// it; nothing without a limit. In a container the path of the group may be the host's; then only the top group exists.
/// Of version 1 only the top group is read.
std::optional<double> quota_of_cgroup(const std::string& root = "");

// Readers of single files of /proc and /sys. They return nothing for text of another form.

/// The word in brackets of transparent_hugepage/enabled: "always [madvise] never" is madvise.
std::string bracketed_word(std::string_view text);
/// "on" or "off" of a file that holds 1 or 0; `one_is`: what 1 means.
std::string switch_word(std::string_view text, std::string_view one_is);
/// "yes" or "no" by the flag hypervisor of /proc/cpuinfo. A processor whose kernel lists no flags says nothing.
std::string virtual_machine(std::string_view cpuinfo);
/// The folder of version 2 in /proc/self/cgroup: "0::/user.slice" is /user.slice.
std::string cgroup_folder(std::string_view cgroups);
/// Returns the number of CPUs whose time a cgroup may use; nothing without a limit. The text is cpu.max of version 2
/// ("150000 100000" is 1.5), or quota and period of version 1 with a blank between them.
std::optional<double> cpu_quota(std::string_view cpu_max);
/// The percentage of all CPUs' time since the start of the system that the host gave to others: line "cpu" of
/// /proc/stat.
std::optional<double> steal_since_boot_pct(std::string_view stat);

}  // namespace torchstone
