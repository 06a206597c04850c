"""Selection of the stations that are pinged. Their byte counters show that they have traffic."""

import pytest

from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.layout import Layout
from lasthop.enforce.gateway.observed import NOTHING, Observed
from lasthop.linux.counters import Counters
from lasthop.linux.tc import Device
from lasthop.linux.udp_sample import Counted

STATIONS = """station.a.address = "10.0.0.1"
station.b.address = "10.0.0.2"
"""


class Watched:
    """A gateway whose counters the test sets. The counters are read once per second."""

    def __init__(self, more: str = "") -> None:
        gateway = config.read(f'[gateway]\nwan = "eth0"\nlan = "eth1"\n{more}\n{STATIONS}')
        self.layout = Layout(gateway, Device("lh", 1))
        for station in gateway.stations:
            self.layout.join(station)
        self.observed = Observed(gateway)
        self.now_s = 0.0
        self.look()

    def look(self, *, sent: int = 0, of: str = "a", udp: int = 0) -> None:
        """Set the counters of a station and of the class of its access point. [bytes]"""
        self.now_s += 1
        member = self.layout.members[of]
        leaves = {member.leaf, self.layout.ap_class["wlan"]}
        counters = {leaf: Counters(sent, sent // 1000, 0, 0, 0) for leaf in leaves}
        address = member.addresses[0]
        counted = {address: Counted(udp // 1000, udp)} if udp else {address: NOTHING}
        classes = self.layout.ap_class
        met = {address} if sent else set()
        self.observed.take(self.layout.members, counters, counted, self.now_s, classes, met)

    def pinged(self) -> list[str]:
        return [row["name"] for row in self.observed.stations() if row["pinged"]]


def test_only_stations_with_traffic_are_pinged() -> None:
    watched = Watched()
    watched.look()
    assert watched.pinged() == []
    watched.look(sent=3000)
    assert watched.pinged() == []  # Two packets are too few to count as traffic.
    watched.look(sent=10_000)
    assert watched.pinged() == ["a"]
    watched.look(sent=10_000)
    assert watched.pinged() == []


def test_with_a_fixed_rate_no_station_is_pinged() -> None:
    watched = Watched('rate = "5 Mbps"')
    watched.look()
    watched.look(sent=10_000)
    assert watched.observed.active == {"a"}
    assert watched.pinged() == []


def test_a_station_that_sends_much_udp_is_not_pinged_for_a_while() -> None:
    watched = Watched('udp = "down"')
    watched.look()
    watched.look(sent=10_000, udp=1_000_000)
    assert (watched.observed.active, watched.pinged()) == ({"a"}, [])
    for k in range(5):
        assert watched.pinged() == []
        watched.look(sent=20_000 + k * 10_000, udp=1_000_000)
    assert watched.pinged() == ["a"]


@pytest.mark.parametrize("fairness", ["flow", "direction"])
def test_without_their_own_leaves_stations_are_pinged_whose_packets_were_seen(
    fairness: str,
) -> None:
    watched = Watched(f'fairness = "{fairness}"')
    watched.look()
    assert watched.pinged() == []
    watched.look(sent=10_000)
    assert watched.pinged() == ["a"]
    watched.look(sent=20_000, of="b")
    assert watched.pinged() == ["b"]
    watched.look(sent=20_000, of="b")
    assert watched.pinged() == []  # Occasional packets do not count as traffic.


@pytest.mark.parametrize(("udp", "pinged"), [("down", []), ("both", ["a"])])
def test_a_station_that_sends_udp_is_pinged_if_udp_is_shaped(udp: str, pinged: list[str]) -> None:
    watched = Watched(f'udp = "{udp}"')
    watched.look()
    watched.look(sent=10_000, udp=1_000_000)
    assert watched.pinged() == pinged
