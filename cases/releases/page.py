"""Writes the table case × release as text, Markdown and HTML."""
import html

STYLE = """body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; color: #222; background: #fff; }
table { border-collapse: collapse; } th, td { border: 1px solid #ccc; padding: .3rem .6rem; text-align: left; vertical-align: top; }
th { background: #f3f3f3; } td.worse { background: #ffd9d6; } td.better { background: #d9f2dc; } td.other { background: #fff3cd; }
li.worse b { color: #b00020; } small { color: #555; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818; } th { background: #2a2a2a; } th, td { border-color: #444; }
td.worse { background: #5a1f1f; } td.better { background: #1f4a2a; } td.other { background: #4d4116; } small { color: #aaa; }
a { color: #8ab4f8; } li.worse b { color: #ff8a80; } }
"""
BETTER = ("fixed", "faster", "new")


def numbers(cell):
    parts = [cell.speed.words()] if cell.speed else []
    if cell.compile_s is not None:
        parts.append(f"{cell.compile_s:.1f} s")
    if cell.peak_bytes is not None:
        parts.append(f"{cell.peak_bytes / 2**20:.1f} MiB")
    return " · ".join(parts)


def plain(cell):
    return " ".join(filter(None, [cell.status, numbers(cell)])) if cell else "no row"


def marks(changes):
    """Returns {(case, release): CSS class of the cell}. If several changes affect a cell, "worse" takes precedence."""
    found = {}
    for change in changes:
        kind = "worse" if change.is_worse else "better" if change.kind in BETTER else "other"
        at = (change.case, change.after)
        if found.get(at) != "worse":
            found[at] = kind
    return found


def change_words(change):
    return f"{change.kind}: {change.case}: {change.before} → {change.after}: {change.words}"


class Page:
    """Input of all output formats. `report` names the HTML page of the merged results, whose anchors are their indices; it may
    be empty."""

    def __init__(self, columns, table, changes, verdict, report=""):
        self.columns, self.table, self.changes, self.verdict, self.report = columns, table, changes, verdict, report
        self.marks = marks(changes)
        self.releases = [column.release for column in columns]

    def link(self, cell):
        return f"{self.report}#c{cell.place}" if self.report and cell and cell.place is not None else ""

    def faults(self):
        return [f"{column.release}: {fault}" for column in self.columns for fault in column.faults]

    def costs(self):
        return ", ".join(f"{column.release} {column.run_s:.0f} s (set-up {column.made_s:.0f} s)" for column in self.columns)

    def text(self):
        marked = {"worse": "!", "better": "+", "other": "*"}
        lines = [["case", *self.releases]]
        for case, row in self.table.items():
            shown = [plain(row.get(release)) + marked.get(self.marks.get((case, release)), "") for release in self.releases]
            lines.append([case, *shown])
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        out = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
        out += [""] + [change_words(change) for change in self.changes] if self.changes else []
        return "\n".join([*out, *self.faults(), f"time: {self.costs()}", self.verdict])

    def markdown(self):
        def cell_words(case, release):
            cell = self.table[case].get(release)
            words, link = plain(cell).replace("|", "\\|"), self.link(cell)
            words = f"[{words}]({link})" if link else words
            return f"**{words}**" if (case, release) in self.marks else words

        lines = [f"# Releases of torch\n\n{self.verdict}\n", "| case | " + " | ".join(self.releases) + " |", "|---" * (len(self.releases) + 1) + "|"]
        lines += [f"| `{case}` | " + " | ".join(cell_words(case, release) for release in self.releases) + " |" for case in self.table]
        if self.changes:
            lines += ["\n## What changed\n"] + [f"- {self.change_markdown(change)}" for change in self.changes]
        if self.faults():
            lines += ["\n## What failed\n"] + [f"- {fault}" for fault in self.faults()]
        return "\n".join([*lines, f"\nTime: {self.costs()}."]) + "\n"

    def sides(self, change):
        """Returns (release, link to its row) for both releases of a change."""
        return [(release, self.link(self.table[change.case].get(release))) for release in (change.before, change.after)]

    def change_markdown(self, change):
        before, after = (f"[{release}]({link})" if link else release for release, link in self.sides(change))
        return f"**{change.kind}** `{change.case}`, {before} → {after}: {change.words}"

    def html(self):
        escape = html.escape

        def linked(words, link):
            return f'<a href="{escape(link)}">{escape(words)}</a>' if link else escape(words)

        out = ['<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
               f"<title>Releases of torch</title><style>{STYLE}</style><h1>Releases of torch</h1><p>{escape(self.verdict)}</p>"]
        if self.faults():
            out.append("<h2>What failed</h2><ul>" + "".join(f"<li>{escape(fault)}</li>" for fault in self.faults()) + "</ul>")
        if self.changes:
            out.append('<h2 id="changes">What changed</h2><ul>')
            for change in self.changes:
                before, after = (linked(release, link) for release, link in self.sides(change))
                out.append(f'<li{" class=worse" if change.is_worse else ""}><b>{escape(change.kind)}</b> <code>{escape(change.case)}</code>, '
                           f"{before} → {after}: {escape(change.words)}</li>")
            out.append("</ul>")
        out.append("<h2>All cases</h2><table><tr><th>case" + "".join(f"<th>{escape(release)}" for release in self.releases) + "</tr>")
        for case, row in self.table.items():
            out.append(f"<tr><th><code>{escape(case)}</code>")
            for release in self.releases:
                cell = row.get(release)
                mark = self.marks.get((case, release))
                out.append(f'<td{f" class={mark}" if mark else ""}>{linked(cell.status if cell else "no row", self.link(cell))}'
                           f"<br><small>{escape(numbers(cell)) if cell else ''}</small></td>")
            out.append("</tr>")
        out.append(f"</table><p>Per case: verdict, speed-up with its interval, compile time, peak memory. Time: {escape(self.costs())}.</p></html>")
        return "\n".join(out) + "\n"
