"""The default TCP of modern networks uses the available capacity of the air, or of a long fast
line.
"""

import pytest

import lasthop as lh

CELL = """\
duration = "8 s"
warmup = "4 s"
replications = 1
cell = { phy = "802.11ax", width = "80 MHz", streams = 2 }
wire.delay = "2 ms"
station.a = { count = COUNT, download = 1 }
"""

LINE = """\
duration = "60 s"
warmup = "40 s"
replications = 1
link.line = { from = "a", to = "b", rate = "1 Gbps", delay = "50 ms" }
flow.download = { from = "a", to = "b", start_spread = "0 s" }
"""


def busy(count: int, **settings: object) -> float:
    """Return the fraction of time in which the medium is busy."""
    tcp = {f"tcp.{key}": value for key, value in settings.items()}
    result = lh.simulate(CELL.replace("COUNT", str(count)), settings=tcp)
    return float(result.summary["cells"][0]["busy_fraction"]["mean"])


@pytest.mark.parametrize("count", [1, 10])
def test_downloads_in_a_modern_cell_are_limited_by_the_air(count: int) -> None:
    """Backoff leaves the medium idle for 5 to 10 % of the time. With a single station, a window of
    42 segments leaves it idle for 80 %.
    """
    assert busy(count) > 0.89
    assert busy(count) == busy(count, window=65_535)
    assert count > 1 or busy(count, window=42) < 0.2


def test_one_download_fills_a_line_of_1_gbps_and_100_ms() -> None:
    """CUBIC loses packets at a window of 9,333 packets, which fill the line and its queue. It
    reaches this window again after 19 s.

    With a receive window of 10,000 packets, too few packets would be sent in recovery. CUBIC would
    then reduce its window twice, and use only 70 % of the line.
    """
    assert lh.simulate(LINE).links.loc["line", "utilisation"] > 0.9
