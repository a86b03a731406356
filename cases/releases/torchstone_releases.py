#!/usr/bin/env python3
"""Runs the same cases under several releases of torch, and reports what changed from each release to the next.

  torchstone-releases 2.12.1 2.13.0 2.14.1 -- --gtest_filter='*resnet18*'
  torchstone-releases 2.13.0 2.14.1 -- --torchstone_only=my.pt2
  torchstone-releases bisect 2.11.0 2.12.1 2.13.0 2.14.1 -- --gtest_filter=NAME_OF_A_CASE

For each release it makes an environment and a build of Torchstone, and keeps them. torchstone gets the arguments after --. Without
any, its default cases run. The releases may be given in any order: they are compared from the oldest to the newest.
`bisect` prints the first release in which one case fails, passes again, or is slower or faster by more than its interval.

exit codes: 0 the newest release is not worse than the one before; 1 it is worse; 2 usage; 3 nothing was compared, or bisect found
no difference; 4 a release could not be used; 130 interrupted
"""
import argparse
import datetime
import os
import pathlib
import shlex
import signal
import subprocess
import sys

import bisection
import changes
import environments
import measurement
import merged
import page
import preflight
import release
import runs

SUCCESS, WORSE, USAGE, NOTHING, INFRASTRUCTURE, INTERRUPTED = 0, 1, 2, 3, 4, 130
REPORT_LIMIT_S = 600
OPERANDS = "[options] RELEASE[=PROGRAM] RELEASE[=PROGRAM]... -- [ARGUMENTS OF torchstone]"


def say(text):
    print(f"torchstone-releases: {text}", file=sys.stderr, flush=True)


def default_source():
    """Returns the folder of the sources from which the installation was built, or that contain this file; empty without one."""
    here = pathlib.Path(__file__).resolve().parents[2]
    for folder in (os.environ.get("TORCHSTONE_RELEASES_SOURCE", ""), str(here)):
        if folder and (pathlib.Path(folder) / "cmake" / "torch_versions").exists():
            return folder
    return ""


def options_of(argv):
    """Returns the options and the arguments of torchstone."""
    cut = argv.index("--") if "--" in argv else len(argv)
    own, arguments = argv[:cut], argv[cut + 1:]
    parser = argparse.ArgumentParser(prog="torchstone-releases", usage=f"%(prog)s {OPERANDS}\n       %(prog)s bisect {OPERANDS}",
                                     description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="+", metavar="RELEASE[=PROGRAM]",
                        help="2.14.1, a nightly such as 2.15.0.dev20261101, or 2.14.1=/path/to/torchstone that was built with it")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("torchstone-releases"), help="folder of the reports (%(default)s)")
    parser.add_argument("--cache", type=pathlib.Path, default=environments.default_cache(), help="folder of environments and builds (%(default)s)")
    parser.add_argument("--source", default=default_source(), help="folder of Torchstone's sources (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each timed case runs under each release (%(default)s)")
    parser.add_argument("--install", action="append", default=[], metavar="PACKAGE", help="a package for every environment, such as timm==1.0.31")
    parser.add_argument("--index", default="", metavar="URL", help="a further package index, such as that of the nightlies")
    parser.add_argument("--between", action="store_true", help="bisect: also the releases between the first and the last that pip lists; with "
                        "--index also nightlies")
    misplaced = [word for word in own if word.startswith(("--torchstone_", "--gtest_"))]
    if misplaced:
        parser.error(f"torchstone's arguments follow --: torchstone-releases RELEASE RELEASE -- {shlex.join(misplaced)}")
    options = parser.parse_intermixed_args(own)
    options.bisect = options.releases[0] == "bisect"
    try:
        options.releases = release.parse_releases(options.releases[1:] if options.bisect else options.releases)
    except ValueError as error:
        parser.error(str(error))
    if options.rounds < 1:
        parser.error(f"--rounds: expected 1 or more, found {options.rounds}")
    if options.between and not options.bisect:
        parser.error("--between: expected it with bisect")
    if "--" not in argv:
        parser.error("which cases? Put torchstone's arguments after --, such as -- --gtest_filter='*resnet18*'"
                     + (" (one case)" if options.bisect else "; -- alone runs the default cases"))
    for word in arguments:
        if word.startswith(("--torchstone_out", "--gtest_list_tests")):
            parser.error(f"{word}: torchstone-releases sets it itself")
    return options, arguments


def write_report_page(columns, out):
    """Writes report.html with all rows, to whose sections the table links. Returns its name, or an empty text if this fails."""
    tools = (column.program.report_tool for column in reversed(columns) if column.program)
    tool = next((tool for tool in tools if tool.exists()), None)
    if not tool:
        return ""
    try:
        done = subprocess.run([str(tool), "html", str(out / "results.json"), "-o", str(out / "report.html")], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=REPORT_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"no page of the rows: {error}")
        return ""
    if done.returncode == 0:
        return "report.html"
    say(f"no page of the rows: {done.stderr.strip()[-300:]}")
    return ""


def verdict_of(columns, table, found):
    """Returns the exit code and its reason. Compares the newest release with the one before."""
    before, newest = columns[-2], columns[-1]
    worse = [change for change in found if change.is_worse and (change.before, change.after) == (before.release, newest.release)]
    compared = sum(changes.is_compared(row.get(before.release), row.get(newest.release)) for row in table.values())
    if worse:
        kinds = ", ".join(f"{sum(change.kind == kind for change in worse)} {kind}" for kind in dict.fromkeys(c.kind for c in worse))
        return WORSE, f"{newest.release} is worse than {before.release}: {kinds}"
    faulty = [column.release for column in columns if column.faults]
    if faulty:
        return INFRASTRUCTURE, f"not everything was compared: {', '.join(faulty)} could not be used, or did not end well"
    if compared == 0:
        return NOTHING, f"nothing was compared: {before.release} and {newest.release} ran no case in common"
    return SUCCESS, f"{newest.release} is not worse than {before.release} ({compared} {'case' if compared == 1 else 'cases'})"


def changes_of(columns, table):
    """Returns the changes between each usable release and the next."""
    usable = [column.release for column in columns if column.program]
    return [change for before, after in zip(usable, usable[1:]) for change in changes.between(table, before, after)]


def refusal_words(error):
    return f"torchstone refuses its arguments: {error}"


def tell_an_empty_selection(column):
    if not column.names and not column.faults:
        say(f"{column.release}: no case is selected")


def compare(options, arguments, made, stamp):
    columns = measurement.open_columns(options.releases, made, arguments, options.out / "runs" / stamp, tell_an_empty_selection)
    for column in columns:
        for fault in column.faults:
            say(f"{column.release}: {fault}")
    ended = None  # exit code and reason of a measurement that ended early
    try:
        measurement.measure(columns, options.rounds, say)
    except KeyboardInterrupt:
        ended = INTERRUPTED, "interrupted"
    except runs.UsageError as error:
        if not any(column.records for column in columns):
            raise
        ended = USAGE, refusal_words(error)
    table = measurement.table_of(columns)
    found = changes_of(columns, table)
    if ended:  # cases that did not run yet are not missing
        found = [change for change in found if change.kind != "missing"]
    code, verdict = ended or verdict_of(columns, table, found)
    merged.write_document(options.out / "results.json", merged.document_of(columns, table))
    shown = page.Page(columns, table, found, verdict, write_report_page(columns, options.out))
    merged.write(options.out / "releases.html", shown.html())
    merged.write(options.out / "releases.md", shown.markdown())
    print(shown.text())
    print(f"{options.out / 'releases.html'}")
    return code


def bisect(options, arguments, made, stamp):
    releases = options.releases
    if options.between:
        first, last = releases[0], releases[-1]
        known = {r.name: r for r in [*release.between(first.name, last.name, made.known_to_pip()), *releases]}
        releases = sorted(known.values(), key=lambda r: release.order(r.name))
        say("releases: " + ", ".join(r.name for r in releases))
    trials = bisection.Trials(releases, made, arguments, options.out / "runs" / stamp, options.rounds, say)
    try:
        found = bisection.bisect(trials)
    except bisection.Unknown as error:
        say(f"nothing to search between: {error}")
        return INFRASTRUCTURE
    except ValueError as error:
        say(str(error))
        return USAGE
    print(found.sentence())
    return SUCCESS if found.kind else NOTHING


def main(argv, made=None):
    """Runs the command and returns the exit code. `made` makes the program of a release; tests replace it."""
    options, arguments = options_of(argv)
    made = made or environments.Environments(options.cache, options.source, options.install, options.index, say)
    stamp = datetime.datetime.now().strftime("%Y%m%dT%H%M%S.%f")
    try:
        preflight.check(options.releases, made, say)
        options.out.mkdir(parents=True, exist_ok=True)
        return (bisect if options.bisect else compare)(options, arguments, made, stamp)
    except runs.UsageError as error:
        say(refusal_words(error))
        return USAGE
    except preflight.Refused as error:
        for line in str(error).splitlines():
            say(line)
        return USAGE
    except environments.Unusable as error:
        say(str(error))
        return INFRASTRUCTURE
    except KeyboardInterrupt:
        return INTERRUPTED


def interrupt(*_):
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupt)
    sys.exit(main(sys.argv[1:]))
