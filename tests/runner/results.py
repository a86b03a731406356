"""Reads the result of every single test of a ctest run, from ctest's JUnit file and GoogleTest's XML file of each
shard."""
import dataclasses
import re
import xml.etree.ElementTree as ElementTree

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclasses.dataclass
class Test:
    name: str
    status: str
    seconds: float = 0.0
    reason: str = ""
    shard: str = ""  # the ctest test that ran it, if its name is different


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def of_shard(xml, shard):
    for case in ElementTree.parse(xml).iter("testcase"):
        if case.get("status") != "run":
            continue
        failures, skipped = case.findall("failure"), case.find("skipped")
        status = FAILED if failures else SKIPPED if skipped is not None else PASSED
        # GoogleTest's message has the file and line first, then the text.
        words = (failures[0] if failures else skipped).get("message", "") if status != PASSED else ""
        reason = " ".join(words.split()) if status == FAILED else words.partition("\n")[2].strip()
        yield Test(f"{case.get('classname')}.{case.get('name')}", status, float(case.get("time", 0)), reason, shard)


def of_unfinished_shard(output, shard, how):
    """Yields the tests of a shard that left no XML file, from its output. The test that was running has failed."""
    ended = re.findall(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:,.*)? \((\d+) ms\)$", output, re.MULTILINE)
    for word, name, ms in ended:
        yield Test(name, {"OK": PASSED, "FAILED": FAILED, "SKIPPED": SKIPPED}[word], int(ms) / 1000, "", shard)
    begun = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
    if len(begun) > len(ended):
        yield Test(begun[-1], FAILED, 0.0, f"the program ended in this test ({how})", shard)
    total = re.search(r"^\[=+\] Running (\d+) tests?", output, re.MULTILINE)
    left = int(total.group(1)) - len(begun) if total else 0
    if left or not begun:
        yield Test(shard, FAILED, 0.0, f"{left or 'its'} tests did not run ({how})")


def of_ctest(junit, shards):
    """Yields the tests of a run. Each shard has written NAME.xml into the folder `shards`."""
    for case in ElementTree.parse(junit).iter("testcase"):
        name, status, seconds = case.get("name"), case.get("status"), float(case.get("time", 0))
        output = case.findtext("system-out") or ""
        note = case.find("failure") if status == "fail" else case.find("skipped")
        how = (note.get("message") if note is not None else "") or f"after {seconds:.0f} s; see ctest's own lines"
        xml = shards / f"{name}.xml"
        if xml.exists():
            tests = list(of_shard(xml, name))
            yield from tests
            if status == "fail" and not any(test.status == FAILED for test in tests):
                yield Test(name, FAILED, 0.0, how)
        elif status == "fail" and re.search(r"^\[=+\] Running (?!1 test )\d+ tests", output, re.MULTILINE):
            yield from of_unfinished_shard(output, name, how)
        elif status == "run":
            yield Test(name, PASSED, seconds)
        elif status == "notrun" and how.startswith("SKIP_"):
            before = output.partition("[  SKIPPED ]")[0]
            yield Test(name, SKIPPED, seconds, last_line(before))
        elif status != "disabled":
            begun = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
            yield Test(begun[-1] if begun else name, FAILED, seconds, last_line(output) if status == "fail" else how, name if begun else "")
