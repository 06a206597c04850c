"""Read saved emulations."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lasthop.answers.reading import SUMMARY_ONLY, summary_of
from lasthop.emulated.emulation import Emulation

__all__ = ["read_emulation"]


def read_emulation(file: Path, text: str, tree: Mapping[str, Any]) -> Emulation:
    """Return the emulation in a file. A saved emulation contains only a summary."""
    answer = Emulation(summary_of(file, tree), None, origin=str(file), why=SUMMARY_ONLY)
    answer.intervals = answer.contents["replications"] > 1
    return answer
