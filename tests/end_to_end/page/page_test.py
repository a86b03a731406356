"""page_test.py REPORT_TOOL [--binary TORCHSTONE --faults PLUGIN] [--shots FOLDER] [--results RUN]…: makes pages with
torchstone-report html and checks them in headless Chromium. Exits with 77 and the reason if there is no Chromium.
--binary adds pages of small real runs. --shots saves a screenshot of every page at three widths and in both themes.
--results adds pages of further runs."""
import argparse
import base64
import gzip
import json
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import samples
from browser import Browser, find_chromium
from real_runs import SLOWED, RealRuns
from validity import problems_of

HERE = Path(__file__).resolve().parent
EVERY_STATUS = HERE.parents[1] / "unit/reports/golden/results.json"
FAULTS_SUITE = HERE.parents[1] / "faults/faults.yaml"
WIDTHS = (360, 1024, 1400, 2560)
# The content security policy that Jenkins sends with build artifacts, unless its administrator relaxes it.
JENKINS = "sandbox allow-same-origin; default-src 'none'; img-src 'self'; style-src 'self';"
arguments, browser, folder = None, None, None
pages = {}


def make(name, results, *options):
    out = folder / f"{name}.html"
    begun = time.monotonic()
    subprocess.run([arguments.tool, "html", str(results), "-o", str(out), *map(str, options)], check=True,
                   stdout=subprocess.DEVNULL)
    print(f"{name}: {out.stat().st_size / 1024:.0f} KiB in {time.monotonic() - begun:.2f} s")
    pages[name] = out
    return out


def make_pages():
    make("every_status", EVERY_STATUS)
    make("many", samples.write(folder / "many_run", samples.many()))
    make("killed", samples.write_killed(folder / "killed_run"))
    make("own", samples.write(folder / "own_run", samples.own()))
    old, new = (samples.write(folder / name, run) for name, run in zip(("old", "new"), samples.two_runs()))
    make("slower", new, "--baseline", old)
    if arguments.binary:
        runs = RealRuns(arguments.binary, arguments.faults, FAULTS_SUITE, folder)
        make("real", runs.plain())
        make("real_killed", runs.killed())
        old, new = runs.slowed()
        make("real_slower", new, "--baseline", old)
    for i, results in enumerate(arguments.results):
        make(f"given_{i}", Path(results).resolve())


def names_shown():
    return browser.evaluate("[...document.querySelectorAll('#table tbody tr')].filter(r => !r.hidden)"
                            ".map(r => r.cells[0].title)")


def column(key):
    """Returns the cells of a column as numbers, without the empty ones."""
    return browser.evaluate(
        "(() => { const headers = [...document.querySelectorAll('#table thead th')];"
        f"const i = headers.findIndex(h => h.dataset.k === '{key}');"
        "return [...document.querySelectorAll('#table tbody tr')].map(r => r.cells[i].dataset.v)"
        ".filter(v => v !== undefined).map(Number); })()")


def set_filter(text):
    browser.evaluate(f"(() => {{ const box = document.getElementById('filter'); box.value = {json.dumps(text)};"
                     "box.dispatchEvent(new Event('input')); })()")


class EveryPage(unittest.TestCase):
    def test_is_valid_html(self):
        for name, page in pages.items():
            with self.subTest(page=name):
                problems, checker = problems_of(page.read_text())
                self.assertEqual(problems, [], checker)

    def test_stays_below_its_limit(self):
        for name, page in pages.items():
            with self.subTest(page=name):
                self.assertLess(page.stat().st_size, 1_500_000)

    def test_loads_without_complaint_and_without_a_request(self):
        for name, page in pages.items():
            with self.subTest(page=name):
                for scripting in (True, False):
                    browser.open(page.as_uri(), scripting=scripting)
                    self.assertEqual(browser.complaints(), [])
                    requests = [url for url in browser.requests() if not url.startswith("data:")]
                    self.assertEqual(requests, [page.as_uri()])

    def test_breaks_at_no_width(self):
        for name, page in pages.items():
            with self.subTest(page=name):
                for width in WIDTHS:
                    browser.open(page.as_uri(), width=width)
                    self.assertLessEqual(browser.evaluate("document.documentElement.scrollWidth"), width, width)

    def test_shows_each_column_of_an_own_model_on_a_laptop(self):
        browser.open(pages["own"].as_uri(), width=1400)
        self.assertIn("Peak memory", browser.evaluate("document.querySelector('#table thead').innerText"))
        table = "document.getElementById('table')"
        self.assertLessEqual(*browser.evaluate(f"[{table}.scrollWidth, {table}.closest('.scroll').clientWidth]"))

    def test_shows_all_cases_without_scripts(self):
        for name, page in pages.items():
            with self.subTest(page=name):
                browser.open(page.as_uri(), scripting=False)
                self.assertTrue(browser.evaluate("document.querySelector('.tools').hidden"))
                rows = browser.evaluate("document.querySelectorAll('#table tbody tr').length")
                self.assertGreater(rows, 0)
                self.assertEqual(browser.evaluate("document.querySelectorAll('.case .body').length"), rows)
                self.assertEqual(browser.evaluate("[...document.querySelectorAll('#table a')]"
                                                  ".filter(a => !document.getElementById(a.hash.slice(1))).length"), 0)

    def test_opens_the_linked_detail_without_scripts(self):
        for name, page in pages.items():
            with self.subTest(page=name):
                browser.open(page.as_uri(), scripting=False)
                closed = "document.querySelector('details.case:not([open]) .body')"
                if browser.evaluate(closed + " === null"):
                    continue
                anchor = browser.evaluate(closed + ".id")
                browser.evaluate(f"document.querySelector('a[href=\"#{anchor}\"]').click()")
                self.assertTrue(browser.evaluate(f"document.getElementById('{anchor}').closest('details').open"))

    def test_is_readable_where_neither_style_nor_script_is_let_in(self):
        for name, page in pages.items():
            with self.subTest(page=name):
                browser.open_served(page.read_text(), {"Content-Security-Policy": JENKINS})
                self.assertTrue(browser.evaluate("document.querySelector('.tools').hidden"))
                self.assertGreater(browser.evaluate("document.querySelector('#table tbody tr').offsetHeight"), 10)
                self.assertIn("Torchstone", browser.evaluate("document.body.innerText.slice(0, 30)"))
                widest = "Math.max(0, ...[...document.querySelectorAll('svg')].map(s => s.clientWidth))"
                self.assertLess(browser.evaluate(widest), 1100)
                if arguments.shots:
                    browser.screenshot(Path(arguments.shots) / f"{name}_bare.png", tallest=2500)

    def test_prints(self):
        for name, page in pages.items():
            with self.subTest(page=name):
                browser.open(page.as_uri())
                self.assertGreater(len(browser.pdf()), 5000)

    def test_holds_the_results_it_was_made_from(self):
        for name, page in pages.items():
            with self.subTest(page=name):
                link = re.search(r'download="(results\.json[.gz]*)" href="data:[a-z/]+;base64,([^"]+)"',
                                 page.read_text())
                if link is None:  # a build without zlib
                    self.assertIn("Too large for this page", page.read_text())
                    continue
                data = base64.b64decode(link.group(2))
                results = json.loads(gzip.decompress(data) if link.group(1).endswith(".gz") else data)
                browser.open(page.as_uri())
                self.assertEqual(len(results["results"]),
                                 browser.evaluate("document.querySelectorAll('#table tbody tr').length"))

    def test_is_looked_at(self):
        if not arguments.shots:
            self.skipTest("no --shots FOLDER")
        shots = Path(arguments.shots)
        shots.mkdir(parents=True, exist_ok=True)
        for name, page in pages.items():
            with self.subTest(page=name):
                for width in WIDTHS:
                    for dark in (False, True):
                        browser.open(page.as_uri(), width=width, height=1000, dark=dark)
                        browser.screenshot(shots / f"{name}_{width}_{'dark' if dark else 'light'}.png", tallest=3000)


class ThePage(unittest.TestCase):
    def setUp(self):
        browser.open(pages["many"].as_uri())

    def test_sorts_by_a_click_and_back(self):
        before = names_shown()
        header = "document.querySelector('th[data-k=speedup] button')"
        for direction, reverse in (("ascending", False), ("descending", True)):
            browser.evaluate(header + ".click()")
            self.assertEqual(browser.evaluate("document.querySelector('th[data-k=speedup]').ariaSort"), direction)
            speedups = column("speedup")
            self.assertEqual(len(speedups), 200)
            self.assertEqual(speedups, sorted(speedups, reverse=reverse))
            self.assertIn("Performance", names_shown()[0])  # cases without this metric come last in both directions
        browser.evaluate(header + ".click()")
        self.assertEqual(names_shown(), before)

    def test_sorts_by_keyboard(self):
        browser.evaluate("document.querySelector('th[data-k=eager_ms] button').focus()")
        browser.press("Enter", text="\r")
        values = column("eager_ms")
        self.assertEqual(values, sorted(values))

    def test_filters_as_googletest_does(self):
        for text, count in (("*", 400), ("*model_00?_*", 40), ("*model_001_*:*model_002_*", 8), ("-*Accuracy*", 200),
                            ("*model_001_*-*inductor*:*Accuracy*", 1), ("model_001", 4), ("MODEL_001", 4),
                            ("torchbench", 400), ("no such case", 0), ("[(", 0), ("a.c*", 0)):
            with self.subTest(filter=text):
                set_filter(text)
                self.assertEqual(len(names_shown()), count)
                self.assertEqual(browser.evaluate("document.getElementById('shown').textContent"),
                                 f"{count} of 400 shown")

    def test_keeps_its_state_in_the_address(self):
        set_filter("*model_00*-*Accuracy*")
        browser.evaluate("document.querySelector('th[data-k=compile_s] button').click()")
        address, shown = browser.evaluate("location.href"), names_shown()
        self.assertIn("filter=", address)
        browser.open(address)
        self.assertEqual(names_shown(), shown)
        self.assertEqual(browser.evaluate("document.getElementById('filter').value"), "*model_00*-*Accuracy*")
        self.assertEqual(browser.evaluate("document.querySelector('th[data-k=compile_s]').ariaSort"), "ascending")

    def test_filters_by_the_counted_status(self):
        browser.open(pages["every_status"].as_uri())
        browser.evaluate("document.querySelector('header .ct button[data-status^=\"timeout\"]').click()")
        self.assertEqual(len(names_shown()), 1)
        browser.evaluate("document.getElementById('reset').click()")
        self.assertGreater(len(names_shown()), 20)

    def test_opens_the_detail_of_a_row(self):
        browser.evaluate("document.querySelectorAll('#table a')[7].click()")
        self.assertTrue(browser.evaluate("document.getElementById('c7').closest('details').open"))
        self.assertGreater(browser.evaluate("document.querySelectorAll('#c7 svg').length"), 3)
        browser.open(browser.evaluate("location.href"))
        self.assertTrue(browser.evaluate("document.getElementById('c7').closest('details').open"))

    def test_is_reached_by_the_tab_key(self):
        reached = set()
        for _ in range(30):
            browser.press("Tab")
            reached.add(browser.evaluate("document.activeElement.tagName + '.' + document.activeElement.id"))
        self.assertIn("INPUT.filter", reached)
        self.assertIn("BUTTON.reset", reached)
        self.assertTrue({"A.", "BUTTON."} <= reached, reached)

    def test_harms_nobody_by_names(self):
        browser.open(pages["every_status"].as_uri())
        self.assertEqual(browser.evaluate("document.scripts.length"), 1)
        self.assertEqual(browser.evaluate("document.querySelectorAll('main b b, img, iframe').length"), 0)
        titles = names_shown()
        self.assertTrue(any("<script>&\"'" in title for title in titles), titles)

    def test_shows_a_slow_down_first(self):
        browser.open(pages["slower"].as_uri())
        first = browser.evaluate("document.querySelector('#attention .case').textContent")
        self.assertIn("model_3_", first)
        self.assertIn("SLOWER", first)
        self.assertTrue(browser.evaluate("document.querySelector('#attention .case').open"))
        self.assertEqual(browser.evaluate("document.querySelectorAll('#baseline svg.slope').length"), 1)
        self.assertIn("model_3_", browser.evaluate("document.querySelector('#baseline tbody tr').textContent"))

    def test_of_real_runs_shows_the_planted_slow_down_first(self):
        if not arguments.binary:
            self.skipTest("no --binary TORCHSTONE")
        browser.open(pages["real_slower"].as_uri())
        first = browser.evaluate("document.querySelector('#attention .case summary').textContent")
        self.assertIn(SLOWED, first)
        self.assertIn("SLOWER", first)
        self.assertIn(SLOWED, browser.evaluate("document.querySelector('#baseline tbody tr').textContent"))

    def test_of_a_real_killed_run_names_every_case(self):
        if not arguments.binary:
            self.skipTest("no --binary TORCHSTONE")
        browser.open(pages["real_killed"].as_uri())
        self.assertIn("2 of 3 cases are not as expected", browser.evaluate("document.querySelector('h1').textContent"))
        attention = browser.evaluate("document.querySelector('#attention').textContent")
        for text in ("hangs_", "never finished", "branches_", "not run: the run ended before it"):
            self.assertIn(text, attention)

    def test_says_what_a_killed_run_was_doing(self):
        browser.open(pages["killed"].as_uri())
        self.assertIn("1 of 3", browser.evaluate("document.querySelector('h1').textContent"))
        self.assertIn("never finished", browser.evaluate("document.querySelector('#attention').textContent"))
        self.assertIn("killed", browser.evaluate("document.querySelector('header').textContent"))


def main():
    global arguments, browser, folder
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--binary")
    parser.add_argument("--faults")
    parser.add_argument("--shots")
    parser.add_argument("--results", action="append", default=[])
    arguments, rest = parser.parse_known_args()
    program = find_chromium()
    if program is None:
        print("skipped: neither chromium nor google-chrome is in PATH (Debian: apt-get install chromium)")
        return 77
    with tempfile.TemporaryDirectory(prefix="torchstone_pages_") as name:
        folder = Path(name)
        make_pages()
        print("HTML is checked by", problems_of("<!DOCTYPE html><title>x</title>")[1])
        with Browser(program) as browser:
            return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
