#!/usr/bin/env python3
"""cases/tournament/measure_shipped.py: makes and measures what a tournament ships."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch

SCRIPT = pathlib.Path(__file__).parents[4] / "cases" / "tournament" / "measure_shipped.py"
sys.path.insert(0, str(SCRIPT.parent))
import measure_shipped  # noqa: E402


class Shipped(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "made").mkdir()
        program = torch.export.export(torch.nn.Linear(8, 8).eval(), (torch.randn(4, 8),))
        torch.export.save(program, self.folder / "net.pt2")

    def replies(self, load, make=""):
        load_program = f'torch.export.load("{self.folder}/net.pt2")'
        save = f'import torch; p = {load_program}; torch.jit.trace(p.module(), p.example_inputs[0], strict=False).save("net.pt")'
        order = {"folder": str(self.folder / "made"), "program": load_program, "make": make or save, "load": load, "threads": 1}
        (self.folder / "order.json").write_text(json.dumps(order))
        found = []
        for step in ("make", "run"):
            subprocess.run([sys.executable, "-B", "-W", "ignore", SCRIPT, step, self.folder / "order.json",
                            self.folder / "reply.json"], check=True)
            found.append(json.loads((self.folder / "reply.json").read_text()))
        return found

    def test_has_its_size_its_times_and_its_error(self):
        made, measured = self.replies('model = torch.jit.load("net.pt")')
        self.assertEqual(made, {"bytes": (self.folder / "made" / "net.pt").stat().st_size})
        self.assertEqual(set(measured), {"load_s", "first_call_s", "seconds", "error"})
        self.assertGreater(measured["seconds"], 0)
        self.assertLess(measured["error"], 1e-5)

    def test_with_other_weights_has_a_large_error(self):
        _, measured = self.replies('model = lambda x: 2 * torch.jit.load("net.pt")(x)')
        self.assertAlmostEqual(measured["error"], 1, places=4)

    def test_that_fails_says_why(self):
        made, measured = self.replies("import no_such_runtime", make="raise ValueError('planted')")
        self.assertEqual(made, {"refused": "ValueError: planted"})
        self.assertEqual(measured, {"refused": "ModuleNotFoundError: No module named 'no_such_runtime'"})


class Error(unittest.TestCase):
    def test_of_an_output_of_another_shape_is_a_refusal(self):
        with self.assertRaisesRegex(ValueError, "other shapes"):
            measure_shipped.relative_error([torch.zeros(2)], [torch.zeros(3)])
        self.assertEqual(measure_shipped.relative_error([torch.ones(4)], [torch.ones(4)]), 0)


if __name__ == "__main__":
    unittest.main()
