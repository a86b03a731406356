#include "reports/record/run_facts.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/base/time.h"

namespace torchstone {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; (begin = line.find_first_not_of(" \t\n", begin)) != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(" \t\n", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

std::string unquoted(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\"");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\"\n") - begin + 1));
}

/// Returns the value of the first line "key<separator>value" of a file; empty without such a line.
std::string value_of_line(const std::string& path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto at = line.find(separator);
    if (at != std::string::npos && unquoted(std::string_view(line).substr(0, at)) == key) {
      return unquoted(std::string_view(line).substr(at + 1));
    }
  }
  return "";
}

std::string read_first_line(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return unquoted(line);
}

std::string host_hash() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "";
  return fmt::format("{:016x}", hash_of(name.data()));
}

/// Returns the number of cores this process may use. In a container or under taskset it is smaller than the machine's.
std::string usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::to_string(CPU_COUNT(&set)) : "";
}

std::string memory_bytes(const std::string& root) {
  const std::string kib = value_of_line(root + "/proc/meminfo", "MemTotal", ':');
  const auto value = parse_number(kib.substr(0, kib.find(' ')));
  return value ? fmt::format("{:.0f}", *value * 1024) : "";
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Turbo is off where intel_pstate says no_turbo, or cpufreq says that boost is off.
std::string turbo(const std::string& root) {
  const std::string cpu = root + "/sys/devices/system/cpu/";
  const std::string of_intel = switch_word(read_first_line(cpu + "intel_pstate/no_turbo"), "off");
  return of_intel.empty() ? switch_word(read_first_line(cpu + "cpufreq/boost"), "on") : of_intel;
}

std::string number_or_nothing(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : ""; }

}  // namespace

std::string bracketed_word(std::string_view text) {
  const size_t begin = text.find('['), end = text.find(']', begin);
  if (end == std::string_view::npos) return "";
  const auto words = words_of(text.substr(begin + 1, end - begin - 1));
  return words.size() == 1 ? std::string(words[0]) : "";
}

std::string switch_word(std::string_view text, std::string_view one_is) {
  const auto words = words_of(text);
  const std::string_view value = words.size() == 1 ? words[0] : "";
  if (value != "0" && value != "1") return "";
  return (value == "1") == (one_is == "on") ? "on" : "off";
}

std::string virtual_machine(std::string_view cpuinfo) {
  const size_t at = cpuinfo.find("\nflags");
  if (at == std::string_view::npos) return "";
  const std::string_view line = cpuinfo.substr(at + 1, cpuinfo.find('\n', at + 1) - at - 1);
  for (const auto word : words_of(line))
    if (word == "hypervisor") return "yes";
  return "no";
}

std::string cgroup_folder(std::string_view cgroups) {
  while (!cgroups.empty()) {
    const std::string_view line = cgroups.substr(0, cgroups.find('\n'));
    if (line.starts_with("0::/")) return line == "0::/" ? "" : std::string(line.substr(3));
    cgroups.remove_prefix(std::min(line.size() + 1, cgroups.size()));
  }
  return "";
}

std::optional<double> cpu_quota(std::string_view cpu_max) {
  const auto words = words_of(cpu_max);
  const auto quota = words.size() == 2 ? parse_counter(words[0]) : std::nullopt;
  const auto period = quota ? parse_counter(words[1]) : std::nullopt;
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

std::optional<double> steal_since_boot_pct(std::string_view stat) {
  constexpr size_t counters = 8, steal = 7;  // user nice system idle iowait irq softirq steal (proc(5))
  const auto words = words_of(stat.substr(0, stat.find('\n')));
  if (words.size() <= counters || words[0] != "cpu") return std::nullopt;
  double sum = 0, stolen = 0;
  for (size_t i = 0; i < counters; ++i) {
    const auto value = parse_counter(words[i + 1]);
    if (!value) return std::nullopt;
    sum += *value;
    if (i == steal) stolen = *value;
  }
  if (sum <= 0) return std::nullopt;
  return 100 * stolen / sum;
}

std::optional<double> quota_of_cgroup(const std::string& root) {
  const std::string top = root + "/sys/fs/cgroup", one = top + "/cpu/cpu.cfs_";
  std::vector<std::string> texts{read_first_line(one + "quota_us") + " " + read_first_line(one + "period_us")};
  for (std::string group = cgroup_folder(contents_of(root + "/proc/self/cgroup"));; group.resize(group.rfind('/'))) {
    texts.push_back(read_first_line(top + group + "/cpu.max"));
    if (group.find('/') == std::string::npos) break;
  }
  std::optional<double> least;
  for (const auto& text : texts)
    if (const auto quota = cpu_quota(text)) least = std::min(*quota, least.value_or(*quota));
  return least;
}

Facts machine_facts(const std::string& root) {
  utsname kernel{};
  const bool known = uname(&kernel) == 0;
  double load = 0;
  const std::string cpu = root + "/sys/devices/system/cpu/";
  Facts facts = {
      {"cpu", value_of_line(root + "/proc/cpuinfo", "model name", ':')},
      {"architecture", known ? kernel.machine : ""},
      {"cores", std::to_string(std::thread::hardware_concurrency())},
      {"usable_cores", usable_cores()},
      {"governor", read_first_line(cpu + "cpu0/cpufreq/scaling_governor")},
      {"turbo", turbo(root)},
      {"smt", switch_word(read_first_line(cpu + "smt/active"), "on")},
      {"transparent_hugepages", bracketed_word(read_first_line(root + "/sys/kernel/mm/transparent_hugepage/enabled"))},
      {"virtual_machine", virtual_machine(contents_of(root + "/proc/cpuinfo"))},
      {"cpu_quota", number_or_nothing(quota_of_cgroup(root))},
      {"steal_since_boot_pct", number_or_nothing(steal_since_boot_pct(contents_of(root + "/proc/stat")))},
      {"memory_bytes", memory_bytes(root)},
      {"load_average", getloadavg(&load, 1) == 1 ? fmt::format("{:.2f}", load) : ""},
      {"host", host_hash()},
      {"os", value_of_line(root + "/etc/os-release", "PRETTY_NAME", '=')},
      {"kernel", known ? fmt::format("{} {}", kernel.sysname, kernel.release) : ""},
  };
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

std::span<const std::string_view> result_variables() {
  static constexpr auto names = std::to_array<std::string_view>(
      {// GoogleTest: which tests run, and in which order
       "GTEST_FILTER", "GTEST_SHUFFLE", "GTEST_RANDOM_SEED", "GTEST_REPEAT", "GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX",
       "GTEST_FAIL_FAST", "GTEST_ALSO_RUN_DISABLED_TESTS", "GTEST_BREAK_ON_FAILURE", "GTEST_CATCH_EXCEPTIONS",
       // LibTorch
       "ATEN_CPU_CAPABILITY", "AOTI_RUNTIME_CHECK_INPUTS", "LRU_CACHE_CAPACITY", "PYTORCH_ALLOC_CONF",
       "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING", "PYTORCH_NVML_BASED_CUDA_CHECK",
       "PYTORCH_JIT_LOG_LEVEL", "PYTORCH_JIT_OPT_LIMIT", "PYTORCH_TENSOREXPR", "PYTORCH_TENSOREXPR_DONT_FUSE",
       "PYTORCH_TENSOREXPR_FALLBACK", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "TORCH_BLAS_PREFER_CUBLASLT",
       "TORCH_CPP_LOG_LEVEL", "TORCH_CUDNN_USE_HEURISTIC_MODE_B", "TORCH_CUDNN_V8_API_DISABLED",
       "TORCH_CUDNN_V8_API_LRU_CACHE_LIMIT", "TORCH_JIT_DISABLE_NEW_EXECUTOR", "TORCH_LINALG_PREFER_CUSOLVER",
       "TORCH_LINEAR_FLATTEN_3D", "TORCH_MKLDNN_MATMUL_MIN_DIM", "TORCH_MKLDNN_MATMUL_MIN_SIZE",
       "TORCH_SHOW_CPP_STACKTRACES", "USE_LARGE_PARTITION_KERNEL",
       // PyTorch's compiler in Python
       "TORCH_COMPILE_DEBUG", "TORCH_COMPILE_DISABLE", "TORCH_COMPILE_USE_LAZY_GRAPH_MODULE", "TORCH_CUDA_ARCH_LIST",
       "TORCH_DONT_CHECK_COMPILER_ABI", "TORCH_FAKE_TENSOR_DISPATCH_CACHE", "TORCHDYNAMO_AUTO_FUNCTIONALIZED_V2",
       "TORCHDYNAMO_PREPARE_FREEZING", "TORCHDYNAMO_REPRO_AFTER", "TORCHDYNAMO_SUPPRESS_ERRORS",
       "TORCHDYNAMO_TRANSLATION_VALIDATION", "TORCHDYNAMO_VERBOSE", "CUTLASS_EPILOGUE_FUSION",
       "ENABLE_PERSISTENT_TMA_MATMUL", "ENABLE_TEMPLATE_TMA_STORE", "ENABLE_TMA_LOAD_FOR_TEMPLATE_EPILOGUE",
       // the C++ compiler that Inductor calls
       "CC", "CXX", "CPLUS_INCLUDE_PATH", "CUDACXX",
       // OpenMP: the standard's, GNU's, LLVM's and Intel's
       "OMP_CANCELLATION", "OMP_DYNAMIC", "OMP_MAX_ACTIVE_LEVELS", "OMP_NESTED", "OMP_NUM_THREADS", "OMP_PLACES",
       "OMP_PROC_BIND", "OMP_SCHEDULE", "OMP_STACKSIZE", "OMP_THREAD_LIMIT", "OMP_WAIT_POLICY", "GOMP_CPU_AFFINITY",
       "GOMP_SPINCOUNT", "GOMP_STACKSIZE", "KMP_AFFINITY", "KMP_BLOCKTIME", "KMP_DETERMINISTIC_REDUCTION",
       "KMP_DUPLICATE_LIB_OK", "KMP_FORCE_REDUCTION", "KMP_HW_SUBSET", "KMP_LIBRARY", "KMP_STACKSIZE", "KMP_TPAUSE",
       // BLAS and oneDNN
       "MKL_CBWR", "MKL_DEBUG_CPU_TYPE", "MKL_DISABLE_FAST_MM", "MKL_DOMAIN_NUM_THREADS", "MKL_DYNAMIC",
       "MKL_ENABLE_INSTRUCTIONS", "MKL_FAST_MEMORY_LIMIT", "MKL_INTERFACE_LAYER", "MKL_NUM_STRIPES", "MKL_NUM_THREADS",
       "MKL_THREADING_LAYER", "MKL_VERBOSE", "DNNL_CPU_ISA_HINTS", "DNNL_DEFAULT_FPMATH_MODE", "DNNL_MAX_CPU_ISA",
       "DNNL_PRIMITIVE_CACHE_CAPACITY", "ONEDNN_CPU_ISA_HINTS", "ONEDNN_DEFAULT_FPMATH_MODE", "ONEDNN_MAX_CPU_ISA",
       "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS",
       // CUDA and its libraries
       "CUDA_AUTO_BOOST", "CUDA_CACHE_DISABLE", "CUDA_CACHE_MAXSIZE", "CUDA_DEVICE_MAX_CONNECTIONS",
       "CUDA_DEVICE_ORDER", "CUDA_DISABLE_PTX_JIT", "CUDA_FORCE_PTX_JIT", "CUDA_HOME", "CUDA_LAUNCH_BLOCKING",
       "CUDA_MANAGED_FORCE_DEVICE_ALLOC", "CUDA_MODULE_LOADING", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "CUDA_PATH",
       "CUDA_VISIBLE_DEVICES", "CUBLASLT_WORKSPACE_SIZE", "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE",
       "NVIDIA_VISIBLE_DEVICES",
       // Triton
       "TRITON_ALWAYS_COMPILE", "TRITON_DEFAULT_FP_FUSION", "TRITON_DISABLE_LINE_INFO", "TRITON_F32_DEFAULT",
       "TRITON_INTERPRET", "TRITON_LIBDEVICE_PATH", "TRITON_PTXAS_PATH",
       // allocators and the dynamic linker
       "GLIBC_TUNABLES", "LD_BIND_NOW", "LD_LIBRARY_PATH", "LD_PRELOAD", "MALLOC_ARENA_MAX", "MALLOC_ARENA_TEST",
       "MALLOC_CONF", "MALLOC_MMAP_MAX_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_PERTURB_", "MALLOC_TOP_PAD_",
       "MALLOC_TRIM_THRESHOLD_", "TCMALLOC_LARGE_ALLOC_REPORT_THRESHOLD", "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES",
       // which LibTorch, which Python
       "TORCHSTONE_LIBTORCH", "TORCHSTONE_PYTHON", "VIRTUAL_ENV"});
  return names;
}

Facts environment_facts(const std::vector<std::string>& more_names) {
  Facts facts;
  const auto take = [&](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    if (value != nullptr && !names_secret(name) && !looks_secret(value)) facts.emplace(name, value);
  };
  for (const auto name : result_variables()) take(std::string(name));
  for (const auto& name : more_names) take(name);
  return facts;
}

std::string machine_text(const RunInfo& run) {
  std::string machine;
  const auto add = [&](const Facts& facts, const char* key, const char* unit) {
    const std::string fact = value_in(facts, key);
    if (!fact.empty()) machine += (machine.empty() ? "" : ", ") + fact + unit;
  };
  add(run.machine, "cpu", "");
  add(run.machine, "usable_cores", " cores");
  add(run.build, "gpu", "");
  return machine;
}

std::string machine_of(const Result& result, const RunInfo& run) {
  return result.machine.empty() ? machine_text(run) : result.machine;
}

RunInfo begin_run(int argc, const char* const* argv, const std::vector<std::string>& more_names) {
  RunInfo run;
  run.started = utc_now();
  run.id = fmt::format("{}-{:x}", run.started, getpid());
  run.argv = without_secrets({argv, argv + argc});
  std::error_code ignored;
  run.directory = std::filesystem::current_path(ignored).string();
  run.machine = machine_facts();
  run.environment = environment_facts(more_names);
  return run;
}

}  // namespace torchstone
