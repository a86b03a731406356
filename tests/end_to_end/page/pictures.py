"""pictures.py REPORT_TOOL RESULTS [--baseline OLD] [--model NAME]: the pictures of README, taken from the page of a real run.
Written to docs/pictures: the top of the page in both themes, and the detail of one timing."""
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
    arguments = parser.parse_args()
    program = find_chromium()
    if program is None:
        print("neither chromium nor google-chrome is in PATH (Debian: apt-get install chromium)", file=sys.stderr)
        return 77
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Browser(program) as browser:
        page = Path(folder) / "report.html"
        baseline = ["--baseline", arguments.baseline] if arguments.baseline else []
        subprocess.run([arguments.tool, "html", arguments.results, "-o", str(page), *baseline], check=True,
                       stdout=subprocess.DEVNULL)
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
