"""Real TCP over a slow hop: who gets what, without the bottleneck and with it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab import GATEWAY, RATE_BPS, Lab, entered, gateway_text, log_in, station_v4, station_v6
from lasthop.gateway import config
from lasthop.gateway.shaper import Shaper
from traffic import Flow, goodputs

WARM_UP_S, MEASURED_S = 3.0, 6.0


@contextmanager
def shaping(directory: Path, text: str) -> Iterator[Shaper]:
    """A gateway that is up."""
    gateway = config.read(text)
    with entered(GATEWAY):
        shaper = Shaper(gateway, log_in(directory))
        shaper.up(gateway.stations)
    try:
        yield shaper
    finally:
        with entered(GATEWAY):
            assert shaper.down() == []
        shaper.close()


def four_against_one(first: str, second: str) -> dict[str, float]:
    """Goodputs of a station with four downloads and of one with a single download. [bit/s]"""
    flows = {
        "first": [Flow(first, download=True) for _ in range(4)],
        "second": [Flow(second, download=True)],
    }
    try:
        return goodputs(flows, MEASURED_S, WARM_UP_S)
    finally:
        for flow in [*flows["first"], *flows["second"]]:
            flow.close()


def sent(shaper: Shaper, name: str) -> int:
    """Bytes that have passed through a station's leaf."""
    layout = shaper.running()
    return shaper.counters()[layout.members[name].leaf].sent_bytes


@pytest.mark.parametrize("address", [station_v4, station_v6], ids=["IPv4", "IPv6"])
def test_four_downloads_against_one_are_equal_only_with_it(
    lab: Lab, tmp_path: Path, address: Callable[[int], str]
) -> None:
    """Claims hotspot-8 and hotspot-11: fairness level above 2 without, 1 +- 0.1 with."""
    plain = four_against_one(address(0), address(1))
    assert plain["first"] / plain["second"] > 2
    with shaping(tmp_path, gateway_text()) as shaper:
        fair = four_against_one(address(0), address(1))
        leaves = [sent(shaper, "s0"), sent(shaper, "s1")]
    assert fair["first"] / fair["second"] == pytest.approx(1, abs=0.1)
    assert all(leaf * 8 > 0.9 * 2.5e6 * MEASURED_S for leaf in leaves)
    # Nothing is wasted: headers take 6 %, and ACKs, which share the leaves, 3 %.
    assert sum(fair.values()) > 0.9 * 5e6
    assert sum(plain.values()) < RATE_BPS
