"""Originals that no package contains, rewritten from their papers and from upstream's code."""
