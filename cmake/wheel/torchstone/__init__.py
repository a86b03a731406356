"""Torchstone's programs as a wheel: bin/, lib/ and share/ beside this file are what `cmake --install` lays out."""
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# For CMake: -DCMAKE_PREFIX_PATH=$(python -c "import torchstone; print(torchstone.prefix)")
prefix = str(HERE)


def start(program):
    """Replaces this process by the program, which uses this Python's torch and compiles in this Python."""
    launcher = HERE / "bin" / program
    environment = {"TORCHSTONE_PYTHON": sys.executable, **os.environ, "TORCHSTONE_LAUNCHED_AS": os.path.abspath(sys.argv[0])}
    try:
        os.execve(launcher, [str(launcher), *sys.argv[1:]], environment)
    except OSError as error:
        sys.exit(f"{program}: {launcher} cannot be started (it needs /bin/bash): {error.strerror}")


def torchstone():
    start("torchstone")


def torchstone_report():
    start("torchstone-report")


def torchstone_export():
    start("torchstone-export")


def torchstone_releases():
    start("torchstone-releases")


def torchstone_slurm():
    start("torchstone-slurm")
