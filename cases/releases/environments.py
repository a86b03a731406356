"""Makes a Python environment and a build of Torchstone for each release of torch, and keeps them in a folder."""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys

import release

PIP_LIMIT_S, BUILD_LIMIT_S, LIST_LIMIT_S, VERSION_LIMIT_S = 2 * 3600, 4 * 3600, 120, 120
TARGETS = ("torchstone", "torchstone-report")


class Unusable(Exception):
    """Raised if a release cannot be used. Its text names what failed, with the lines of the log that contain the error."""


def default_cache():
    """Returns the default folder. It is not in the compile cache, which counts and removes everything in its own folder."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "torchstone-releases"


def jobs_that_fit():
    """Returns the number of cores, but at most one job per 2 GB of memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2_000_000_000
    return max(1, min(len(os.sched_getaffinity(0)), memory))


def logged(command, log, limit_s, what):
    """Runs a command with its output in the file `log`. Raises Unusable if it fails or exceeds the limit; `what` begins the
    text."""
    with open(log, "w", encoding="utf-8") as file:
        try:
            code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, env=release.environment(),
                                  timeout=limit_s).returncode
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unusable(f"{what}: {error} ({log})") from None
    if code != 0:
        raise Unusable(f"{what}: {' / '.join(telling(log.read_text(errors='replace')))[:300] or f'exit code {code}'} ({log})")


def telling(text):
    """Returns the first error line of pip, CMake or a compiler and the next three lines; without one, the last two lines."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [i for i, line in enumerate(lines) if re.match(r"ERROR: |CMake Error|.*\berror: ", line)]
    return lines[found[0]:found[0] + 4] if found else lines[-2:]


def difference_of(program, wanted):
    """Returns a text on how a program's LibTorch differs from a release; empty if it does not. Raises Unusable if the program
    does not run."""
    try:
        done = subprocess.run([str(program), "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              env=release.environment(), timeout=VERSION_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unusable(f"{program} --version: {error}") from None
    if done.returncode != 0:
        raise Unusable(f"{program} --version: {done.stderr.strip()[-300:] or f'exit code {done.returncode}'}")
    found = re.search(r"\(LibTorch ([^)]+)\)", done.stdout)
    if not found:
        return f"{program} is no torchstone: --version does not name its LibTorch"
    expected = release.numbers_of(wanted.name)
    return "" if found.group(1) == expected else f"{program} was built with torch {found.group(1)} (expected {expected})"


class Environments:
    """Makes and keeps environments and builds: FOLDER/RELEASE/venv and FOLDER/RELEASE/build."""

    def __init__(self, folder, source, packages=(), index="", say=print):
        self.folder, self.source, self.packages, self.index, self.say = pathlib.Path(folder), source, list(packages), index, say

    def oldest(self):
        """Returns the oldest minor release that the sources support, such as "2.11". Raises Unusable without sources."""
        if not self.source:
            raise Unusable("no sources of Torchstone to build from (expected --source=FOLDER)")
        try:
            text = (pathlib.Path(self.source) / "cmake" / "torch_versions").read_text()
        except OSError:
            text = ""
        found = re.search(r"^oldest_torch=([\d.]+)$", text, flags=re.M)
        if not found:
            raise Unusable(f"no sources of Torchstone in {self.source} (expected --source=FOLDER)")
        return found.group(1)

    def installed(self, release):
        """Returns the packages of a complete environment, torch first; empty if there is no such environment."""
        stamp = self.folder / release.name / "installed"
        return stamp.read_text().splitlines() if stamp.exists() else []

    def wanted(self, release):
        return [f"torch=={release.name}", *self.packages]

    def is_installed(self, release):
        """Returns whether torch is installed. Further packages may be missing."""
        return self.installed(release)[:1] == self.wanted(release)[:1]

    def is_ready(self, release):
        """Returns whether everything is installed and a build exists. The build may be older than the sources."""
        built = (self.folder / release.name / "build" / "bin" / "torchstone").exists()
        return bool(release.program) or built and self.installed(release) == self.wanted(release)

    def program(self, release):
        """Returns the path of the program that was built with a release. Installs and builds it if needed. Raises Unusable."""
        if release.program:
            if not os.access(release.program, os.X_OK):
                raise Unusable(f"{release.program} is no program")
            return pathlib.Path(release.program).absolute()
        if not self.source:
            raise Unusable("no sources of Torchstone to build from (expected --source=FOLDER)")
        place = self.folder / release.name
        place.mkdir(parents=True, exist_ok=True)
        with open(place / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another torchstone-releases may be building it
            python = self.install(release, place)
            return self.build(release, place, python)

    def pip(self, *arguments):
        index = ["--extra-index-url", self.index] if self.index else []
        return ["-m", "pip", *arguments, "--disable-pip-version-check", *index]

    def install(self, release, place):
        """Returns the Python of the release's environment, and makes the environment if needed. A stamp file marks a complete
        environment and lists its packages. Raises Unusable."""
        venv, stamp = place / "venv", place / "installed"
        python = venv / "bin" / "python"
        if self.installed(release) == self.wanted(release):
            return python
        self.say(f"{release.name}: installing torch in {venv}")
        logged([sys.executable, "-m", "venv", str(venv)], place / "venv.log", PIP_LIMIT_S, "no environment")
        logged([str(python), *self.pip("install"), f"torch=={release.name}", *self.packages], place / "pip.log", PIP_LIMIT_S,
               f"torch {release.name} does not install")
        unfinished = stamp.with_suffix(".part")
        unfinished.write_text("\n".join(self.wanted(release)))
        unfinished.rename(stamp)
        return python

    def build(self, release, place, python):
        """Builds the release's program from the current sources and returns its path. Raises Unusable."""
        build = place / "build"
        generator = []  # an existing build keeps its generator
        if not (build / "CMakeCache.txt").exists():
            self.say(f"{release.name}: building Torchstone in {build}, which takes some minutes")
            generator = ["-GNinja"] if shutil.which("ninja") else []
        logged(["cmake", "-S", str(self.source), "-B", str(build), *generator, "-DCMAKE_UNITY_BUILD=ON", "-DTORCHSTONE_TESTS=OFF",
                f"-DTORCHSTONE_PYTHON={python}"], place / "configure.log", BUILD_LIMIT_S, "Torchstone cannot be configured")
        logged(["cmake", "--build", str(build), "--parallel", str(jobs_that_fit()), "--target", *TARGETS], place / "build.log",
               BUILD_LIMIT_S, "Torchstone does not build")
        return build / "bin" / "torchstone"

    def known_to_pip(self, nightlies=False):
        """Returns pip's output with all versions of torch, including nightlies on request or if an index is given. Raises
        Unusable."""
        before_release = ["--pre"] if nightlies or self.index else []
        try:
            asked = subprocess.run([sys.executable, *self.pip("index", "versions", "torch"), *before_release], text=True,
                                   capture_output=True, timeout=LIST_LIMIT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unusable(f"pip cannot list the releases of torch: {error}") from None
        if asked.returncode != 0:
            raise Unusable(f"pip cannot list the releases of torch: {asked.stderr.strip()[-300:]}")
        return asked.stdout
