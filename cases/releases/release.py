"""Parses and orders names of torch releases, and reads pip's list of them."""
import dataclasses
import os
import re

PATTERN = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:\.dev(\d{8}))?(?:\+[a-z0-9.]+)?")

# Environment variables that select one torch. Programs run without them, because every release has its own torch.
OF_ONE_RELEASE = ("TORCHSTONE_PYTHON", "TORCHSTONE_LIBTORCH", "TORCHSTONE_TORCH", "TORCHSTONE_RELEASES_SOURCE", "TORCHSTONE_OUT",
                  "VIRTUAL_ENV", "PYTHONPATH", "GTEST_FILTER")


def environment():
    """Returns the environment variables for programs that run for one release."""
    return {name: value for name, value in os.environ.items() if name not in OF_ONE_RELEASE}


@dataclasses.dataclass(frozen=True)
class Release:
    """A release of torch, and the program that was built with it if the user names one (RELEASE=PROGRAM)."""
    name: str
    program: str = ""


def order(name):
    """Returns a key that sorts releases by age, or None if the name is no release. A nightly (2.15.0.dev20261101) precedes its
    release."""
    match = PATTERN.fullmatch(name)
    if not match:
        return None
    *numbers, nightly = match.groups()
    return (*map(int, numbers), int(nightly or 99999999))


def numbers_of(name):
    """Returns the version that LibTorch reports: 2.15.0 for 2.15.0.dev20261101."""
    return ".".join(name.split("+")[0].split(".")[:3])


def is_nightly(name):
    return ".dev" in name


def is_older(name, minor):
    """Returns whether a release is older than a minor release such as 2.11."""
    return order(name)[:2] < tuple(map(int, minor.split(".")))


def parse_release(text):
    """Parses RELEASE or RELEASE=PROGRAM. Raises ValueError."""
    name, equals, program = text.partition("=")
    if order(name) is None:
        raise ValueError(f"'{text}' is no release of torch (expected one such as 2.14.1, 2.15.0.dev20261101 or 2.14.1=/path/to/torchstone)")
    if equals and not program:
        raise ValueError(f"'{text}' names no program (expected {name}=/path/to/torchstone, or {name} to build one)")
    return Release(name, program)


def parse_releases(texts):
    """Returns the releases, the oldest first. Raises ValueError for a wrong name, a duplicate, or fewer than two."""
    releases = sorted(map(parse_release, texts), key=lambda release: order(release.name))
    names = [release.name for release in releases]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is named twice")
    if len(releases) < 2:
        raise ValueError(f"{len(releases)} release (expected 2 or more)")
    return releases


def listed(listing):
    """Returns the release names in the output of `pip index versions`, the oldest first."""
    known = re.search(r"^Available versions: (.*)$", listing, flags=re.M)
    names = {name.strip() for name in known.group(1).split(",")} if known else set()
    return sorted(filter(order, names), key=order)


def between(first, last, listing):
    """Returns the releases between two others in the output of `pip index versions`, the oldest first."""
    inside = dict.fromkeys(name.split("+")[0] for name in listed(listing) if order(first) < order(name) < order(last))
    return [Release(name) for name in inside]
