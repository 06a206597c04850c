"""Floods of invented machines, in user-mode Linux, during downloads."""

from pathlib import Path
from typing import Any

import pytest
import uml

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("user_mode")]

INSIDE = Path(__file__).parent / "inside"
STATIONS, MADE_UP = 5, 2000
MAX_EACH_BYTES = 20_000
"""Largest memory of the gateway's process per station. [bytes]"""


def test_two_thousand_invented_machines_cost_others_nothing() -> None:
    result: dict[str, Any] = uml.answer(INSIDE / "flood.py")
    assert result["shaping"], result
    assert result["faults"] == [], result
    assert MADE_UP < result["stations"] <= STATIONS + MADE_UP, result
    for when in ("flooded_bps", "after_bps"):
        assert result[when] >= 0.9 * result["before_bps"], result
    before, after = result["memory_bytes"]
    assert after - before < MAX_EACH_BYTES * MADE_UP, result
