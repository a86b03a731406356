#!/usr/bin/env python3
"""site.py [--out FOLDER]: builds the documentation site (docs/mkdocs.yml). A warning, such as a broken link or a page that the
navigation lacks, is an error. Without --out the site is built in a temporary folder, as a check. Exit status 77: mkdocs-material is
not installed.

The pages link to each other and to files outside docs/ by the paths of the repository. So the site is built from a copy with the
same paths: docs/ and every file that a page links to."""
import argparse
import logging
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77


def linked_files(page):
    """The existing files of the repository that a page links to."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    for target in re.findall(r'\]\(([^)#\s]+)|(?:src|srcset|href)="([^"#]+)"', text):
        file = (page.parent / "".join(target)).resolve()
        if file.is_file() and file.is_relative_to(ROOT):
            yield file


def copy_pages(folder):
    """Copies README.md, docs/ and what their pages link to, with their paths."""
    left = [ROOT / "README.md", *(file for file in (ROOT / "docs").rglob("*") if file.suffix in (".md", ".csv"))]
    copied = set()
    while left:
        file = left.pop()
        if file in copied:
            continue
        copied.add(file)
        copy = folder / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        if file.suffix == ".md":
            left += linked_files(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder of the site, which is replaced")
    out = parser.parse_args().out
    if out and out.exists() and not (out / "sitemap.xml").exists() and any(out.iterdir()):
        parser.error(f"--out {out}: holds other files than a site, and would be emptied")
    try:
        import material  # noqa: F401  the theme
        from mkdocs.commands.build import build
        from mkdocs.config import load_config
        from mkdocs.exceptions import MkDocsException
    except ImportError as error:
        print(f"{error}: the site is not built. Run: {sys.executable} -m pip install mkdocs-material")
        return SKIPPED
    logging.basicConfig(format="%(levelname)s: %(message)s")
    with tempfile.TemporaryDirectory() as temporary:
        pages = Path(temporary) / "pages"
        copy_pages(pages)
        site = out.resolve() if out else Path(temporary) / "site"
        try:
            build(load_config(str(ROOT / "docs/mkdocs.yml"), docs_dir=str(pages), site_dir=str(site)))
        except MkDocsException as error:
            print(error, file=sys.stderr)
            return 1
        print(f"{len(list(site.rglob('*.html')))} pages{f' in {site}' if out else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
