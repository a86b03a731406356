#!/usr/bin/env python3
"""Exports a model of a Python package, with sample inputs, as a .pt2 file that Torchstone judges.

  torchstone-export timm:ghostnet_100 -o ghostnet.pt2
  torchstone --torchstone_only=ghostnet.pt2

The Python package makes the model from its configuration, with random weights (a fixed seed) or those of --weights. The
file also holds the outputs of Python's eager mode, so that Torchstone can compare its own with them before it judges
anything.

sources:
  timm:NAME             a model of timm.create_model
  torchvision:NAME      a model of torchvision.models.get_model
  transformers:CLASS    a class of transformers, from its configuration (OPTForCausalLM)
  pyg:CLASS             a class of torch_geometric.nn.models (GAT)
  diffusers:CLASS       a class of diffusers (UNet2DConditionModel)
  torchbench:NAME       a name of pytorch/benchmark; most need only the packages above, the others torchbenchmark
  upstream:NAME         any name of PyTorch's benchmarks/dynamo
"""
import argparse
import json
import os
import signal
import sys
import warnings

EXPORT_FAILED = 1


def arguments_of(argv):
    parser = argparse.ArgumentParser(prog="torchstone-export", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="SOURCE:NAME")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("-o", "--output", metavar="FILE.pt2", help="file for the archive")
    target.add_argument("--cache", metavar="FOLDER", help="store the archive there under a name made of versions and "
                        "options, unless it exists; the last line of the output is {\"file\": ...}")
    parser.add_argument("--preset", choices=["mini", "full"], default="mini",
                        help="a small configuration and batch, or upstream's (default mini)")
    parser.add_argument("--mode", choices=["eval", "train", "both"], default="eval",
                        help="mode in which to export the model; both: two programs in one archive (default eval)")
    parser.add_argument("--batch-size", type=positive, metavar="N", help="default: the preset's")
    parser.add_argument("--dtype", choices=["float32", "bfloat16", "float16"], default="float32",
                        help="dtype of parameters and inputs (default float32)")
    parser.add_argument("--weights", metavar="FILE", help="a state_dict: .safetensors, or a file of torch.save")
    parser.add_argument("--seed", type=int, default=1337, help="seed of random weights and inputs (default 1337)")
    parser.add_argument("--traced", action="store_true",
                        help="write a TorchScript file of torch.jit.trace instead (FILE.pt, and FILE_inputs.pt)")
    parser.add_argument("--time-limit", type=float, metavar="S", help="end this process after that many seconds")
    options = parser.parse_args(argv)
    if options.output and not options.output.endswith(".pt" if options.traced else ".pt2"):
        parser.error(f"{options.output}: expected a name that ends with {'.pt' if options.traced else '.pt2'}")
    if options.traced and (options.cache or options.mode != "eval"):
        parser.error("--traced writes one file, in eval mode, to --output")
    return options


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("expected a number of at least 1")
    return value


def last_words(error):
    """Returns the package's error message, with its type unless it is a plain RuntimeError or ValueError."""
    text = str(error).strip()
    name = type(error).__name__
    if isinstance(error, ImportError) and getattr(error, "name", None):
        return f"{text} (install it in {sys.executable})"
    return text if text and name in ("RuntimeError", "ValueError", "ExportError", "Unknown") else f"{name}: {text}".rstrip(": ")


def main(argv=None):
    options = arguments_of(argv)
    if options.time_limit:
        signal.setitimer(signal.ITIMER_REAL, options.time_limit)  # its default action ends the process at any point
    warnings.filterwarnings("ignore")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    import sources
    try:
        source = sources.resolve(options.source)
        path = options.output
        if options.cache:
            import cache_name
            path = os.path.join(options.cache, cache_name.of(source, options))
            os.makedirs(os.path.dirname(path), exist_ok=True)
        if options.output or not os.path.exists(path):
            import archive
            archive.write(sources.make(source, options), source, options, path)
    except (Exception, SystemExit) as error:  # packages raise any exception; some end the process
        print(f"torchstone-export: {options.source}: {last_words(error)}", file=sys.stderr)
        return EXPORT_FAILED
    print(json.dumps({"file": path}), flush=True)
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # threads that packages started must not keep the process alive
