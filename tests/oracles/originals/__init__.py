"""The Python originals: how to build each model of the zoo in Python, and its inputs. One file per package."""
from . import diffusion, graphs, own, segmentation, timm_models, vision, words

ORIGINALS = (vision.ORIGINALS | timm_models.ORIGINALS | words.ORIGINALS | graphs.ORIGINALS | diffusion.ORIGINALS |
             segmentation.ORIGINALS | own.ORIGINALS)
