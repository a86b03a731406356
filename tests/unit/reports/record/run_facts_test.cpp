#include "reports/record/run_facts.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/console/summary_text.h"
#include "reports/record/doubts.h"
#include "reports/write/html/page.h"
#include "tests/environment_variable.h"
#include "tests/temporary_folder.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(MachineFacts, HoldNumbersWhereNumbersBelongAndNothingEmpty) {
  const Facts facts = machine_facts();
  for (const char* key : {"cores", "usable_cores", "memory_bytes", "load_average"}) {
    ASSERT_TRUE(facts.contains(key)) << key;
    EXPECT_TRUE(parse_number(facts.at(key)).has_value()) << key << " " << facts.at(key);
  }
  for (const auto& [key, value] : facts) EXPECT_FALSE(value.empty()) << key;
}

TEST(MachineFacts, NameTheHostOnlyByAHash) {
  const std::string host = machine_facts().at("host");
  EXPECT_EQ(host.size(), 16u);
  EXPECT_EQ(host.find_first_not_of("0123456789abcdef"), std::string::npos) << host;
  EXPECT_EQ(host, machine_facts().at("host"));
}

TEST(MachineFacts, ReadWhatDisturbsTimings) {
  const TemporaryFolder root;
  const auto write = [&](const char* file, const char* text) {
    const auto path = root.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  };
  write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu hypervisor lm");
  write("proc/stat", "cpu  50 0 20 900 10 0 0 20 0 0\ncpu0 1 2 3 4 5 6 7 8");
  write("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never");
  write("sys/devices/system/cpu/smt/active", "0");
  write("sys/devices/system/cpu/intel_pstate/no_turbo", "1");
  write("sys/devices/system/cpu/cpufreq/boost", "1");
  write("sys/fs/cgroup/cpu.max", "150000 100000");
  const Facts facts = machine_facts(root.path());
  EXPECT_EQ(facts.at("cpu"), "Some CPU");
  EXPECT_EQ(facts.at("virtual_machine"), "yes");
  EXPECT_EQ(facts.at("steal_since_boot_pct"), "2");
  EXPECT_EQ(facts.at("transparent_hugepages"), "always");
  EXPECT_EQ(facts.at("smt"), "off");
  EXPECT_EQ(facts.at("turbo"), "off");  // intel_pstate decides before cpufreq
  EXPECT_EQ(facts.at("cpu_quota"), "1.5");
}

TEST(MachineFacts, TheQuotaIsOfTheNearestCgroupThatHasOne) {
  const TemporaryFolder root;
  const auto write = [&](const char* file, const char* text) {
    const auto path = root.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  };
  const auto quota = [&] {
    const Facts facts = machine_facts(root.path());
    return facts.contains("cpu_quota") ? facts.at("cpu_quota") : "none";
  };
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), "none");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000");
  EXPECT_EQ(quota(), "3");
  write("sys/fs/cgroup/cpu.max", "200000 100000");
  EXPECT_EQ(quota(), "2");
  write("proc/self/cgroup", "1:name=systemd:/x\n0::/a.slice/b");
  EXPECT_EQ(quota(), "2");
  write("sys/fs/cgroup/a.slice/b/cpu.max", "50000 100000");
  EXPECT_EQ(quota(), "0.5");
  write("sys/fs/cgroup/a.slice/cpu.max", "25000 100000");
  EXPECT_EQ(quota(), "0.25") << "the limit of a parent group counts, too";
}

TEST(MachineFacts, AreAbsentWhereTheMachineDoesNotTell) {
  const TemporaryFolder root;
  for (const auto& [key, value] : machine_facts(root.path()))
    EXPECT_THAT((std::set<std::string>{"architecture", "cores", "usable_cores", "load_average", "host", "kernel"}),
                testing::Contains(key));
}

TEST(MachineFacts, OfDamagedTextAreNone) {
  for (const char* text : {"", "always madvise never", "[always", "always]", "[]", "[always madvise]", "]["})
    EXPECT_EQ(bracketed_word(text), "") << text;
  EXPECT_EQ(bracketed_word("always madvise [never]"), "never");
  for (const char* text : {"", "2", "-1", "yes", "1 1"}) EXPECT_EQ(switch_word(text, "on"), "") << text;
  EXPECT_EQ(switch_word("1\n", "on"), "on");
  EXPECT_EQ(switch_word("0", "off"), "on");
  for (const char* text :
       {"", "max 100000", "100000", "0 100000", "100000 0", "-5 100000", "nan 1", "1 2 3", "1e5 1e5"})
    EXPECT_EQ(cpu_quota(text), std::nullopt) << text;
  EXPECT_EQ(cpu_quota("50000 100000\n"), 0.5);
  for (const char* text : {"", "cpu", "cpu 1 2 3 4 5 6 7", "cpu0 1 2 3 4 5 6 7 8", "cpu 0 0 0 0 0 0 0 0",
                           "cpu 1 2 3 -4 5 6 7 8", "cpu 1 2 3 x 5 6 7 8"})
    EXPECT_EQ(steal_since_boot_pct(text), std::nullopt) << text;
  EXPECT_EQ(steal_since_boot_pct("cpu  25 0 0 50 0 0 0 25 7 7\n"), 25);
  for (const char* text : {"", "0::", "1:cpu:/a\n", "10::/a", "0::/\n", "x0::/a"})
    EXPECT_EQ(cgroup_folder(text), "") << text;
  EXPECT_EQ(virtual_machine(""), "");
  EXPECT_EQ(virtual_machine("processor: 0\nFeatures: fp asimd hypervisor\n"), "");
  EXPECT_EQ(virtual_machine("processor: 0\nflags: fpu\nbugs: hypervisor\n"), "no");
  EXPECT_EQ(virtual_machine("processor: 0\nflags: fpu no_hypervisor"), "no");
}

TEST(MachineDoubts, AreOneSentenceForEachFactThatDisturbs) {
  EXPECT_THAT(machine_doubts(Facts{}), IsEmpty());
  const Facts quiet = {{"governor", "performance"},
                       {"turbo", "off"},
                       {"smt", "off"},
                       {"virtual_machine", "no"},
                       {"cpu_quota", "4"},
                       {"usable_cores", "4"},
                       {"steal_since_boot_pct", "0.5"},
                       {"transparent_hugepages", "madvise"}};
  EXPECT_THAT(machine_doubts(quiet), IsEmpty());
  for (const char* governor : {"ondemand", "conservative", "schedutil"})
    EXPECT_THAT(machine_doubts({{"governor", governor}}),
                ElementsAre(HasSubstr(std::string("governor is ") + governor)));
  const Facts restless = {{"governor", "powersave"},
                          {"turbo", "on"},
                          {"smt", "on"},
                          {"virtual_machine", "yes"},
                          {"cpu_quota", "1.5"},
                          {"usable_cores", "2"},
                          {"steal_since_boot_pct", "3.25"},
                          {"transparent_hugepages", "always"}};
  EXPECT_THAT(machine_doubts(restless),
              ElementsAre(HasSubstr("governor is powersave"), HasSubstr("Turbo is on"), HasSubstr("SMT is on"),
                          HasSubstr("huge pages are always on"), HasSubstr("virtual machine"), HasSubstr("3.2 %"),
                          HasSubstr("the time of 1.5 of 2 usable cores")));
}

TEST(MachineDoubts, AreForRunsThatTime) {
  const Facts machine = {{"smt", "on"}};
  Result accuracy, performance;
  performance.outcome.metrics["speedup"] = 1.1;
  EXPECT_THAT(machine_doubts({accuracy}, machine), IsEmpty());
  EXPECT_THAT(machine_doubts({accuracy, performance}, machine), ElementsAre(HasSubstr("SMT is on")));
}

TEST(MachineDoubts, NameOtherProgramsFirst) {
  const Facts machine = {{"virtual_machine", "yes"}};
  Result timed, accuracy;
  timed.outcome.metrics = {{"speedup", 1.1}, {"foreign_cpu_pct", 80}};
  accuracy.outcome.metrics["foreign_cpu_pct"] = 99;
  EXPECT_EQ(machine_doubts_line({timed, accuracy}, machine),
            "Timings vary on this machine (other programs used 80 % of the cores, virtual machine)");
  EXPECT_THAT(machine_doubts({timed}, machine), ElementsAre(HasSubstr("Stop them"), HasSubstr("virtual machine")));
  timed.outcome.metrics["foreign_cpu_pct"] = 3;
  EXPECT_EQ(machine_doubts_line({timed}, machine), "Timings vary on this machine (virtual machine)");
}

TEST(MachineDoubts, StandOnceInTheClosingLinesAndOnceInThePage) {
  RunInfo run = sample_run();
  auto results = sample_results();
  run.machine["smt"] = "on";
  run.machine["turbo"] = "on";
  EXPECT_THAT(console::write_summary(results, run, {}),
              AllOf(HasSubstr("\n  Timings vary on this machine (turbo, SMT); the page says what to do\n"),
                    Not(HasSubstr("SMT is on"))));
  const std::string page = write::write_html({run, results});
  EXPECT_EQ(count_of(page, "Timings vary on this machine (turbo, SMT): what to do"), 1u);
  EXPECT_EQ(count_of(page, "SMT is on"), 1u);
  EXPECT_THAT(page, HasSubstr("Turn it off, or set --torchstone_pin_threads=cores."));
  std::erase_if(results, [](const Result& r) { return r.outcome.metrics.contains("speedup"); });
  ASSERT_FALSE(results.empty());
  for (const std::string& text : {console::write_summary(results, run, {}), write::write_html({run, results})})
    EXPECT_EQ(count_of(text, "Timings vary"), 0u);
}

TEST(BeginRun, KeepsTheCommandLineAndThePlace) {
  const char* argv[] = {"./torchstone", "--gtest_filter=*"};
  const RunInfo run = begin_run(2, argv);
  EXPECT_THAT(run.argv, testing::ElementsAre("./torchstone", "--gtest_filter=*"));
  EXPECT_EQ(run.directory, std::filesystem::current_path().string());
  EXPECT_TRUE(run.id.starts_with(run.started)) << run.id;
  EXPECT_EQ(run.started.back(), 'Z');
}

TEST(BeginRun, HidesSecretsOfTheCommandLine) {
  const char* argv[] = {"./torchstone", "--something-token=planted", "--password", "planted"};
  EXPECT_THAT(begin_run(4, argv).argv,
              testing::ElementsAre("./torchstone", "--something-token=[hidden]", "--password", "[hidden]"));
}

TEST(EnvironmentFacts, AreTakenByName) {
  const EnvironmentVariable listed("OMP_NUM_THREADS", "2"), own("TORCHSTONE_OUT", "a=b"), unlisted("OMP_NO_SUCH", "x");
  const Facts facts = environment_facts({"TORCHSTONE_OUT"});
  EXPECT_EQ(facts.at("OMP_NUM_THREADS"), "2");
  EXPECT_EQ(facts.at("TORCHSTONE_OUT"), "a=b");
  for (const char* name : {"OMP_NO_SUCH", "PATH", "HOME"}) EXPECT_FALSE(facts.contains(name)) << name;
}

TEST(EnvironmentFacts, HoldNoSecret) {
  const EnvironmentVariable planted("NVIDIA_API_KEY", "planted"), token("CUDA_TOKEN", "planted");
  const EnvironmentVariable secret("TORCH_SECRET", "planted"), address("LD_PRELOAD", "ftp://user:planted@host/lib.so");
  // Names in the list do not reveal secrets either.
  for (const auto& [name, value] : environment_facts({"NVIDIA_API_KEY", "TORCH_SECRET"}))
    EXPECT_THAT(value, testing::Not(testing::HasSubstr("planted"))) << name;
}

TEST(ResultVariables, AreNamedOnceAndNameNoSecret) {
  std::set<std::string_view> seen;
  for (const auto name : result_variables()) {
    EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_FALSE(names_secret(name)) << name;
  }
}

}  // namespace
}  // namespace torchstone
