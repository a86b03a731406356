"""A test case with a program that answers as torchstone does, for the tests of tools that run it."""
import json
import pathlib
import sys
import tempfile
import unittest

PROGRAM = """#!{python}
import json, pathlib, sys, time
flags = dict((a[len("--torchstone_"):].split("=", 1) + [""])[:2] for a in sys.argv[1:])
with open({calls!r}, "a") as calls:
    calls.write(json.dumps(flags) + chr(10))
{rows}
pathlib.Path(flags["out"]).mkdir(exist_ok=True)
pathlib.Path(flags["out"], "results.json").write_text(json.dumps({{"results": rows}}))
"""


class AnsweringProgram(unittest.TestCase):
    rows = ""  # Python that computes the `rows` of results.json from `flags`

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.program, self.calls = self.folder / "torchstone", self.folder / "calls"
        self.program.write_text(PROGRAM.format(python=sys.executable, calls=str(self.calls), rows=self.rows))
        self.program.chmod(0o755)

    def called(self):
        """Returns the flags of each call."""
        return [json.loads(line) for line in self.calls.read_text().splitlines()]
