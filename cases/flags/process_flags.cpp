#include "cases/flags/flag_types.h"

namespace torchstone::flags {
namespace {

const config::Words<Isolation>& isolations() {
  static const config::Words<Isolation> words{
      {"fresh", Isolation::fresh}, {"shared", Isolation::shared}, {"off", Isolation::off}};
  return words;
}

const config::Words<Diagnose>& diagnoses() {
  static const config::Words<Diagnose> words{
      {"auto", Diagnose::automatic}, {"always", Diagnose::always}, {"never", Diagnose::never}};
  return words;
}

}  // namespace

std::vector<FlagInfo> process_flags() {
  return {
      word_flag(
          "isolate", isolations(), "a child process for each case, one for many, or none",
          [](Flags & f) -> auto& { return f.run.isolate; }),
      boolean_flag(
          "interleave",
          "timed cases take turns, process by process, up to 12 at a time: what disturbs the machine for some seconds "
          "does not meet all processes of one case",
          [](Flags & f) -> auto& { return f.run.interleave; })
          .used_by(config::timed_cases()),
      word_flag(
          "diagnose", diagnoses(),
          "find what the compiled program is wrong in: of cases that fail unexpectedly, of all, or of none",
          [](Flags & f) -> auto& { return f.run.diagnose; }),
      number_flag(
          "diagnose_limit", "SECONDS", 1.0, no_limit,
          "for the diagnosis of one case; what was found until then is kept",
          [](Flags & f) -> auto& { return f.run.diagnose_limit_s; }),
      number_flag(
          "diagnose_max", "N", int64_t{0}, int64_t{1} << 40,
          "cases of a run that are diagnosed, at most half of them further ones of the same models; 0: no limit",
          [](Flags & f) -> auto& { return f.run.diagnose_max; })
          .of_output()
          .otherwise("10; with --torchstone_diagnose=always no limit"),
      number_flag(
          "memory_limit", "GB", 0.0, no_limit, "of one case", [](Flags & f) -> auto& { return f.run.memory_limit_gb; })
          .otherwise("nine tenths of the machine's"),
      text_flag(
          "python", "FILE", "interpreter of the compile workers", [](Flags & f) -> auto& { return f.run.python; })
          .is_path()
          .otherwise("the one of the build"),
      number_flag(
          "workers", "N", int64_t{0}, int64_t{1024},
          "compile workers; with 1 each case compiles alone, when it is its turn",
          [](Flags & f) -> auto& { return f.run.workers; })
          .of_output()
          .otherwise("one a core"),
      number_flag(
          "compile_limit", "SECONDS", 1.0, no_limit, "for one program",
          [](Flags & f) -> auto& { return f.run.compile_limit_s; }),
      text_flag(
          "cache", "FOLDER|off", "compiled programs", [](Flags & f) -> auto& { return f.run.cache; })
          .is_path()
          .otherwise("~/.cache/torchstone"),
      number_flag(
          "cache_limit", "MB", int64_t{0}, int64_t{1} << 40, "size the cache is pruned to",
          [](Flags & f) -> auto& { return f.run.cache_limit_mb; })
          .of_output(),
  };
}

}  // namespace torchstone::flags
