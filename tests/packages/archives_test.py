"""archives_test.py --build BUILD …: unpacks and tests the .deb and the .tar.gz that cpack makes from a build folder."""
import re
import shutil
import subprocess
import sys
import tarfile
import unittest

import elf
from installed import SOURCE, VERSION, Sample, check_versions, make, other_torch, parse_arguments, run, torch_version

arguments, sample, packages = None, None, None


def setUpModule():
    global packages
    packages = sample.folder / "packages"
    make(arguments.cmake.with_name("cpack"), "--config", arguments.build / "CPackConfig.cmake", "-B", packages)
    for package in packages.glob("torchstone*.*"):
        print(f"{package.name}: {package.stat().st_size / 1e6:.1f} MB", flush=True)


class Archive(unittest.TestCase):
    def setUp(self):
        self.root = sample.folder / self.id()
        self.root.mkdir()

    def unpacked(self):
        """Unpacks the .tar.gz, moves the folder elsewhere, and returns its new path."""
        [archive] = packages.glob(f"torchstone-{VERSION}-linux-*.tar.gz")
        with tarfile.open(archive) as tar:
            tar.extractall(self.root / "first", **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}))
        [folder] = (self.root / "first").iterdir()
        return folder.rename(self.root / "moved")

    def test_the_tar_gz_judges_a_file_wherever_it_is_moved(self):
        folder = self.unpacked()
        check_versions(self, folder / "bin", TORCHSTONE_LIBTORCH=arguments.torch)
        judged = sample.judge(folder / "bin/torchstone", TORCHSTONE_LIBTORCH=arguments.torch)
        judged.check(self)
        self.assertIn("libfmt", " ".join(path.name for path in folder.rglob("*.so*")))

    def test_no_file_says_where_it_was_built(self):
        for path in elf.elf_files(self.unpacked()):
            for folder in elf.run_paths(path):
                self.assertTrue(folder.startswith("$ORIGIN"), f"{path.name}: {folder}")

    def test_a_link_to_the_program_is_as_good(self):
        link = self.root / "torchstone"
        link.symlink_to(self.unpacked() / "bin/torchstone")
        done = run(link, "--version", PATH="/usr/bin:/bin", TORCHSTONE_PYTHON=sys.executable)
        self.assertEqual((done.returncode, done.stdout.split()[1]), (0, VERSION), done.stdout)

    def test_without_its_suites_it_ends_with_2_and_names_the_folder(self):
        folder = self.unpacked()
        shutil.rmtree(folder / "share/torchstone/suites")
        done = run(folder / "bin/torchstone", "--torchstone_list=cases", TORCHSTONE_LIBTORCH=arguments.torch)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(str(folder / "share/torchstone/suites"), done.stdout)

    def test_without_its_libtorch_it_ends_with_4_and_says_which_one_it_needs(self):
        folder = self.unpacked()
        for given, words in ((self.root, "no LibTorch"), (other_torch(self.root / "other"), "LibTorch 2.9.1")):
            for program in ("torchstone", "torchstone-report"):
                done = run(folder / "bin" / program, "--version", TORCHSTONE_LIBTORCH=given)
                self.assertEqual(done.returncode, 4, done.stdout)
                self.assertIn(f"TORCHSTONE_LIBTORCH: {words} in {given}", done.stdout)
                self.assertIn(f"no LibTorch {torch_version(arguments.torch)}, which this program was built for", done.stdout)
        done = run(folder / "bin/torchstone", "--version", TORCHSTONE_PYTHON="/no/such/python")
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("/no/such/python", done.stdout)

    def test_find_package_takes_it_where_it_is_and_no_other_libtorch(self):
        folder = self.unpacked()
        configure = [arguments.cmake, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={arguments.ninja}", "-S",
                     SOURCE / "examples/model_plugin", f"-DCMAKE_PREFIX_PATH={folder}"]
        make(*configure, "-B", self.root / "build", f"-DTORCHSTONE_LIBTORCH={arguments.torch}")
        found = re.search(r"Torchstone_DIR:PATH=(.*)", (self.root / "build/CMakeCache.txt").read_text()).group(1)
        self.assertEqual(found, str(folder / "lib/cmake/Torchstone"))
        with self.assertRaisesRegex(RuntimeError, r"was built for LibTorch"):
            make(*configure, "-B", self.root / "other_build", f"-DTORCHSTONE_LIBTORCH={other_torch(self.root / 'other')}")

    @unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb")
    def test_the_deb_judges_a_file_and_names_what_it_needs(self):
        [package] = packages.glob(f"torchstone_{VERSION}_*.deb")
        make("dpkg-deb", "-x", package, self.root)
        self.assertEqual(make("dpkg-deb", "-f", package, "Version").strip(), VERSION)
        if shutil.which("dpkg-shlibdeps"):
            depends = make("dpkg-deb", "-f", package, "Depends")
            for library in ("libc6", "libstdc++6", "libfmt", "libyaml-cpp"):
                self.assertIn(library, depends)
            self.assertEqual(list(self.root.rglob("libfmt*")), [], "the distribution's package has it")
        usr = self.root / "usr"
        check_versions(self, usr / "bin", TORCHSTONE_PYTHON=sys.executable)
        sample.judge(usr / "bin/torchstone", TORCHSTONE_PYTHON=sys.executable).check(self)
        public = {header.name for header in SOURCE.glob("*/include/torchstone/*.h")}
        self.assertTrue({"model.h", "backend.h"} <= public)
        installed = {str(path.relative_to(usr / "include")) for path in (usr / "include").rglob("*") if path.is_file()}
        self.assertEqual(installed, {f"torchstone/{name}" for name in public}, "the public headers and no others")
        self.assertEqual([path.name for path in self.root.rglob("*") if re.match(r"lib(torch|torch_cpu|c10)\.so", path.name)], [])


if __name__ == "__main__":
    arguments, sample = parse_arguments(), Sample()
    sys.argv[1:] = []
    unittest.main(verbosity=2)
