"""Comparisons of prediction, simulation, emulation and measurements."""
