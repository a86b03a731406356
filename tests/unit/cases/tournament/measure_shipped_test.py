#!/usr/bin/env python3
"""cases/tournament/measure_shipped.py: makes and measures what a tournament ships."""
import json
import pathlib
import subprocess
import sys
import tempfile
import types
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

    def test_an_exported_program_is_shipped_by_its_lines(self):
        lines = (SCRIPT.parent / "variants.yaml").read_text().partition("\n  export:")[2].splitlines()
        make, load = (next(line.split(f"{key}: ", 1)[1] for line in lines if line.strip().startswith(f"{key}: ")) for key in ("make", "python"))
        program = f'torch.export.load("{self.folder}/net.pt2")'
        made, measured = self.replies(load.replace("{name}", "net"), make.replace("{program}", program).replace("{name}", "net"))
        self.assertEqual(made, {"bytes": (self.folder / "made" / "net_export.pt2").stat().st_size})
        self.assertLess(measured["error"], 1e-6)

    def test_with_other_weights_has_a_large_error(self):
        _, measured = self.replies('model = lambda x: 2 * torch.jit.load("net.pt")(x)')
        self.assertAlmostEqual(measured["error"], 1, places=4)

    def test_that_fails_says_why(self):
        made, measured = self.replies("import no_such_runtime", make="raise ValueError('planted')")
        self.assertEqual(made, {"refused": "ValueError: planted"})
        self.assertEqual(measured, {"refused": "ModuleNotFoundError: No module named 'no_such_runtime'"})


class Order(unittest.TestCase):
    def test_calls_what_is_shipped_before_the_exported_program(self):
        calls, inputs = [], (torch.ones(2),)

        def called(name):
            def double(x):
                calls.append(name)
                return x.mul_(2)
            return double

        sys.modules["planted"] = types.SimpleNamespace(
            model=called("shipped"), program=types.SimpleNamespace(example_inputs=(inputs, {}), module=lambda: called("program")))
        self.addCleanup(sys.modules.pop, "planted")
        measured = measure_shipped.measured({"threads": 0, "program": "__import__('planted').program", "load": "from planted import model"})
        self.assertEqual(calls[:2], ["shipped", "program"])
        self.assertEqual(measured["error"], 0, "each has its own inputs")


class Error(unittest.TestCase):
    def test_is_never_hidden_by_a_nan(self):
        good, bad = torch.ones(2), torch.tensor([1, float("nan")])
        for expected, found in ([good, good], [good, bad]), ([bad, good], [good, good]), ([good], [good / 0]):
            with self.assertRaisesRegex(ValueError, "NaN or infinities"):
                measure_shipped.relative_error(expected, found)
        self.assertEqual(measure_shipped.relative_error([bad], [bad]), 0, "eager's own")

    def test_of_the_worst_output_is_a_number_that_json_has(self):
        self.assertAlmostEqual(measure_shipped.relative_error([torch.ones(2)] * 2, [torch.ones(2), torch.ones(2) * 3]), 2)
        self.assertLess(measure_shipped.relative_error([torch.zeros(2).double()], [torch.full((2,), 1e100, dtype=torch.float64)]), float("inf"))

    def test_of_an_output_of_another_shape_is_a_refusal(self):
        with self.assertRaisesRegex(ValueError, "other shapes"):
            measure_shipped.relative_error([torch.zeros(2)], [torch.zeros(3)])
        self.assertEqual(measure_shipped.relative_error([torch.ones(4)], [torch.ones(4)]), 0)

    def test_of_a_complex_output_has_its_imaginary_part(self):
        expected, found = (measure_shipped.tensors_of(torch.tensor([value])) for value in (1 + 1j, 1 - 1j))
        self.assertAlmostEqual(measure_shipped.relative_error(expected, found), 2 ** 0.5)


if __name__ == "__main__":
    unittest.main()
