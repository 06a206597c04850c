"""Text of the progress bar of a run."""

import pytest

from lasthop.cli.progress import speed


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.0, "0"), (0.0471, "0.04710"), (12.34, "12.34"), (20_400.0, "20,400")]
)
def test_slow_runs_have_a_speed_above_zero(seconds: float, shown: str) -> None:
    assert speed(seconds) == shown
