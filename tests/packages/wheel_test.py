"""wheel_test.py --build BUILD …: installs the wheel that pip makes from a build folder next to torch, and tests it.
Exits with 77 and the reason if scikit-build-core or a virtual environment is not available."""
import os
import re
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

import elf
from installed import SOURCE, VERSION, Sample, check_versions, make, other_torch, parse_arguments, run, skip, torch_version

BACKEND = "scikit-build-core>=1.1"
# Libraries that every Linux system has. A wheel must not contain them (PEP 600).
SYSTEM = re.compile(r"ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|z)\.so")
arguments, sample, wheel, environment, judged = None, None, None, None, None


def builder():
    """Returns a Python with pip and scikit-build-core, which is kept in the build folder."""
    folder = arguments.build / "tests/packages/builder"
    python = folder / "bin/python"
    has_both = "import scikit_build_core, pip"
    if python.exists() and subprocess.run([str(python), "-c", has_both], stderr=subprocess.DEVNULL).returncode == 0:
        return python
    try:
        make(sys.executable, "-m", "venv", "--clear", folder)
        make(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", BACKEND, "pip>=23.1")
    except RuntimeError as error:
        skip(f"{BACKEND} cannot be had: {error}")
    return python


def build_wheel(folder, *options, **variables):
    """Returns the path of the wheel that pip makes in the folder."""
    tools = os.pathsep.join(str(tool.parent) for tool in (arguments.cmake, arguments.ninja))
    make(builder(), "-m", "pip", "wheel", SOURCE, "--no-deps", *options, "--disable-pip-version-check",
         "-w", folder, "-C", "cmake.source-dir=cmake/wheel/prebuilt", "-C", f"cmake.define.TORCHSTONE_BUILD={arguments.build}",
         PATH=f"{tools}{os.pathsep}{os.environ['PATH']}", **variables)
    [made] = folder.iterdir()
    return made


def make_wheel():
    made = build_wheel(sample.folder / "wheels", "--no-build-isolation", TORCHSTONE_PYTHON=sys.executable)
    print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB", flush=True)
    return made


def fresh_environment(name):
    folder = sample.folder / name
    make(sys.executable, "-m", "venv", "--without-pip", folder)
    [site] = folder.glob("lib/python3*/site-packages")
    return folder, site


def install(folder, *options):
    """Installs the wheel without an index, so its requirements have to be installed already. Ignores the machine's
    pip.conf, which may constrain versions."""
    make(builder(), "-m", "pip", "--isolated", "--python", folder / "bin/python", "install", "--no-index",
         "--disable-pip-version-check", *options, wheel, PIP_CONFIG_FILE=os.devnull)


def setUpModule():
    global wheel, environment, judged
    wheel = make_wheel()
    environment, site = fresh_environment("venv")
    # Links torch and its dependencies from this Python's site-packages into those of the environment.
    for entry in arguments.torch.parent.iterdir():
        if not entry.name.startswith("torchstone"):
            (site / entry.name).symlink_to(entry)
    install(environment)
    judged = sample.judge(environment / "bin/torchstone")
    print(f"judged {judged.seconds:.1f} s after the installation", flush=True)


class Wheel(unittest.TestCase):
    def test_it_judges_a_file_within_a_minute_without_a_compiler(self):
        judged.check(self)
        self.assertLess(judged.seconds, 60)

    def test_its_programs_say_their_version(self):
        check_versions(self, environment / "bin")
        self.assertIn(f"\nVersion: {VERSION}\n", self.metadata())

    def test_it_compiles_with_the_python_it_is_installed_in(self):
        self.assertEqual(judged.results["environment"]["TORCHSTONE_PYTHON"], str(environment / "bin/python"))

    def test_it_finds_its_suites(self):
        done = run(environment / "bin/torchstone", "--torchstone_list=cases", "--torchstone_suite=torchbench")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("resnet18", done.stdout)

    def test_a_reproduction_starts_the_command_that_was_typed(self):
        self.assertIn(str(environment / "bin/torchstone"), judged.rows["torchscript"]["reproduce"])

    def test_an_isolated_build_takes_the_torch_of_the_active_environment(self):
        active = Path(sys.executable).parents[1]
        made = build_wheel(sample.folder / "isolated", VIRTUAL_ENV=str(active), TORCHSTONE_PYTHON="", TORCHSTONE_LIBTORCH="")
        self.assertEqual(made.name, wheel.name)
        with zipfile.ZipFile(made) as archive:
            [name] = [name for name in archive.namelist() if name.endswith("/METADATA")]
            self.assertIn(f"\nRequires-Dist: torch=={torch_version(arguments.torch)}\n", archive.read(name).decode())

    def test_its_libraries_find_libtorch_by_themselves(self):
        [program] = environment.glob("lib/python3*/site-packages/torchstone/lib/torchstone/torchstone")
        done = run(program, "--version")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_another_torch_beside_it_is_named(self):
        fresh, site = fresh_environment("other_venv")
        with self.assertRaisesRegex(RuntimeError, "No matching distribution found for torch=="):
            install(fresh)
        install(fresh, "--no-deps")
        done = run(fresh / "bin/torchstone", "--version")
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("has no torch", done.stdout)
        (other_torch(site / "torch") / "__init__.py").write_text("")
        for program in ("torchstone", "torchstone-report"):
            done = run(fresh / "bin" / program, "--version")
            self.assertEqual(done.returncode, 4, done.stdout)
            self.assertIn(f"no LibTorch {torch_version(arguments.torch)}, which this program was built for", done.stdout)
            self.assertIn("LibTorch 2.9.1", done.stdout)

    def test_it_requires_the_torch_it_was_built_with(self):
        self.assertIn(f"\nRequires-Dist: torch=={torch_version(arguments.torch)}\n", self.metadata())

    def test_it_holds_what_a_machine_may_lack_and_nothing_of_libtorch(self):
        files = elf.elf_files(self.unpacked())
        inside = {path.name for path in files}
        of_torch = {path.name for path in (arguments.torch / "lib").iterdir()}
        self.assertEqual(inside & of_torch, set())
        self.assertEqual([name for name in inside if SYSTEM.match(name)], [])
        for path in files:
            lacking = [name for name in elf.needed(path) - inside - of_torch if not SYSTEM.match(name)]
            self.assertEqual(lacking, [], path.name)
            for folder in elf.run_paths(path) if path.name.startswith(("libtorchstone", "torchstone")) else []:
                self.assertTrue(folder.startswith("$ORIGIN"), f"{path.name}: {folder}")

    def test_its_tag_promises_no_older_c_library_than_it_needs(self):
        name = rf"torchstone-{re.escape(VERSION)}-py3-none-manylinux_(\d+)_(\d+)_{os.uname().machine}\.whl"
        tag = re.fullmatch(name, wheel.name)
        self.assertTrue(tag, wheel.name)
        newest = max(elf.newest_glibc(path) for path in elf.elf_files(self.unpacked()))
        self.assertLessEqual(newest, (int(tag[1]), int(tag[2])))

    def unpacked(self):
        folder = sample.folder / "unpacked"
        if not folder.exists():
            zipfile.ZipFile(wheel).extractall(folder)
        return folder

    def metadata(self):
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(f"torchstone-{VERSION}.dist-info/METADATA").decode()


if __name__ == "__main__":
    arguments, sample = parse_arguments(), Sample()
    sys.argv[1:] = []
    unittest.main(verbosity=2)
