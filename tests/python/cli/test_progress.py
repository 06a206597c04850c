"""What a bar says of a run."""

import pytest

from lasthop.cli.progress import speed


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.0, "0"), (0.0471, "0.04710"), (12.34, "12.34"), (20_400.0, "20,400")]
)
def test_slow_runs_are_not_said_to_stand_still(seconds: float, shown: str) -> None:
    assert speed(seconds) == shown
