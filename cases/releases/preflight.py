"""Checks the releases of a call before the first one is installed."""
import os
import pathlib

import environments
import release

LONGEST_LIST = 8  # number of releases that a message lists


class Refused(Exception):
    """Raised for requested releases that cannot be used. Its text has one release per line."""


def check(releases, made, say):
    """Raises Refused if a release cannot be used, or environments.Unusable if a program that the user names does not run."""
    refusals, failures = refusals_of([wanted for wanted in releases if not wanted.program], made, say), []
    for wanted in releases:
        if wanted.program:
            try:
                refusals += refusals_of_program(wanted)
            except environments.Unusable as error:
                failures.append(f"{wanted.name}: {error}")
    if refusals:
        raise Refused("\n".join(refusals + failures))
    if failures:
        raise environments.Unusable("\n".join(failures))


def refusals_of(releases, made, say):
    """Returns a text for each release that cannot be installed. Does not check whether they exist if pip fails to list
    releases."""
    if not releases:
        return []
    oldest = made.oldest()
    refusals = [f"{wanted.name}: too old (expected {oldest} or newer)" for wanted in releases if release.is_older(wanted.name, oldest)]
    new = [wanted for wanted in releases if not release.is_older(wanted.name, oldest) and not made.is_installed(wanted)]
    if not new:
        return refusals
    try:
        offered = release.listed(made.known_to_pip(nightlies=any(release.is_nightly(wanted.name) for wanted in new)))
    except environments.Unusable as error:
        say(f"{error}; whether the releases exist is not checked")
        return refusals
    supported = list(dict.fromkeys(name.split("+")[0] for name in reversed(offered) if not release.is_older(name, oldest)))
    names = {*offered, *supported}
    shown = ", ".join(supported[:LONGEST_LIST]) + (", …" if len(supported) > LONGEST_LIST else "")
    return refusals + [f"{wanted.name}: no such release (pip offers {shown or 'none'})" for wanted in new if offered and wanted.name not in names]


def refusals_of_program(wanted):
    """Returns why a program that the user names cannot be used, as a list of at most one text: it is missing, or was built with
    another release. Raises environments.Unusable if it does not run."""
    program = pathlib.Path(wanted.program)
    if not program.is_file() or not os.access(program, os.X_OK):
        return [f"{wanted.name}: {program} is no program"]
    difference = environments.difference_of(program, wanted)
    return [f"{wanted.name}: {difference}"] if difference else []
