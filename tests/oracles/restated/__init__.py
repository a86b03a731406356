"""Originals that no package offers, stated again from their papers and from what upstream builds."""
