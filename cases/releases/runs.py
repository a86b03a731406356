"""Runs the program of one release, and reads its results."""
import json
import os
import pathlib
import re
import signal
import subprocess

import release

RUN_LIMIT_S, LIST_LIMIT_S, END_LIMIT_S = 24 * 3600, 600, 60
USAGE_ERROR, NOTHING_SELECTED = 2, 3
TIMED = "*/Performance.*"
# Torchstone rejects a flag if no selected case depends on it, but accepts the corresponding environment variable (its twin).
WITHOUT_EFFECT = re.compile(r"--torchstone_(\w+) is only for .*, and none is selected")


class UsageError(Exception):
    """Raised if the program rejects its arguments. Its text is the program's message."""


def is_timed(case):
    return "/Performance." in case


def exactly(case):
    """Returns a GoogleTest filter for one case. It replaces hyphens, which would begin the negative part of a filter."""
    return case.replace("-", "?")


def without_timed(pattern):
    return pattern + (":" if "-" in pattern else "-") + TIMED


def ended_words(code):
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def listed(text):
    """Returns the case names in the output of --gtest_list_tests."""
    suite, cases = "", []
    for line in text.splitlines():
        if re.fullmatch(r"\S+\.", line.split("  #")[0].rstrip()) and not line.startswith(" "):
            suite = line.split("  #")[0].strip()
        elif suite and line.startswith("  "):
            cases.append(suite + line.split("  #")[0].strip())
    return cases


class Program:
    """Torchstone built with one release, and the arguments that all releases get."""

    def __init__(self, path, arguments, out):
        self.path, self.out = pathlib.Path(path), pathlib.Path(out)
        self.report_tool = self.path.with_name("torchstone-report")
        filters = [word.partition("=")[2] for word in arguments if word.startswith("--gtest_filter=")]
        self.filter = filters[-1] if filters else os.environ.get("GTEST_FILTER", "*")
        self.arguments = [word for word in arguments if not word.startswith("--gtest_filter=")]
        self.twins = {}
        self.faults = []

    def use_twin(self, refusal):
        """Replaces the flag that the message rejects by its environment variable. The flag may affect only cases of another run
        of the same selection. Returns whether a flag was replaced."""
        refused = WITHOUT_EFFECT.search(refusal)
        words = [word for word in self.arguments if refused and word.partition("=")[0] == f"--torchstone_{refused.group(1)}"]
        if len(words) != 1:
            return False
        self.arguments.remove(words[0])
        self.twins[f"TORCHSTONE_{refused.group(1).upper()}"] = words[0].partition("=")[2] or "true"
        return True

    def call(self, arguments, limit_s, **streams):
        environment = release.environment() | self.twins
        process = subprocess.Popen([str(self.path), *self.arguments, *arguments], stdin=subprocess.DEVNULL, text=True, errors="replace",
                                   env=environment, **streams)
        try:
            out, err = process.communicate(timeout=limit_s)
        except BaseException:  # for example Ctrl-C: lets the program report the finished cases
            process.send_signal(signal.SIGINT)
            try:
                process.wait(END_LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def cases(self):
        """Returns the names of the selected cases. Adds a fault if they cannot be listed. Raises UsageError."""
        try:
            done = self.call([f"--gtest_filter={self.filter}", "--gtest_list_tests"], LIST_LIMIT_S, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except (OSError, subprocess.TimeoutExpired) as error:
            self.faults.append(f"the cases cannot be listed: {error}")
            return []
        if done.returncode == USAGE_ERROR:
            raise UsageError(done.stderr.strip() or done.stdout.strip())
        if done.returncode not in (0, NOTHING_SELECTED):
            self.faults.append(f"the cases cannot be listed: {ended_words(done.returncode)}, {done.stderr.strip()[-200:]}")
        return listed(done.stdout)

    def run(self, pattern, name):
        """Runs the cases of a filter. Returns the content of results.json, or {} if there is none. Adds a fault if the run
        crashes or writes no results. Raises UsageError."""
        folder = self.out / name
        folder.parent.mkdir(parents=True, exist_ok=True)
        log = folder.with_name(folder.name + ".log")
        with open(log, "w", encoding="utf-8") as file:
            try:
                code = self.call([f"--gtest_filter={pattern}", f"--torchstone_out={folder}"], RUN_LIMIT_S, stdout=file,
                                 stderr=subprocess.STDOUT).returncode
            except (OSError, subprocess.TimeoutExpired) as error:
                self.faults.append(f"torchstone cannot be run: {error} ({log})")
                return {}
        if code == USAGE_ERROR:
            refusal = log.read_text(errors="replace").strip()
            if self.use_twin(refusal):
                return self.run(pattern, name)
            raise UsageError(refusal[-1000:])
        if code < 0 or not (folder / "results.json").exists() and code != NOTHING_SELECTED:
            self.faults.append(f"torchstone ended with {ended_words(code)} ({log})")
        return self.document(folder)

    def document(self, folder):
        """Returns the content of results.json, or {}. For a killed run, torchstone-report makes the file from the run's
        records."""
        file = folder / "results.json"
        if not file.exists() and folder.is_dir() and self.report_tool.exists():
            file = folder.with_name(folder.name + ".json")
            subprocess.run([str(self.report_tool), "json", str(folder), "-o", str(file)], stdin=subprocess.DEVNULL, capture_output=True,
                           timeout=LIST_LIMIT_S)
        try:
            return json.loads(file.read_text())
        except (OSError, ValueError):
            return {}
