"""Assumptions of the fluid of flows over a router's queue."""

from lasthop.models.assumptions import BY_MODEL

ASSUMPTIONS = BY_MODEL["red"]
"""Sections II and VI of the paper: what follows on "the assumption", by number."""
