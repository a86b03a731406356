"""Build backend of the wheel: scikit-build-core, extended by metadata that depends on torch and the system.

The torch is that of TORCHSTONE_PYTHON or TORCHSTONE_LIBTORCH if one is set, else of the active virtual environment, else of
the Python that builds (in an isolated build pip installs one). The wheel requires exactly this version."""
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from scikit_build_core import build as scikit
from scikit_build_core.build import build_sdist, get_requires_for_build_sdist  # noqa: F401  (hooks of PEP 517)

VERSIONS = dict(line.split("=") for line in (Path(__file__).parents[1] / "torch_versions").read_text().split() if "=" in line)


def torch_to_install():
    """Returns the torch of an isolated build: TORCHSTONE_TORCH, otherwise the release that quickstart.sh installs."""
    return f"torch=={os.environ.get('TORCHSTONE_TORCH') or VERSIONS['default_torch']}"


def platform_tag():
    """Returns manylinux_X_Y for this system's C library. pip refuses the wheel on systems with an older one (PEP 600)."""
    name, version = platform.libc_ver()
    if name != "glibc":
        return f"linux_{platform.machine()}"
    return f"manylinux_{version.replace('.', '_')}_{platform.machine()}"


def with_tag(config_settings):
    """Returns the wheel with a tag for any Python 3, because no Python code is compiled."""
    return {"wheel.tags": f"py3-none-{platform_tag()}", **(config_settings or {})}


def version_in(python):
    """Returns the version of torch that `python` imports, without the local part (+cpu, +cu130); None without torch."""
    for options in ([], ["-E"]):  # -E: pip hides the packages of an environment from an isolated build through PYTHONPATH
        asked = subprocess.run([python, *options, "-c", "import importlib.metadata as m; print(m.version('torch'))"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if asked.returncode == 0:
            return asked.stdout.strip().split("+")[0]
    return None


def take_active_environment():
    """Builds with the torch of the active virtual environment, if it has one and none is given."""
    python = Path(os.environ.get("VIRTUAL_ENV", ""), "bin", "python")
    if not torch_is_given() and os.environ.get("VIRTUAL_ENV") and python.exists() and version_in(python):
        os.environ["TORCHSTONE_PYTHON"] = str(python)


def torch_is_given():
    return bool(os.environ.get("TORCHSTONE_LIBTORCH") or os.environ.get("TORCHSTONE_PYTHON"))


def torch_version():
    """Returns the version of the LibTorch that CMake finds (cmake/LibTorch.cmake), without the local part (+cpu, +cu130)."""
    libtorch = os.environ.get("TORCHSTONE_LIBTORCH")
    if libtorch:
        header = (Path(libtorch) / "include/torch/headeronly/version.h").read_text()
        return ".".join(re.findall(r"define TORCH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
    python = os.environ.get("TORCHSTONE_PYTHON") or sys.executable
    found = version_in(python)
    if not found:
        raise SystemExit(f"torchstone: no torch in {python}: install torch {VERSIONS['oldest_torch']} or newer in it, or set "
                         "TORCHSTONE_PYTHON or TORCHSTONE_LIBTORCH")
    return found


def dynamic_metadata(_settings, _project):
    """A provider of scikit-build-core's dynamic metadata."""
    return {"dependencies": [f"torch=={torch_version()}"]}


def get_requires_for_build_wheel(config_settings=None):
    return scikit.get_requires_for_build_wheel(config_settings) + ([] if torch_is_given() else [torch_to_install()])


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return scikit.prepare_metadata_for_build_wheel(metadata_directory, with_tag(config_settings))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    if not torch_is_given():
        os.environ["TORCHSTONE_PYTHON"] = sys.executable  # what cmake/LibTorch.cmake reads
    return scikit.build_wheel(wheel_directory, with_tag(config_settings), metadata_directory)


take_active_environment()
