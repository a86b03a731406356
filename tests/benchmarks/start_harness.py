"""Starts a script of PyTorch's harness although some of its dependencies are missing: start_harness.py FOLDER SCRIPT
ARGUMENT…

- FOLDER contains missing_operators.py (cases/exporter). It declares torchvision's operators if the extension does not
  load.
- pytorch/benchmark lacks timm_models.yaml. The lists in that file contain model names. Classes from a file have other
  names, so empty lists have the same effect."""
import os
import runpy
import sys


class Nothing(dict):
    """A policy file in which every list is empty."""

    def __missing__(self, key):
        return Nothing()


def main():
    folder, script = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    sys.path[0:1] = [os.path.dirname(script), folder]
    import missing_operators
    missing_operators.declare()
    import common
    load = common.load_yaml_file
    common.load_yaml_file = lambda name: load(name) if os.path.exists(os.path.join(os.path.dirname(script), name)) else Nothing()
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
