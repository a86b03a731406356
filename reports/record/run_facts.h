#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torchstone/run_info.h>

namespace torchstone {

/// Returns facts of the run that begins now, except those that need torch. Secrets in the command line are hidden
/// (reports/base/process.h). `more_names`: further environment variables to record.
RunInfo begin_run(int argc, const char* const* argv, const std::vector<std::string>& more_names = {});

/// Returns the recorded environment variables of this process, without any whose name or value looks like a secret.
Facts environment_facts(const std::vector<std::string>& more_names = {});

/// Returns the full names of the environment variables that can change a result, which are therefore recorded. They
/// belong to GoogleTest, PyTorch, OpenMP, the BLAS libraries, CUDA, Triton, the allocators and the dynamic linker.
/// Inductor's own (TORCHINDUCTOR_…, AOT_INDUCTOR_…) are missing, because its workers are started without them.
std::span<const std::string_view> result_variables();

/// Returns facts of this machine, from the files under `root`/proc, `root`/sys and `root`/etc. `host` is a hash, so
/// that results can be compared by machine without its name. A fact that cannot be read is absent.
Facts machine_facts(const std::string& root = "");

/// Returns the facts of a run's machine that timings depend on: processor, usable cores and GPU. Equal machines have
/// equal texts.
std::string machine_text(const RunInfo& run);
/// Returns Result::machine, or the machine of the run if the result has none.
std::string machine_of(const Result& result, const RunInfo& run);

/// Returns the number of CPUs whose time this process may use: the smallest quota of its cgroup and the groups above
/// it; nothing without a limit. In a container the path may be the host's, and then only the top group exists. For
/// cgroup version 1 it reads only the top group.
std::optional<double> quota_of_cgroup(const std::string& root = "");

// Readers of single files of /proc and /sys. They return nothing for text of another form.

/// The word in brackets of transparent_hugepage/enabled: "always [madvise] never" is madvise.
std::string bracketed_word(std::string_view text);
/// "on" or "off" of a file that holds 1 or 0; `one_is`: what 1 means.
std::string switch_word(std::string_view text, std::string_view one_is);
/// Returns "yes" or "no" by the flag `hypervisor` of /proc/cpuinfo; nothing if the kernel lists no flags.
std::string virtual_machine(std::string_view cpuinfo);
/// Returns the folder of cgroup version 2 from /proc/self/cgroup: /user.slice for "0::/user.slice".
std::string cgroup_folder(std::string_view cgroups);
/// Returns the number of CPUs whose time a cgroup may use; nothing without a limit. The text is cpu.max of version 2
/// ("150000 100000" is 1.5), or quota and period of version 1 with a space between them.
std::optional<double> cpu_quota(std::string_view cpu_max);
/// Returns the percentage of CPU time since boot that the host gave to other guests (steal), from the line "cpu" of
/// /proc/stat.
std::optional<double> steal_since_boot_pct(std::string_view stat);

}  // namespace torchstone
