"""Floods of machines that do not exist, in user-mode Linux, beside downloads."""

from pathlib import Path
from typing import Any

import pytest
import uml

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("user_mode")]

INSIDE = Path(__file__).parent / "inside"
STATIONS, MADE_UP = 5, 2000
MOST_EACH_BYTES = 20_000
"""Memory of the gateway's process for a station. [bytes]"""


def test_two_thousand_machines_that_one_makes_up_cost_others_nothing() -> None:
    found: dict[str, Any] = uml.answer(INSIDE / "flood.py")
    assert found["shaping"], found
    assert found["faults"] == [], found
    assert MADE_UP < found["stations"] <= STATIONS + MADE_UP, found
    for when in ("flooded_bps", "after_bps"):
        assert found[when] >= 0.9 * found["before_bps"], found
    before, after = found["memory_bytes"]
    assert after - before < MOST_EACH_BYTES * MADE_UP, found
