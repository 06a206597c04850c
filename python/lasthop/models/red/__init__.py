"""Fluid model of flows through a router's queue: conversion of a scenario to a case of `stability`.

S. Manjunath, G. Raina, "Compound TCP with Random Early Detection (RED): stability, bifurcation and
performance analyses". See docs/papers/red.md.
"""

from lasthop.models.red.fluid import Fluid, fluid
from lasthop.models.red.predict import predict, suits

__all__ = ["Fluid", "fluid", "predict", "suits"]
