#!/usr/bin/env python3
"""Tests cmake/TorchReleases.cmake in one build folder that is configured with different LibTorch versions in turn."""
import pathlib
import subprocess
import tempfile
import unittest

RELEASES = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "TorchReleases.cmake"
SYMBOL = "_ZN5torch8nativert17ModelRunnerHandle27runWithFlatInputsAndOutputsESt6vectorIN3c106IValueESaIS4_EE"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(releases CXX)
set(oldest_torch 2.11)
set(newest_tested_torch 2.13)
add_library(LibTorch::torch INTERFACE IMPORTED GLOBAL)
target_link_libraries(LibTorch::torch INTERFACE ${LIBTORCH_ROOT}/lib/libtorch.so)
function(torchstone_source_properties)
  message(STATUS "properties ${ARGN}")
endfunction()
include(%s)
""" % RELEASES


class OneBuildFolder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "CMakeLists.txt").write_text(PROJECT)

    def has_libtorch(self, name, source):
        root = self.folder / name
        header = root / "include/torch/csrc/api/include/torch/nativert/ModelRunnerHandle.h"
        header.parent.mkdir(parents=True)
        header.touch()
        (root / "lib").mkdir()
        (root / "source.cpp").write_text(source)
        subprocess.run(["c++", "-shared", "-fPIC", root / "source.cpp", "-o", root / "lib/libtorch.so"], check=True)

    def configured(self, name, version):
        """Runs CMake and returns its output on both streams."""
        return subprocess.run(["cmake", "-S", self.folder, "-B", self.folder / "build", f"-DLIBTORCH_ROOT={self.folder / name}",
                               f"-DLIBTORCH_VERSION={version}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

    def test_each_libtorch_is_asked_for_nativert(self):
        self.has_libtorch("with", f'extern "C" void {SYMBOL}() {{}}')
        self.has_libtorch("without", "")
        with_it, without_it = "backends/nativert.cpp", "exports no NativeRT"
        for name, version, words in (("with", "2.12.1", with_it), ("without", "2.13.0", without_it), ("with", "2.12.1", with_it)):
            self.assertIn(words, self.configured(name, version), name)

    def test_an_older_release_is_refused_and_a_newer_one_has_a_warning(self):
        self.assertIn("LibTorch 2.10.0 in", self.configured("none", "2.10.0"))
        self.assertIn("is newer than 2.13", " ".join(self.configured("none", "2.14.1").split()))


if __name__ == "__main__":
    unittest.main()
