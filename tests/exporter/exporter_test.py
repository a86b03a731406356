#!/usr/bin/env python3
"""The exporter with a stand-in for timm (packages/timm): what it writes, its cache and its error words."""
import importlib.metadata
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "cases" / "exporter"
sys.path.insert(0, str(SOURCES))
import torch  # noqa: E402
import upstream_names  # noqa: E402
from parts_test import Detectors, Dimensions, Images, Lengths, Parts, Reads  # noqa: E402,F401

NAMES = [line.split(":")[0].split(" = ")[0].strip() for line in (HERE.parent / "coverage/upstream_models.txt").read_text().splitlines()]


def export(*arguments, packages=HERE / "packages"):
    environment = dict(os.environ, PYTHONPATH=str(packages), PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run([sys.executable, str(SOURCES / "torchstone_export.py"), *map(str, arguments)], text=True,
                          capture_output=True, env=environment)


def record(path, name):
    with zipfile.ZipFile(path) as archive:
        found = [entry for entry in archive.namelist() if entry.split("/", 1)[1] == name]
        return archive.read(found[0]) if found else None


class Exporter(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.addCleanup(self.scratch.cleanup)

    def test_the_archive_holds_the_program_its_facts_and_eager_s_outputs(self):
        path = self.folder / "tiny.pt2"
        done = export("timm:tiny.net/v1", "-o", path, "--batch-size", 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        info = json.loads(record(path, "extra/torchstone_info.json"))
        self.assertEqual((info["format"], info["source"], info["mode"], info["suite"]), (1, "timm:tiny.net/v1", "eval", "timm"))
        self.assertEqual(info["packages"]["torch"], importlib.metadata.version("torch"))
        outputs = torch.load(io.BytesIO(record(path, "torchstone/outputs.pt")), weights_only=True)
        program = torch.export.load(path)
        args, kwargs = program.example_inputs
        self.assertEqual(args[0].shape[0], 3)
        torch.testing.assert_close([program.module()(*args, **kwargs)], outputs)

    def test_both_modes_are_two_programs(self):
        path = self.folder / "tiny.pt2"
        done = export("timm:tiny.net/v1", "-o", path, "--mode", "both")
        self.assertEqual(done.returncode, 0, done.stderr)
        with zipfile.ZipFile(path) as archive:
            programs = sorted(name.rsplit("/", 1)[1] for name in archive.namelist() if "/models/" in name)
        self.assertEqual(programs, ["model.json", "train.json"])

    def test_random_outputs_are_not_stored(self):
        path = self.folder / "random.pt2"
        self.assertEqual(export("timm:random", "-o", path).returncode, 0)
        self.assertIsNone(record(path, "torchstone/outputs.pt"))
        self.assertTrue(json.loads(record(path, "extra/torchstone_info.json"))["random_outputs"])

    def test_weights_that_are_given_are_the_model_s(self):
        sys.path.insert(0, str(HERE / "packages"))
        import timm
        state = {name: torch.full_like(value, 2) for name, value in timm.Tiny().state_dict().items()}
        torch.save(state, self.folder / "weights.pt")
        path = self.folder / "tiny.pt2"
        done = export("timm:tiny.net/v1", "-o", path, "--weights", self.folder / "weights.pt")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((torch.load(io.BytesIO(record(path, "torchstone/outputs.pt")), weights_only=True)[0] > 2).all())
        torch.save({"head.bias": torch.zeros(3)}, self.folder / "other.pt")
        wrong = export("timm:tiny.net/v1", "-o", path, "--weights", self.folder / "other.pt")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("Missing key(s) in state_dict", wrong.stderr)

    def test_the_cache_exports_once_and_names_the_file_after_the_model(self):
        first = export("timm:tiny.net/v1", "--cache", self.folder)
        path = json.loads(first.stdout.splitlines()[-1])["file"]
        self.assertEqual(pathlib.Path(path).name, "tiny_net_v1.pt2")
        stamp = os.stat(path).st_mtime_ns
        again = export("timm:tiny.net/v1", "--cache", self.folder)
        self.assertEqual((again.stdout, os.stat(path).st_mtime_ns), (first.stdout, stamp))
        other = export("timm:tiny.net/v1", "--cache", self.folder, "--batch-size", 5)
        self.assertNotEqual(other.stdout, first.stdout)

    def test_errors_are_the_packages_own_words(self):
        # Stands before a timm that the Python of the tests may have.
        (self.folder / "timm.py").write_text("raise ModuleNotFoundError(\"No module named 'timm'\", name='timm')\n")
        for name, words, packages in (("timm:absent", "Unknown model (absent)", HERE / "packages"),
                                      ("timm:gated", "PermissionError: gated: ask its author", HERE / "packages"),
                                      ("timm:tiny.net/v1", "No module named 'timm' (install it in", self.folder),
                                      ("timm:branching", "Could not guard on data-dependent expression", HERE / "packages"),
                                      ("timn:tiny", "unknown source timn (expected one of timm, torchvision,", self.folder),
                                      ("timm:", "expected SOURCE:NAME with SOURCE one of", self.folder)):
            with self.subTest(name):
                path = self.folder / "failed.pt2"
                done = export(name, "-o", path, packages=packages)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(f"torchstone-export: {name}: ", done.stderr)
                self.assertIn(words, done.stderr)
                self.assertFalse(path.exists())
                self.assertEqual(list(self.folder.glob(".export-*")), [])

    def test_a_time_limit_ends_it(self):
        done = export("timm:tiny.net/v1", "-o", self.folder / "slow.pt2", "--time-limit", "0.05")
        self.assertEqual(done.returncode, -14)

    def test_a_trace_is_a_file_and_its_inputs(self):
        path = self.folder / "tiny.pt"
        self.assertEqual(export("timm:tiny.net/v1", "-o", path, "--traced").returncode, 0)
        inputs = torch.load(self.folder / "tiny_inputs.pt")
        self.assertEqual(torch.jit.load(path)(*inputs).shape, (2, 10))
        info = json.loads(record(path, "extra/torchstone_info.json"))
        self.assertEqual((info["source"], info["suite"]), ("timm:tiny.net/v1", "timm"))

    def test_every_name_of_upstream_s_lists_has_the_source_of_its_list(self):
        suites = {"[torchbench]": "torchbench", "[timm]": "timm", "[huggingface]": "transformers"}
        expected = None
        for name in NAMES:
            if name.startswith("["):
                expected = suites[name]
            elif expected and name:
                self.assertEqual(upstream_names.source_of(name), (expected, name))

    def test_full_has_the_batch_sizes_of_upstream_s_facts(self):
        import source_timm
        import source_torchbench
        import source_transformers
        facts = json.loads((HERE.parent / "upstream/facts.json").read_text())["models"]
        own = {
            "timm": {name: source_timm.BATCH.get(name, 128) for name in upstream_names.TIMM},
            "huggingface": {name: 1 if "/" in name else source_transformers.BATCH.get(name, 16) for name in facts["huggingface"]},
            "torchbench": {name: source_torchbench.BATCH.get(name, 1) for name in source_torchbench.TRANSFORMERS} |
                          {name: batch for name, (_, batch) in source_torchbench.TIMM.items()},
        }
        for suite, sizes in own.items():
            for name, size in sizes.items():
                with self.subTest(name):
                    self.assertEqual(size, facts[suite][name]["inference"])


if __name__ == "__main__":
    unittest.main()
