// quickstart.sh on machines that lack programs. Each fake machine is a folder of programs that record their calls.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A machine with only a shell, its basic tools and a copy of quickstart.sh.
class Machine {
 public:
  Machine() {
    fs::create_directories(bin_);
    fs::create_directories(root_ / "cmake");
    for (const char* script : {"quickstart.sh", "cmake/setup.sh", "cmake/torch_versions"})
      fs::copy_file(fs::path(TORCHSTONE_SOURCE_DIR) / script, root_ / script);
    for (const char* tool :
         {"awk", "bash", "cat", "cp", "dirname", "env", "mkdir", "nproc", "rm", "sed", "sort", "timeout"})
      for (const char* folder : {"/usr/bin/", "/bin/"})
        if (fs::exists(std::string(folder) + tool) && !fs::exists(bin_ / tool))
          fs::create_symlink(std::string(folder) + tool, bin_ / tool);
  }

  /// Adds a program that records its call and then runs the script.
  void has(const std::string& name, const std::string& script = "") { write_program(bin_ / name, script); }
  void lacks(const std::string& name) { fs::remove(bin_ / name); }
  void user(const std::string& id) { has("id", "echo " + id); }
  /// Adds CMake of this version. It does not find the libraries of the packages `missing` until apt-get installs them.
  void has_cmake(const std::string& version = "3.28.1", const std::string& missing = "") {
    std::ofstream(root_ / "missing") << missing;
    has("cmake", "case \"$*\" in --version) echo cmake version " + version + R"( ;; *probe*)
      read -r missing <missing || [ -n "$missing" ] || exit 0
      echo "-- Missing Debian packages: $missing"; exit 1 ;; esac)");
  }
  /// Adds apt-get, which can install every package except `absent`.
  void has_apt(const std::string& absent = "nothing") {
    has("apt-get",
        "case \"$*\" in *" + absent + "*) exit 100 ;; *\" cmake\"*) cp later/* bin ;; install*) : >missing ;; esac");
  }
  /// Removes a program until apt-get installs the package cmake.
  void comes_with_cmake(const std::string& name) {
    fs::create_directories(root_ / "later");
    fs::rename(bin_ / name, root_ / "later" / name);
  }
  /// Adds everything that a build needs, with torch in the Python environment.
  void has_all() {
    has_cmake();
    for (const char* program : {"ninja", "c++"}) has(program);
    has_python("2.13.0+cpu");
    user("1000");
  }
  /// Adds a Python with this version of torch.
  void has_python(const std::string& torch) { has("python3", python_with(torch)); }
  static std::string python_with(const std::string& torch) {
    return "case \"$*\" in *importlib*) version=" + torch + "; echo ${version%%+*} ;; esac";
  }
  /// Adds a CMake that finds LibTorch of this version.
  void has_libtorch(const std::string& version) {
    has("cmake", "case \"$*\" in --version) echo cmake version 3.28.1 ;; *'-S . -B build'*) echo \"-- LibTorch " +
                     version + " in /somewhere\" ;; esac");
  }
  void write_program(const fs::path& path, const std::string& script) const {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/bash\n[ \"$*\" = --version ] || echo \"" << path.filename().string() << " $*\" >>"
                        << (root_ / "calls").string() << "\n"
                        << script << "\n";
    fs::permissions(path, fs::perms::owner_all);
  }

  ProgramRun run(std::vector<std::string> job, const std::vector<std::string>& variables = {}) const {
    std::vector<std::string> words{"/usr/bin/env", "-i", "PATH=" + bin_.string(), "HOME=" + root_.string()};
    words.insert(words.end(), variables.begin(), variables.end());
    words.insert(words.end(), {(bin_ / "bash").string(), (root_ / "quickstart.sh").string()});
    words.insert(words.end(), job.begin(), job.end());
    return run_program(words);
  }
  ProgramRun build() const { return run({"build"}, {"TORCHSTONE_PYTHON=python3"}); }

  /// Returns all recorded calls that begin with `words`.
  std::vector<std::string> calls(const std::string& words) const {
    std::vector<std::string> found;
    std::ifstream file(root_ / "calls");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with(words)) found.push_back(line);
    return found;
  }
  const fs::path& root() const { return root_; }

 private:
  TemporaryFolder folder_;
  fs::path root_ = folder_.path(), bin_ = root_ / "bin";
};

TEST(Quickstart, NeedsNoPackageWhereProgramsComeFromAPythonEnvironment) {
  Machine machine;  // no apt-get, no dpkg, no ccache
  machine.has_all();
  const ProgramRun run = machine.build();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(machine.calls("cmake -S . -B build"), ElementsAre(HasSubstr("-GNinja")));
  EXPECT_THAT(machine.calls("cmake --build"), ElementsAre(HasSubstr("--target torchstone torchstone-report")));
}

TEST(Quickstart, AsksForNothingThatIsOnlyConvenient) {
  Machine machine;
  machine.has_all();
  machine.has_apt();
  machine.user("0");
  EXPECT_EQ(machine.build().exit_code, 0);
  EXPECT_THAT(machine.calls("apt-get"), IsEmpty());
}

TEST(Quickstart, InstallsExactlyWhatCMakeDoesNotFind) {
  Machine machine;
  machine.has_all();
  machine.has("ccache");
  machine.has_cmake("3.25.0", "libyaml-cpp-dev");
  machine.has_apt();
  machine.user("0");
  const ProgramRun run = machine.build();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(machine.calls("apt-get"),
              ElementsAre("apt-get update -qq", "apt-get install -y -qq --no-install-recommends libyaml-cpp-dev"));
}

TEST(Quickstart, AsksCMakeForTheLibrariesAsSoonAsThereIsOne) {
  Machine machine;
  machine.has_all();
  machine.has("ccache");
  machine.has_cmake("3.25.0", "nlohmann-json3-dev");
  machine.has_apt();
  machine.user("0");
  machine.comes_with_cmake("cmake");
  machine.comes_with_cmake("ninja");
  const ProgramRun run = machine.build();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(machine.calls("apt-get"),
              ElementsAre("apt-get update -qq", HasSubstr("--no-install-recommends cmake ninja-build"),
                          HasSubstr("--no-install-recommends nlohmann-json3-dev")));
}

TEST(Quickstart, UsesSudoThatAsksForNoPassword) {
  Machine machine;
  machine.has_all();
  machine.has_cmake("3.25.0", "libcli11-dev");
  machine.has_apt();
  machine.has("sudo", "[ \"$1\" = -n ] || \"$@\"");
  EXPECT_EQ(machine.build().exit_code, 0);
  EXPECT_THAT(machine.calls("sudo env"), testing::Contains(HasSubstr("libcli11-dev")));
}

TEST(Quickstart, SaysWhatToTypeWhereItMayNotInstall) {
  Machine machine;
  machine.has_all();
  machine.has_cmake("3.25.0", "libfmt-dev libyaml-cpp-dev");
  machine.has_apt();
  const ProgramRun run = machine.build();
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("sudo apt-get install -y libfmt-dev libyaml-cpp-dev\n"));
  EXPECT_THAT(machine.calls("cmake -S . -B build"), IsEmpty());
  EXPECT_THAT(machine.calls("apt-get"), IsEmpty());
}

TEST(Quickstart, NamesEverythingAtOnceOnAnEmptyMachine) {
  Machine machine;
  machine.has_apt();
  machine.user("1000");
  const ProgramRun run = machine.run({"accuracy"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("install -y cmake ninja-build g++ python3-venv libgtest-dev libgmock-dev"),
                             Not(HasSubstr("ccache"))));
}

TEST(Quickstart, GoesOnWithoutWhatIsOnlyConvenient) {
  Machine machine;
  machine.has_all();
  machine.has_cmake("3.25.0", "libfmt-dev");
  machine.has_apt("ccache");
  machine.user("0");
  const ProgramRun run = machine.build();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("continuing without ccache"));
}

TEST(Quickstart, TakesMakeWhereThereIsNoNinja) {
  Machine machine;
  machine.has_all();
  machine.lacks("ninja");
  machine.has("make");
  EXPECT_EQ(machine.build().exit_code, 0);
  EXPECT_THAT(machine.calls("cmake -S . -B build"), ElementsAre(Not(HasSubstr("-G"))));
}

TEST(Quickstart, KeepsTheGeneratorOfAnOlderBuild) {
  Machine machine;
  machine.has_all();
  fs::create_directories(machine.root() / "build");
  std::ofstream(machine.root() / "build/CMakeCache.txt") << "CMAKE_GENERATOR:INTERNAL=Unix Makefiles\n";
  EXPECT_EQ(machine.build().exit_code, 0);
  EXPECT_THAT(machine.calls("cmake -S . -B build"), ElementsAre(Not(HasSubstr("-G"))));
}

TEST(Quickstart, CountsAnyCompilerThatCMakeWouldTake) {
  Machine machine;
  machine.has_all();
  machine.lacks("c++");
  EXPECT_THAT(machine.build().err, HasSubstr("install -y g++"));
  machine.has("clang++");
  EXPECT_EQ(machine.build().exit_code, 0);
  machine.lacks("clang++");
  machine.has("my-c++");
  EXPECT_EQ(machine.run({"build"}, {"TORCHSTONE_PYTHON=python3", "CXX=my-c++ -m64"}).exit_code, 0);
  const ProgramRun wrong = machine.run({"build"}, {"TORCHSTONE_PYTHON=python3", "CXX=no-c++"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("CXX=no-c++"));
}

TEST(Quickstart, SaysThatCMakeIsTooOld) {
  Machine machine;
  machine.has_all();
  machine.has_cmake("3.22.1");
  const ProgramRun run = machine.build();
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("3.25 or newer"), HasSubstr("found: 3.22.1"), HasSubstr("install -y cmake")));
}

TEST(Quickstart, ReportsWhatCMakeSaysOfAnythingElse) {
  Machine machine;
  machine.has_all();
  machine.has("cmake", "[ \"$*\" = --version ] && echo cmake version 3.28.1 || { echo broken compiler; exit 1; }");
  const ProgramRun run = machine.build();
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("broken compiler"));
}

TEST(Quickstart, BuildsTheTestsOnlyToRunThem) {
  Machine machine;
  machine.has_all();
  machine.has("python3", "case \"$*\" in *run.py*) exit 8 ;; *importlib*) echo 2.13.0 ;; esac");
  const ProgramRun run = machine.run({"test", "--all", "-R", "a b"}, {"TORCHSTONE_PYTHON=python3"});
  EXPECT_EQ(run.exit_code, 8) << "not the exit code of ctest: " << run.err;
  EXPECT_THAT(machine.calls("cmake --build"), ElementsAre(Not(HasSubstr("--target"))));
  EXPECT_THAT(machine.calls("python3 -B tests/runner"),
              ElementsAre("python3 -B tests/runner/run.py build --all -R a b"));
}

/// Runs quickstart.sh on a machine without torch and returns its messages. pip lists these versions of torch, and has
/// this wheel in a local folder.
std::string words_before_pip(const std::string& versions, const std::string& wheel = "") {
  Machine machine;
  const fs::path wheels = machine.root() / "wheels";
  fs::create_directories(wheels);
  if (!wheel.empty()) std::ofstream(wheels / wheel) << "a wheel";
  machine.has_all();
  machine.has("uname", "echo x86_64");
  machine.has("python3",
              "case \"$*\" in *importlib*) exit 1 ;; *venv*.venv) mkdir -p .venv/bin; cp pip .venv/bin ;; esac");
  machine.write_program(
      machine.root() / "pip",
      "case $1 in config) echo \"global.find-links='" + wheels.string() + "'\" ;; index) [ -n \"" + versions +
          "\" ] || exit 1; echo \"torch (9.9.9)\"; echo \"Available versions: " + versions + "\" ;; esac");
  const ProgramRun run = machine.run({"build"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(machine.calls("pip install"), ElementsAre(HasSubstr("torch==2.13.0")));
  return run.err;
}

TEST(Quickstart, SaysThatPipBringsCudaBeforeItDoes) {
  const auto said = [](const char* words) {
    return AllOf(HasSubstr(words), HasSubstr("GB"), HasSubstr("TORCHSTONE_PYTHON="), HasSubstr("PIP_INDEX_URL"));
  };
  EXPECT_THAT(words_before_pip("2.15.0, 2.13.0+cpu, 2.13.0, 2.12.0"), Not(HasSubstr("CUDA")));
  EXPECT_THAT(words_before_pip("2.13.0", "torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl"), Not(HasSubstr("CUDA")));
  if (fs::exists("/dev/nvidia0") || fs::exists("/proc/driver/nvidia/version") || fs::exists("/dev/dxg")) {
    EXPECT_THAT(words_before_pip("2.13.0"), Not(HasSubstr("CUDA")))
        << "this machine has a GPU, so CUDA needs no warning";
    return;
  }
  EXPECT_THAT(words_before_pip("2.15.0+cpu, 2.13.0, 2.12.0+cpu"), said("pip brings torch with CUDA"));
  EXPECT_THAT(words_before_pip("2.13.0+cu130, 2.13.0+cpu"), said("pip brings torch with CUDA"));
  EXPECT_THAT(words_before_pip(""), said("pip may bring torch with CUDA"));
}

TEST(Quickstart, WarnsOfATorchThatIsNewerThanTheTestedOnes) {
  Machine machine;
  machine.has_all();
  machine.has_python("2.99.0");
  machine.has_libtorch("2.99.0");
  const ProgramRun run = machine.build();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("warning: torch 2.99.0 is newer than 2."));
  EXPECT_THAT(machine.calls("cmake --build"), testing::SizeIs(1));
  machine.has_libtorch("2.13.1");
  EXPECT_THAT(machine.build().err, Not(HasSubstr("warning")));
}

TEST(Quickstart, NamesTheTorchThatItRefuses) {
  Machine machine;
  machine.has_all();
  machine.has_python("2.10.0");
  const ProgramRun old = machine.build();
  EXPECT_EQ(old.exit_code, 2);
  EXPECT_THAT(old.err, HasSubstr("TORCHSTONE_PYTHON=python3 has torch 2.10.0 (expected torch 2.11 or newer)"));
  machine.has("python3", "exit 1");
  EXPECT_THAT(machine.build().err, HasSubstr("TORCHSTONE_PYTHON=python3 has no torch (expected"));
}

TEST(Quickstart, TakesAPythonOnlyWithTheTorchThatIsAskedFor) {
  Machine machine;
  machine.has_all();
  const ProgramRun other = machine.run({"build"}, {"TORCHSTONE_PYTHON=python3", "TORCHSTONE_TORCH=2.14.1"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("has torch 2.13.0 (expected torch 2.14.1, which TORCHSTONE_TORCH asks for)"));
  EXPECT_EQ(machine.run({"build"}, {"TORCHSTONE_PYTHON=python3", "TORCHSTONE_TORCH=2.13.0"}).exit_code, 0);
  machine.has_python("2.14.1");
  machine.write_program(machine.root() / ".venv/bin/python", Machine::python_with("2.13.0"));
  EXPECT_EQ(machine.run({"build"}, {"TORCHSTONE_TORCH=2.14.1"}).exit_code, 0);
  EXPECT_THAT(machine.calls("cmake -S . -B build").back(), HasSubstr("bin/python3"));
  for (const char* refused : {"2.9.1", "newest", "2.14", "2.14.1/x"}) {
    const ProgramRun run = machine.run({"build"}, {std::string("TORCHSTONE_TORCH=") + refused});
    EXPECT_EQ(run.exit_code, 2) << refused;
    EXPECT_THAT(run.err, HasSubstr(std::string("TORCHSTONE_TORCH=") + refused));
  }
}

TEST(Quickstart, ReplacesTheLibTorchOfAnEarlierBuild) {
  Machine machine;
  machine.has_all();
  EXPECT_EQ(machine.run({"build"}, {"TORCHSTONE_LIBTORCH=/libtorch"}).exit_code, 0);
  EXPECT_EQ(machine.run({"build"}, {"TORCHSTONE_TORCH=2.13.0"}).exit_code, 0);
  EXPECT_THAT(machine.calls("cmake -S . -B build"),
              ElementsAre(HasSubstr("-DTORCHSTONE_LIBTORCH=/libtorch"), HasSubstr("-DTORCHSTONE_LIBTORCH:PATH= ")));
}

TEST(Quickstart, InstallsTheTorchThatIsAskedForInAFolderOfItsOwn) {
  Machine machine;
  machine.has_all();
  machine.has("uname", "echo x86_64");
  machine.write_program(machine.root() / ".venv/bin/python", Machine::python_with("2.13.0"));
  machine.write_program(machine.root() / "pip", "");
  machine.has(
      "python3",
      "case \"$*\" in *importlib*) exit 1 ;; *venv*.venv-2.14.1) mkdir -p .venv-2.14.1/bin; cp pip .venv-2.14.1/bin ;; "
      "esac");
  const ProgramRun run = machine.run({"build"}, {"TORCHSTONE_TORCH=2.14.1"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("creating .venv-2.14.1 with torch 2.14.1"));
  EXPECT_THAT(machine.calls("pip install"), ElementsAre(HasSubstr("torch==2.14.1")));
  EXPECT_THAT(machine.calls("cmake -S . -B build"), ElementsAre(HasSubstr("/.venv-2.14.1/bin/python")));
  EXPECT_THAT(machine.run({"build"}, {"TORCHSTONE_TORCH=2.14.1+cpu"}).err,
              AllOf(HasSubstr("with torch 2.14.1+cpu"), Not(HasSubstr("CUDA"))));
}

}  // namespace
}  // namespace torchstone
