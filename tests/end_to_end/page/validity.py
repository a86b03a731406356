"""Checks that a text is valid HTML, with html5lib's parser if it is installed, otherwise by the balance of its tags."""
from html.parser import HTMLParser

try:
    import html5lib
except ImportError:
    html5lib = None

VOID = {"meta", "link", "input", "br"}
# Elements whose end tag may be omitted (HTML, section 13.1.2.4).
OPTIONAL = {"tr", "td", "th", "thead", "tbody", "li", "dt", "dd", "p"}


class _Balance(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.problems = [], []

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.problems.append(f"{self.getpos()}: an attribute of <{tag}> is given twice")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        while self.open and self.open[-1] in OPTIONAL and self.open[-1] != tag:
            self.open.pop()
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"{self.getpos()}: </{tag}> closes nothing")


def problems_of(text):
    """Returns at most ten errors in the page, and the name of the checker."""
    if html5lib:
        parser = html5lib.HTMLParser(strict=False)
        parser.parse(text)
        found = [f"{place}: {code} {values}" for place, code, values in parser.errors]
        return found[:10], "html5lib " + html5lib.__version__
    balance = _Balance()
    balance.feed(text)
    balance.close()
    if [tag for tag in balance.open if tag not in OPTIONAL]:
        balance.problems.append(f"never closed: {balance.open}")
    return balance.problems[:10], "html.parser (balance of tags)"
