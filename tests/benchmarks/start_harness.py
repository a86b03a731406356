"""Starts a script of PyTorch's harness where parts of its surroundings are absent: start_harness.py FOLDER SCRIPT ARGUMENT…

- FOLDER has missing_operators.py (cases/exporter), which declares torchvision's operators where its extension does not load.
- pytorch/benchmark has no timm_models.yaml. Its lists name models, and a class of a file has another name, so empty lists are
  as good."""
import os
import runpy
import sys


class Nothing(dict):
    """Lists by names, all of them empty."""

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
