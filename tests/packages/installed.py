"""Shared by the package tests: a model to judge, and a way to run installed programs in an empty environment."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(Torchstone VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
MAKE_MODEL = """
import sys, torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3), torch.nn.Softmax(-1)).eval()
torch.jit.trace(net, torch.randn(4, 8)).save(sys.argv[1])
torch.save([torch.randn(4, 8)], sys.argv[2])
"""


def parse_arguments():
    parser = argparse.ArgumentParser()
    for name in ("build", "cmake", "ninja", "torch"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    return parser.parse_args()


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def run(*command, **variables):
    """Runs a command with only these environment variables. PATH names a missing folder, so no compiler is found."""
    environment = {"PATH": "/no/such/folder", **{name: str(value) for name, value in variables.items()}}
    done = subprocess.run([str(word) for word in command], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    return done


def make(*command, **more):
    """Runs a build step in the environment of the test and returns its output. Raises if it fails."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, **more})
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class Sample:
    """A TorchScript file and its inputs, in a folder that is removed together with the object."""

    def __init__(self):
        self.kept = tempfile.TemporaryDirectory(prefix="torchstone-packages-")
        self.folder = Path(self.kept.name)
        self.model, self.inputs = self.folder / "my.pt", self.folder / "inputs.pt"
        make(sys.executable, "-W", "ignore", "-c", MAKE_MODEL, self.model, self.inputs)

    def judge(self, program, **variables):
        """Runs accuracy in TorchScript and in Inductor. Returns the results and the duration in seconds."""
        out = Path(tempfile.mkdtemp(dir=self.folder))
        begun = time.monotonic()
        done = run(program, f"--torchstone_only={self.model}", f"--torchstone_inputs={self.inputs}",
                   "--torchstone_checks=accuracy", "--torchstone_backends=torchscript,inductor",
                   f"--torchstone_out={out}", f"--torchstone_cache={out}/cache", **variables)
        seconds = time.monotonic() - begun
        if not (out / "results.json").exists():
            raise AssertionError(f"no results.json; exit code {done.returncode}:\n{done.stdout}")
        results = json.loads((out / "results.json").read_text())
        rows = {row["backend"]: row for row in results["results"]}
        return Judged(rows, results, done, seconds)


class Judged:
    def __init__(self, rows, results, done, seconds):
        self.rows, self.results, self.seconds = rows, results, seconds
        self.output, self.exit_code = done.stdout, done.returncode

    def check(self, test):
        """Checks that TorchScript passes without a compiler, that Inductor reports the missing compiler, and the
        version."""
        test.assertEqual(self.rows["torchscript"]["outcome"]["status"], "pass", self.output)
        inductor = self.rows["inductor"]["outcome"]
        test.assertNotEqual(inductor["status"], "pass")
        test.assertIn("no C++ compiler", json.dumps(inductor), self.output)
        test.assertEqual(self.results["build"]["torchstone"], VERSION)


def check_versions(test, folder, **variables):
    said = run(folder / "torchstone", "--version", **variables).stdout
    test.assertRegex(said, rf"^torchstone {re.escape(VERSION)} \(LibTorch [0-9.]+\)\n$")
    exporter = run(folder / "torchstone-export", "--help", **{**variables, "PATH": os.path.dirname(sys.executable)})
    test.assertIn("torchstone-export timm:ghostnet_100", exporter.stdout)
    releases = run(folder / "torchstone-releases", "--help", **{**variables, "PATH": os.path.dirname(sys.executable)})
    test.assertIn("torchstone-releases bisect", releases.stdout)
    slurm = run(folder / "torchstone-slurm", "--help", **{**variables, "PATH": os.path.dirname(sys.executable)})
    test.assertIn("torchstone-slurm --out", slurm.stdout)
    test.assertEqual(run(folder / "torchstone-report", "--version", **variables).stdout, f"torchstone-report {VERSION}\n")


def other_torch(folder):
    """Makes a folder whose version header claims LibTorch 2.9.1."""
    header = folder / "include/torch/headeronly/version.h"
    header.parent.mkdir(parents=True)
    header.write_text("".join(f"#define TORCH_VERSION_{part} {number}\n"
                              for part, number in (("MAJOR", 2), ("MINOR", 9), ("PATCH", 1))))
    return folder


def torch_version(torch):
    header = (torch / "include/torch/headeronly/version.h").read_text()
    return ".".join(re.findall(r"define TORCH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
