#!/usr/bin/env python3
"""docs_test.py TORCHSTONE: what the documents name exists: links and their anchors, paths of the repository, flags of the
program, columns of results.csv, statuses. So do the sections that expected statuses refer to. Whole programs are those that the tests compile, and README is short. Each check
is also tried on a text with a planted fault."""
import csv
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_WORDS = 700
NOT_PATHS = ("cases/judged", "cases/timed")  # tests of ctest
FOLDERS = "cases|fixtures|models|reports|tests|docs|cmake|examples"
PROGRAM = None


def documents(root):
    """The Markdown files of the repository, without those of builds and of environments."""
    for folder, names, files in os.walk(root):
        names[:] = [n for n in names if not n.startswith(("build", ".venv", "venv")) and n not in (".git", "node_modules")]
        yield from (Path(folder) / f for f in files if f.endswith(".md"))


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


def anchors(text):
    """The anchors of the headings, as GitHub makes them."""
    seen = {}
    for heading in re.findall(r"^#+ +(.*?)\s*$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), flags=re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        number = seen[anchor] = seen.get(anchor, -1) + 1
        yield anchor if number == 0 else f"{anchor}-{number}"


def targets(text):
    """Returns the targets of a document's links and images."""
    text = without_code(text)
    return re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset|href)="([^"]+)"', text)


def broken_links(file):
    text = file.read_text()
    for target in targets(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        where = (file.parent / path).resolve() if path else file
        if not where.exists():
            yield f"{file}: {target}: no such file"
        elif anchor and anchor not in anchors(where.read_text()):
            yield f"{file}: {target}: no such heading"


def broken_references(file, root):
    """Sections of pages that expected statuses give for an issue."""
    for reference in re.findall(r"\bissue: +\"?((?!https?:)[^\s\",}]+\.md#[^\s\",}]*)", file.read_text()):
        path, _, anchor = reference.partition("#")
        page = root / path
        if not page.exists():
            yield f"{file}: {reference}: no such file"
        elif anchor not in anchors(page.read_text()):
            yield f"{file}: {reference}: no such heading"


def missing_paths(file, root):
    """Paths of the repository in code spans: `tests/faults/`, `cases/suites/*.yaml`."""
    for path in re.findall(rf"`((?:{FOLDERS})/[\w./*-]*)`", file.read_text()):
        if path not in NOT_PATHS and not any(root.glob(path.rstrip("/"))):
            yield f"{file}: {path} is not in the repository"


def functions_of_path(text):
    """Yields the functions and the files in the tables of the path of a case (docs/architecture.md)."""
    folder = ""
    for line in text.splitlines():
        if below := re.search(r"Files without a top folder are in `([\w/]+)`", line):
            folder = below[1]
        if row := re.match(r"\| `([\w:]+)` \| `([\w/.]+\.cpp)` \|", line):
            yield row[1], row[2] if row[2].split("/")[0] in FOLDERS.split("|") else folder + row[2]


def missing_functions(file, root):
    """Functions of the path of a case that are not in the file which the table names."""
    for function, source in functions_of_path(file.read_text()):
        text = (root / source).read_text() if (root / source).is_file() else ""
        if not re.search(rf"\b{function.split('::')[-1]}\(", text):
            yield f"{file}: {function} is not in {source}"


def not_compiled(file, root):
    """Whole programs in a document that are no part of a file which the tests compile."""
    sources = [source.read_text() for folder in ("examples", "tests") for source in (root / folder).rglob("*.cpp")]
    for block in re.findall(r"^```cpp\n(.*?)^```", file.read_text(), flags=re.S | re.M):
        if "#include <torchstone/" in block and not any(block.strip() in source for source in sources):
            yield f"{file}: no example or test has the program that begins with {block.strip().splitlines()[0]}"


def flags_in(text):
    return set(re.findall(r"--torchstone_([a-z][a-z_]*)", text))


def is_flag(name):
    """Returns whether the program accepts the flag. --help does not list second names of flags."""
    asked = subprocess.run([PROGRAM, f"--torchstone_{name}=", "--torchstone_list=flags"], capture_output=True, text=True)
    return "unknown flag" not in asked.stderr


def unknown_flags(text, known):
    return {name for name in flags_in(text) - known if not is_flag(name)}


def unnamed(words, text):
    """The words that stand in no code span of the text."""
    named = set(re.findall(r"`([^`\n]+)`", text))
    return [word for word in words if word not in named]


def backends():
    answer = subprocess.run([PROGRAM, "--torchstone_list=backends"], capture_output=True, text=True)
    return answer.stdout.split()[1:]  # behind the heading


def statuses():
    return re.findall(r'\{Status::\w+, "(\w+)"', (ROOT / "reports/record/verdict.cpp").read_text())


def columns():
    with open(ROOT / "tests/unit/reports/golden/results.csv", newline="") as file:
        return next(csv.reader(file))


class Documents(unittest.TestCase):
    def test_links_resolve(self):
        files = list(documents(ROOT))
        self.assertGreater(len(files), 10)
        self.assertEqual([fault for file in files for fault in broken_links(file)], [])

    def test_paths_of_the_repository_exist(self):
        self.assertEqual([fault for file in documents(ROOT) for fault in missing_paths(file, ROOT)], [])

    def test_functions_of_the_path_of_a_case_exist(self):
        page = ROOT / "docs/architecture.md"
        functions = list(functions_of_path(page.read_text()))
        self.assertIn(f"These {len(functions)} functions", page.read_text())
        self.assertEqual(list(missing_functions(page, ROOT)), [])

    def test_sections_that_expected_statuses_refer_to_exist(self):
        files = list((ROOT / "cases/expected").glob("*.yaml"))
        self.assertGreater(len(files), 5)
        self.assertGreater(sum(file.read_text().count("issue: docs/") for file in files), 50)
        self.assertEqual([fault for file in files for fault in broken_references(file, ROOT)], [])

    def test_programs_are_those_that_the_tests_compile(self):
        self.assertEqual([fault for file in documents(ROOT) for fault in not_compiled(file, ROOT)], [])

    def test_readme_is_short(self):
        self.assertLessEqual(len((ROOT / "README.md").read_text().split()), MOST_WORDS)

    def test_flags_are_known(self):
        answer = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True)
        known = flags_in(answer.stdout)
        self.assertGreater(len(known), 30, answer.stderr)
        faults = {str(file): unknown for file in documents(ROOT) if (unknown := unknown_flags(file.read_text(), known))}
        self.assertEqual(faults, {})

    def test_every_column_is_explained(self):
        self.assertGreater(len(columns()), 50)
        self.assertEqual(unnamed(columns(), (ROOT / "docs/columns.md").read_text()), [])

    def test_every_backend_is_explained(self):
        self.assertGreater(len(backends()), 10)
        self.assertEqual(unnamed(backends(), (ROOT / "docs/backend.md").read_text()), [])

    def test_every_status_is_explained(self):
        self.assertGreater(len(statuses()), 15)
        self.assertEqual(unnamed(statuses(), (ROOT / "docs/verdict.md").read_text()), [])


class PlantedFaults(unittest.TestCase):
    """Each check finds what it looks for."""

    def document(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = Path(folder.name) / "page.md"
        file.write_text(text)
        (file.parent / "other.md").write_text("# A heading, *here*\n\n## Twice\n\n## Twice\n")
        return file

    def test_a_link_to_nothing(self):
        self.assertEqual(list(broken_links(self.document("[a](other.md) [b](other.md#a-heading-here) `[c](no.md)`"))), [])
        self.assertEqual(list(broken_links(self.document("[a](other.md#twice-1) [b](https://example.org/no)"))), [])
        self.assertEqual(len(list(broken_links(self.document("[a](absent.md)")))), 1)
        self.assertEqual(len(list(broken_links(self.document("[a](other.md#absent)")))), 1)
        self.assertEqual(len(list(broken_links(self.document("[a](#absent)\n\n# Present\n")))), 1)
        self.assertEqual(len(list(broken_links(self.document('<img src="absent.png">')))), 1)

    def test_a_reference_to_nothing(self):
        page = self.document("# A crash\n")
        file = page.parent / "expected.yaml"
        file.write_text("- model: a\n  issue: page.md#a-crash\n- {model: b, issue: https://example.org/page.md#no}\n")
        self.assertEqual(list(broken_references(file, page.parent)), [])
        file.write_text("- model: a\n  issue: \"page.md#no-crash\"\n- {model: b, issue: gone.md#a-crash}\n")
        self.assertEqual(len(list(broken_references(file, page.parent))), 2)

    def test_a_path_that_is_gone(self):
        file = self.document("`cases/there.yaml`, `cases/*.yaml`, `cases/`, `build/anything`")
        (file.parent / "cases").mkdir()
        (file.parent / "cases/there.yaml").write_text("")
        self.assertEqual(list(missing_paths(file, file.parent)), [])
        file.write_text("`cases/gone.yaml` and `cases/*.json`")
        self.assertEqual(len(list(missing_paths(file, file.parent))), 2)

    def test_a_function_that_is_gone(self):
        page = self.document("Files without a top folder are in `cases/`.\n\n| `Runner::run` | `run.cpp` | runs |\n")
        (page.parent / "cases").mkdir()
        (page.parent / "cases/run.cpp").write_text("void Runner::run() {}\n")
        self.assertEqual(list(missing_functions(page, page.parent)), [])
        (page.parent / "cases/run.cpp").write_text("void Runner::run_all() {}\n")
        self.assertEqual(len(list(missing_functions(page, page.parent))), 1)
        (page.parent / "cases/run.cpp").unlink()
        self.assertEqual(len(list(missing_functions(page, page.parent))), 1)

    def test_a_program_that_nobody_compiles(self):
        file = self.document("```cpp\n#include <torchstone/model.h>\nint a;\n```\n\n```cpp\nint part;\n```\n")
        (file.parent / "examples").mkdir()
        (file.parent / "examples/a.cpp").write_text("// A program.\n#include <torchstone/model.h>\nint a;\n")
        self.assertEqual(list(not_compiled(file, file.parent)), [])
        (file.parent / "examples/a.cpp").write_text("#include <torchstone/model.h>\nint b;\n")
        self.assertEqual(len(list(not_compiled(file, file.parent))), 1)

    def test_a_flag_that_does_not_exist(self):
        self.assertEqual(unknown_flags("--torchstone_modez=training --torchstone_mode=training", set()), {"modez"})

    def test_a_column_and_a_status_without_a_word(self):
        self.assertEqual(unnamed(["speedup", "rounds"], "`speedup` and rounds"), ["rounds"])


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
