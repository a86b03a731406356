"""pictures.py REPORT_TOOL RESULTS [--baseline OLD] [--model NAME] [--own RESULTS]: takes the screenshots for README and
docs from pages of real runs. Writes to docs/pictures the top of the page in both themes, the details of one timing, and
the top of the page for a user's own model."""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from browser import Browser, find_chromium

PICTURES = Path(__file__).resolve().parents[3] / "docs/pictures"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("results")
    parser.add_argument("--baseline")
    parser.add_argument("--model", default="resnet18", help="whose timing is shown in detail")
    parser.add_argument("--own", help="a run of one's own model")
    arguments = parser.parse_args()
    program = find_chromium()
    if program is None:
        print("neither chromium nor google-chrome is in PATH (Debian: apt-get install chromium)", file=sys.stderr)
        return 77
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Browser(program) as browser:
        page, own = Path(folder) / "report.html", Path(folder) / "own.html"

        def write(page, results, *options):
            subprocess.run([arguments.tool, "html", results, "-o", str(page), *options], check=True, stdout=subprocess.DEVNULL)

        if arguments.own:
            write(own, arguments.own)
            browser.open(own.as_uri(), width=1400, height=720)
            browser.screenshot(PICTURES / "own_model.png", whole=False)
        write(page, arguments.results, *(["--baseline", arguments.baseline] if arguments.baseline else []))
        for theme in ("light", "dark"):
            browser.open(page.as_uri(), width=1280, height=760, dark=theme == "dark")
            browser.screenshot(PICTURES / f"page_{theme}.png", whole=False)
        timings = "[...document.querySelectorAll('#table a')].filter(a => document.querySelector(a.hash + ' .dt'))"
        timing = f"({timings}.find(a => a.textContent === {json.dumps(arguments.model)}) ?? {timings}[0])"
        if browser.evaluate(f"Boolean({timing})"):
            browser.open(page.as_uri(), width=1180, height=520)
            browser.evaluate(f"{timing}.click()")
            browser.screenshot(PICTURES / "detail.png", whole=False)
    for picture in sorted(PICTURES.glob("*.png")):
        print(picture.name, f"{picture.stat().st_size / 1024:.0f} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
