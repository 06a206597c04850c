"""The stored reproduction of all claims, and comparison of its numbers."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

import claims

__all__ = ["REMEDY", "all_close", "claims"]

REMEDY = "run `python docs/claims.py` and look at what changed"


def close(first, other):
    """Return whether numbers are equal except for the last digits, which depend on the
    processor.
    """
    if first is None or other is None:
        return first is other
    return first == pytest.approx(other, rel=1e-6, abs=1e-9, nan_ok=True)


def all_close(some, others):
    return all(close(first, other) for first, other in zip(some, others, strict=True))
