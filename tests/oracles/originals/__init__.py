"""The Python originals: how each model of the zoo is built in Python, and what it is fed; one file a package."""
from . import diffusion, graphs, own, segmentation, timm_models, vision, words

ORIGINALS = (vision.ORIGINALS | timm_models.ORIGINALS | words.ORIGINALS | graphs.ORIGINALS | diffusion.ORIGINALS |
             segmentation.ORIGINALS | own.ORIGINALS)
