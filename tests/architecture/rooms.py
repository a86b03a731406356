#!/usr/bin/env python3
"""Draws the arrows between rooms from the #includes and refuses arrows that point up.

A room is a folder inside cases/, fixtures/, models/ or reports/; ORDER lists the rooms from the top down. A room may use
the rooms below it, and a folder the rooms of the folders below it, so there is no circle between rooms either.
`rooms.py` prints the table of rooms; `rooms.py --check` prints what is wrong and exits with 1.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ZOO = ["vision", "language", "audio", "recommendation", "reinforcement", "science", "graph"]
ORDER = {
    "cases": ["main", "report_tool", "selection", "settings"],
    "fixtures": ["diagnose", "isolate", "checks", "backends", "compile", "capture", "compare", "measure", "core"],
    "models": [*ZOO, "blocks", "fastrnns", "operators", "formats", "core"],
    "reports": ["write", "console", "judge", "record", "statistics", "base"],
}
# Headers that are installed (<torchstone/…>): the lowest room of their folder.
PUBLIC = "include"
# Files that include nothing of the project and so stand below every room of every folder.
GROUND = [pathlib.Path("models/core/registration.h")]
# Which folders a folder uses. models and reports do not know each other.
USES = {"cases": ["fixtures", "models", "reports"], "fixtures": ["models", "reports"], "models": [], "reports": []}
# Libraries that a build may leave out, and the only file outside that includes them.
OPTIONAL = {("fixtures", "diagnose"): pathlib.Path("cases/main/main.cpp")}
INCLUDE = re.compile(r'^\s*#include (?:"([a-z_]+/[^"]+)"|<(torchstone/[^>]+)>)', re.MULTILINE)


def room_of(path):
    """("reports", "base") of reports/base/text.h; html/ and other folders inside a room belong to the room."""
    folder, room = path.parts[0], path.parts[1] if len(path.parts) > 2 else None
    return folder, room


def sources(root):
    for folder in ORDER:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path.relative_to(root)


def target_of(root, quoted, public):
    """The included file, relative to the root; None when it is none of ours."""
    if quoted:
        return pathlib.Path(quoted) if (root / quoted).is_file() else None
    for folder in ORDER:
        if (root / folder / PUBLIC / public).is_file():
            return pathlib.Path(folder, PUBLIC, public)
    return None


def includes(root, path):
    for quoted, public in INCLUDE.findall((root / path).read_text()):
        target = target_of(root, quoted, public)
        if target is not None and target.parts[0] in ORDER:
            yield target


# What a public header may include beside public headers: the standard library and LibTorch.
ALLOWED_IN_PUBLIC = re.compile(r"[a-z_]+|torchstone/[a-z_]+\.h|(torch|ATen|c10)/[\w/]+\.h")


def strangers(root, path):
    """The includes that a public header may not have."""
    included = re.findall(r'^\s*#include [<"]([^>"]+)[>"]', (root / path).read_text(), re.MULTILINE)
    return [name for name in included if not ALLOWED_IN_PUBLIC.fullmatch(name)]


def place(room):
    folder, name = room
    rooms = ORDER[folder] + [PUBLIC]
    return rooms.index(name) if name in rooms else None


def fault_of(source, target):
    """Why a file of `source` may not include one of `target`; None when it may."""
    if source == target:
        return None
    if source[0] != target[0]:
        return None if target[0] in USES[source[0]] else f"{source[0]}/ does not use {target[0]}/"
    return None if place(source) < place(target) else "the arrow points up"


def survey(root):
    """Rooms with their number of files, arrows with their number of includes, and the faults."""
    rooms, arrows, faults = {}, {}, []
    for path in sources(root):
        room = room_of(path)
        if room[1] is None or place(room) is None:
            faults.append(f"{path}: no room in ORDER: move the file into one, or add its room")
            continue
        rooms[room] = rooms.get(room, 0) + 1
        if room[1] == PUBLIC:
            faults += [f"{path}: includes {name}: a public header includes the standard library, LibTorch and public headers"
                       for name in strangers(root, path)]
        for target in includes(root, path):
            if path in GROUND:
                faults.append(f"{path}: includes {target}: it is in GROUND, which includes nothing of the project")
            if target in GROUND:
                continue
            other = room_of(target)
            if place(other) is None:
                continue  # its own fault is reported
            if room != other:
                arrows[room, other] = arrows.get((room, other), 0) + 1
            why = fault_of(room, other)
            if why is None and room != other and OPTIONAL.get(other, path) != path:
                why = f"a build may lack {'/'.join(other)}, so only {OPTIONAL[other]} includes it"
            if why is not None:
                faults.append(f"{path}: includes {target}: {why}")
    for folder, names in ORDER.items():
        faults += [f"{folder}/{name}: in ORDER, but there is no file" for name in names if (folder, name) not in rooms]
    return rooms, arrows, faults


def table(rooms, arrows):
    lines = ["| room | files | uses |", "|---|---|---|"]
    for folder, names in ORDER.items():
        for name in [*names, PUBLIC]:
            if (folder, name) in rooms:
                targets = sorted((b for a, b in arrows if a == (folder, name)), key=lambda b: (b[0] != folder, b[0], place(b)))
                used = [b[1] if b[0] == folder else "/".join(b) for b in targets]
                lines.append(f"| {folder}/{name} | {rooms[folder, name]} | {', '.join(used)} |")
    return "\n".join(lines)


def main(arguments):
    rooms, arrows, faults = survey(ROOT)
    if "--check" not in arguments:
        print(table(rooms, arrows))
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
