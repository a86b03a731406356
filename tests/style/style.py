#!/usr/bin/env python3
"""Runs clang-format and clang-tidy, version 14, on our sources.

  style.py format          every source file
  style.py tidy BUILD      the .cpp files that the working tree or the last commit changed, for at most LIMIT_S seconds
  style.py tidy BUILD --all

Exit codes: 0 nothing found, 1 something found, 77 (a skip to ctest) when the tool is absent or this is no Git checkout.
The tools come from PATH, or from the Python environment that this script runs in
(pip install clang-format==14.0.6 clang-tidy==14.0.6).
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("cases", "fixtures", "models", "reports", "tests", "examples")
VERSION = 14
LIMIT_S = 180
ABSENT = 77


def find_tool(name):
    """The path of the tool in the version that the configuration was written for; None when there is none."""
    beside = pathlib.Path(sys.executable).parent
    for candidate in (f"{name}-{VERSION}", name, str(beside / name)):
        path = shutil.which(candidate)
        if path and f"version {VERSION}." in subprocess.run([path, "--version"], capture_output=True, text=True).stdout:
            return path
    return None


def git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True).stdout.splitlines()


def sources(*suffixes):
    return [f for f in git("ls-files", *FOLDERS) if f.endswith(suffixes) and (ROOT / f).is_file()]


def changed(files):
    """Returns the files that the working tree or the last commit changed. A shallow clone of one commit has no last change."""
    differing = set(git("diff", "--name-only", "HEAD")) | set(git("diff", "--name-only", "HEAD~1", "HEAD"))
    return [f for f in files if f in differing]


def check_format(tool):
    files = sources(".h", ".cpp")
    if not files:
        print("no files: this is no Git checkout")
        return ABSENT
    done = subprocess.run([tool, "--dry-run", "-Werror", "--style=file", *files], cwd=ROOT, capture_output=True, text=True)
    sys.stderr.write(done.stderr)
    print(f"clang-format: {len(files)} files, {len(re.findall('error:', done.stderr))} places to format")
    return 1 if done.returncode else 0


def without_precompiled_header(words):
    """A compiler's arguments without the precompiled header, the input, the output and what g++ alone knows."""
    kept, words = [], [w for w in words if w != "-Xclang"]
    skip = False
    for i, word in enumerate(words):
        if skip:
            skip = False
        elif word in ("-o", "-c", "-include-pch") or (word == "-include" and "cmake_pch" in words[i + 1]):
            skip = True
        elif word not in ("-Winvalid-pch", "-Wshadow=local") and not word.startswith("-fpch"):
            kept.append(word)
    return kept


def flags_by_file(build):
    """Compiler flags of each .cpp file. In a unity build the database has joined files, which include ours."""
    flags = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        joined = pathlib.Path(entry["file"])
        included = re.findall(r'^#include "(.+\.cpp)"', joined.read_text(), re.MULTILINE) if "Unity" in joined.parts else []
        for file in included or [joined]:
            flags.setdefault(pathlib.Path(file), without_precompiled_header(shlex.split(entry["command"])[1:]))
    return flags


def check_tidy(tool, build, everything):
    files = sources(".cpp")
    chosen = files if everything else changed(files)
    flags = flags_by_file(build)
    begun = time.monotonic()

    def tidy(file):
        own = flags.get(ROOT / file)
        if own is None:
            return file, None, "no target compiles it"
        if not everything and time.monotonic() - begun > LIMIT_S:
            return file, None, f"not reached within {LIMIT_S} s"
        done = subprocess.run([tool, "--quiet", str(ROOT / file), "--", *own], cwd=build, capture_output=True, text=True)
        return file, done.returncode, done.stdout + (done.stderr if done.returncode and not done.stdout else "")

    found = left = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, code, text in pool.map(tidy, chosen):
            if code is None:
                left += 1
                print(f"{file}: {text}")
            elif code:
                found += 1
                print(text)
    print(f"clang-tidy: {len(chosen)} files, {found} with findings, {left} not checked")
    return 1 if found else 0


def main(arguments):
    kind = arguments[0]
    tool = find_tool(f"clang-{kind}")
    if not tool:
        print(f"clang-{kind} {VERSION} is absent: the distribution's clang-{kind}-{VERSION}"
              f"{', or pip install clang-format==14.0.6' if kind == 'format' else ''}")
        return ABSENT
    if kind == "format":
        return check_format(tool)
    return check_tidy(tool, pathlib.Path(arguments[1]), "--all" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
