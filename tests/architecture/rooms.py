#!/usr/bin/env python3
"""Computes the dependencies between rooms from the #includes, and rejects those that point upwards.

A room is a folder in cases/, fixtures/, models/ or reports/. ORDER lists the rooms from top to bottom. A room may use
the rooms below it in the same folder. USES lists the other folders whose rooms it may use. Dependencies are therefore
never circular. `rooms.py` prints the table of rooms. `rooms.py --check` prints violations and exits with 1 if there are
any.
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
# Installed headers (<torchstone/…>), which form the lowest room of their folder.
PUBLIC = "include"
# Files that include no other file of the project. Every room of every folder may include them.
GROUND = [pathlib.Path("models/core/registration.h")]
# The folders that each folder may use. models and reports do not know each other.
USES = {"cases": ["fixtures", "models", "reports"], "fixtures": ["models", "reports"], "models": [], "reports": []}
# Libraries that a build may omit, and the only file outside the library that may include it.
OPTIONAL = {("fixtures", "diagnose"): pathlib.Path("cases/main/main.cpp")}
INCLUDE = re.compile(r'^\s*#include (?:"([a-z_]+/[^"]+)"|<(torchstone/[^>]+)>)', re.MULTILINE)


def room_of(path):
    """Returns ("reports", "base") for reports/base/text.h. Subfolders of a room, such as html/, belong to the room."""
    folder, room = path.parts[0], path.parts[1] if len(path.parts) > 2 else None
    return folder, room


def sources(root):
    for folder in ORDER:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path.relative_to(root)


def target_of(root, quoted, public):
    """Returns the included file relative to the root, or None if it is not a file of the project."""
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


# Public headers may include the standard library, other public headers and LibTorch.
ALLOWED_IN_PUBLIC = re.compile(r"[a-z_]+|torchstone/[a-z_]+\.h|(torch|ATen|c10)/[\w/]+\.h")


def strangers(root, path):
    """Returns the includes that a public header must not have."""
    included = re.findall(r'^\s*#include [<"]([^>"]+)[>"]', (root / path).read_text(), re.MULTILINE)
    return [name for name in included if not ALLOWED_IN_PUBLIC.fullmatch(name)]


def place(room):
    folder, name = room
    rooms = ORDER[folder] + [PUBLIC]
    return rooms.index(name) if name in rooms else None


def fault_of(source, target):
    """Returns why a file in the room `source` must not include one in `target`, or None if it may."""
    if source == target:
        return None
    if source[0] != target[0]:
        return None if target[0] in USES[source[0]] else f"{source[0]}/ does not use {target[0]}/"
    return None if place(source) < place(target) else "the arrow points up"


def survey(root):
    """Returns the number of files in each room, the number of includes of each dependency, and the violations."""
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
