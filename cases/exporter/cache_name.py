"""Names an archive in a cache folder by everything that its content depends on, without importing torch."""
import hashlib
import importlib.metadata
import json
import os
import re
import sys

import sources


def version_of(package):
    """Returns the installed version; empty for a missing package."""
    for name in (package, package.replace("_", "-")):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return ""


def versions(packages):
    found = {package: version_of(package) for package in ("torch", *packages)}
    return {package: version for package, version in found.items() if version}


def own_digest():
    folder = os.path.dirname(os.path.abspath(__file__))
    digest = hashlib.sha256()
    for file in sorted(os.listdir(folder)):
        if file.endswith(".py"):
            with open(os.path.join(folder, file), "rb") as stream:
                digest.update(stream.read())
    return digest.hexdigest()


def of(source, options):
    weights = None
    if options.weights:
        facts = os.stat(options.weights)
        weights = [os.path.abspath(options.weights), facts.st_size, facts.st_mtime_ns]
    key = [own_digest(), sys.version_info[:2], versions(sources.packages_of(source)), source, options.preset, options.mode,
           options.batch_size, options.dtype, options.seed, weights]
    # The folder's name contains the key, so the file and the model keep a readable name.
    readable = re.sub(r"[^A-Za-z0-9_]", "_", source[1])[:80]
    return os.path.join(hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16], f"{readable}.pt2")
