"""PHY rates of stations, and how they change the weights of the stations."""

from collections.abc import Iterable
from typing import cast

import pytest

from lasthop.enforce.gateway import config, stations
from lasthop.enforce.gateway.config import Gateway
from lasthop.enforce.gateway.layout import Layout
from lasthop.enforce.gateway.observed import Observed
from lasthop.enforce.gateway.phy_rates import Key, PhyRates
from lasthop.enforce.gateway.roster import Roster, Sighting
from lasthop.enforce.gateway.shaper import Shaper
from lasthop.enforce.gateway.shaping import Shaping
from lasthop.enforce.gateway.stations import Stations
from lasthop.enforce.gateway.weights import ASSUMED_RATIO, PhyRate, Weights
from lasthop.linux.tc import PACKET_BYTES, Device

MACS = [f"02:00:5e:10:00:0{k}" for k in range(4)]
TEXT = """[gateway]
wan = "eth0"
lan = "eth1"
fairness = "rate"
queue = 100
ap.hall.station_rates = "iw:wlan0"
station.a = { mac = "02:00:5e:10:00:00", rate = "6 Mbps", address = "10.0.0.1" }
station.b = { mac = "02:00:5e:10:00:01", rate = "54 Mbps", address = "10.0.0.2" }
station.c = { mac = "02:00:5e:10:00:02", address = "10.0.0.3" }
"""


def reading(mbps: float, mac: str = MACS[0], ap: str = "hall") -> Sighting:
    return Sighting(mac, None, ap=ap, is_new=False, rate_bps=round(mbps * 1e6), rate_source="iw")


def weighed_after(
    readings: Iterable[float], *, had_traffic: Iterable[bool] = ()
) -> list[float | None]:
    """Return the rate that determines the weight of a station after each reading. [Mbit/s]"""
    rates, key, rates_mbps = PhyRates(), ("hall", MACS[0]), []
    active = list(had_traffic)
    for k, mbps in enumerate(readings):
        is_active = active[k] if active else True
        rates.add([reading(mbps)], {key} if is_active else set(), {key})
        weighed = rates.histories[key].weighed
        assert weighed is not None
        assert weighed.rate_bps is not None
        rates_mbps.append(weighed.rate_bps / 1e6)
    return rates_mbps


@pytest.mark.parametrize(
    ("readings", "weighed"),
    [
        # A single frame at another rate, as sent by rate control, has no effect.
        ([54, 54, 6, 54], [54, 54, 54, 54]),
        # A change takes effect at the second reading.
        ([54, 54, 54, 6, 6], [54, 54, 54, 54, 6]),
        # As long as there are only two readings, the lower reading is used.
        ([54, 6], [54, 6]),
        # Changes of up to a tenth have no effect, even in many small steps.
        ([54, 58, 59, 59.4, 59.4], [54, 54, 54, 54, 54]),
        ([54, 60, 60], [54, 54, 60]),
        ([54, 49, 49, 48, 48], [54, 54, 54, 54, 48]),
    ],
)
def test_the_lower_median_of_three_is_used(readings: list[float], weighed: list[float]) -> None:
    assert weighed_after(readings) == weighed


def test_a_station_without_traffic_keeps_its_rate() -> None:
    # A station without traffic sends only null frames, for which a rate of 1 Mbit/s is reported.
    readings = [54, 54, 54, 1, 1, 1, 1]
    assert weighed_after(readings, had_traffic=[True] * 3 + [False] * 4) == [54] * 7


def test_until_a_station_has_traffic_its_newest_reading_is_used() -> None:
    readings, had_traffic = [1, 6, 54, 54], [False, False, True, True]
    assert weighed_after(readings, had_traffic=had_traffic) == readings


def test_stations_that_have_left_are_forgotten() -> None:
    rates = PhyRates()
    present: set[Key] = {("hall", MACS[0])}
    rates.add([reading(54), reading(6, MACS[1])], set(), present)
    # The source no longer reports the first station.
    # Its history remains, because the station has a leaf.
    rates.add([reading(6, MACS[2])], set(), present)
    assert set(rates.histories) == {("hall", MACS[0]), ("hall", MACS[2])}


def test_a_rate_belongs_to_its_access_point() -> None:
    rates = PhyRates()
    rates.add([reading(54, ap="hall"), reading(6, ap="yard")], set(), set())
    gateway = config.read(TEXT.replace("ap.hall", "ap.yard"))
    (a, *_), yard = gateway.stations, gateway.aps[0]
    assert rates.of({"a": (yard, a)}) == {"a": PhyRate(6_000_000, "iw")}


def test_a_sighting_with_a_rate_names_no_station() -> None:
    roster = Roster(config.read(TEXT))
    roster.see([reading(54), reading(54, MACS[3])], 0.0)
    assert roster.machines == {}


# From PHY rates to quantums.


def members(gateway: Gateway) -> Layout:
    layout = Layout(gateway, Device("lh", 1))
    for station in gateway.stations:
        layout.join(station)
    return layout


def turns(layout: Layout) -> dict[str, float]:
    """Return the quantums of the stations in packets."""
    return {
        name: layout.quantum(m.ap, m.station) / PACKET_BYTES for name, m in layout.members.items()
    }


def read(**mbps: float) -> dict[str, PhyRate]:
    return {name: PhyRate(round(rate * 1e6), "iw") for name, rate in mbps.items()}


def test_turns_follow_the_rates_that_are_read() -> None:
    layout = members(config.read(TEXT))
    assert turns(layout) == {"a": 1, "b": 9, "c": 9}
    layout.weigh(read(a=54, b=6, c=12))
    assert turns(layout) == {"a": 9, "b": 1, "c": 2}
    # A station without a reading has the rate in the file.
    # Without a rate in the file, it has the highest rate of all stations.
    layout.weigh(read(b=18))
    assert turns(layout) == {"a": 1, "b": 3, "c": 3}
    layout.weigh({})
    assert turns(layout) == {"a": 1, "b": 9, "c": 9}


def test_bytes_over_rate_are_equal_at_all_rates() -> None:
    """In each round of the scheduler, all stations have the same air time (paper 002, section
    4.1).
    """
    layout = members(config.read(TEXT))
    mbps = {"a": 866.7, "b": 433.3, "c": 58.5}
    layout.weigh(read(**mbps))
    times = [8 * PACKET_BYTES * turn / mbps[name] for name, turn in turns(layout).items()]
    assert max(times) / min(times) == pytest.approx(1, rel=1e-3)


def test_only_turns_that_change_are_sent() -> None:
    layout = members(config.read(TEXT))
    (request,) = layout.weigh(read(c=27))
    assert request.command == (
        "tc class change dev lh parent 6c68:1 classid 6c68:102 htb rate 96bit ceil 6000000bit "
        "burst 1600b cburst 1600b quantum 6813"
    )
    assert layout.weigh(read(c=27)) == []
    # No change is sent for the slowest station: its quantum is one packet before and after.
    assert len(layout.weigh(read(a=27, c=27))) == 2


def test_weights_become_quantums_of_the_kernel() -> None:
    layout = members(config.read(TEXT))
    layout.weigh(read(a=54, b=6, c=12))
    commands = "\n".join(request.command for request in layout.hierarchy({"hall": 5_000_000}))
    for leaf, quantum in ((0x100, 9 * PACKET_BYTES), (0x101, PACKET_BYTES)):
        assert f"classid 6c68:{leaf:x} htb" in commands
        line = next(line for line in commands.splitlines() if f"classid 6c68:{leaf:x} htb" in line)
        assert line.endswith(f"quantum {quantum}")


def test_a_turn_is_no_longer_than_a_queue() -> None:
    layout = members(config.read(TEXT))
    layout.weigh(read(a=1, b=866.7, c=433.3))
    per_station = turns(layout)
    assert per_station["a"] == 1
    assert per_station["b"] == pytest.approx(100, rel=1e-3)
    assert per_station["c"] == pytest.approx(50, rel=1e-3)  # half of the quantum of b


def test_queues_are_made_for_rates_that_differ() -> None:
    plain = TEXT.replace('ap.hall.station_rates = "iw:wlan0"', "ap.hall = {}")
    apart = 'rate = "1 Mbps"'
    for text, longest in (
        (TEXT, ASSUMED_RATIO),
        (plain, 9),
        (TEXT.replace('rate = "6 Mbps"', apart), 54),
        (plain.replace('rate = "6 Mbps"', apart), 54),
    ):
        gateway = config.read(text)
        assert Weights(gateway).max_quantum_packets(gateway.aps[0]) == longest


def test_other_access_points_keep_their_weights() -> None:
    more = 'ap.yard.interface = "eth2"\n'
    more += 'station.d = { mac = "02:00:5e:10:00:03", ap = "yard", address = "10.0.0.4" }\n'
    text = TEXT.replace(
        "ap.hall.station_rates", 'ap.hall.interface = "eth1"\nap.hall.station_rates'
    )
    for name in "abc":
        text = text.replace(f"station.{name} = {{", f'station.{name} = {{ ap = "hall",')
    layout = members(config.read(text + more))
    requests = layout.weigh(read(a=54, b=6, c=6))
    assert turns(layout)["d"] == 9  # The rates in the file are 54 and 6 Mbit/s, a ratio of 9.
    assert len(requests) == 3


# Rates in a running gateway.


class Weighing:
    """A shaper for a kernel that accepts every request."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.weighed: list[int] = []

    def running(self) -> Layout:
        return self.layout

    def moves(self) -> dict[str, int]:
        return {}

    def fill_all(self) -> None:
        pass

    def readdress(self, name: str, addresses: Iterable[config.Address]) -> None:
        self.layout.readdress(name, addresses)

    def weigh(self, rates: dict[str, PhyRate]) -> None:
        self.weighed.append(len(self.layout.weigh(rates)))


@pytest.fixture
def some(monkeypatch: pytest.MonkeyPatch) -> Stations:
    gateway = config.read(TEXT)
    monkeypatch.setattr(stations, "warnings_for", lambda _: [])
    shaper = Weighing(members(gateway))
    some = Stations(Shaping(gateway, cast(Shaper, shaper), Observed(gateway)), lambda _: None)
    some.newcomers.close()
    return some


def shown(some: Stations) -> dict[str, tuple[float | None, str]]:
    rows = some.weighed({"name": name} for name in ("a", "b", "c"))
    return {row["name"]: (row["phy_rate_bps"], row["phy_rate_source"]) for row in rows}


def test_a_reading_changes_weights_and_status(some: Stations) -> None:
    assert shown(some) == {"a": (6e6, "file"), "b": (54e6, "file"), "c": (None, "highest")}
    some.see([reading(54, MACS[0]), reading(12, MACS[2])])
    assert shown(some) == {"a": (54e6, "iw"), "b": (54e6, "file"), "c": (12e6, "iw")}
    # A source without readings changes no rate.
    some.see([])
    assert shown(some) == {"a": (54e6, "iw"), "b": (54e6, "file"), "c": (12e6, "iw")}
    layout = some.shaping.layout
    assert layout is not None
    assert turns(layout) == {"a": 4.5, "b": 4.5, "c": 1}
    assert cast(Weighing, some.shaping.shaper).weighed == [3, 0]


def test_readings_of_a_station_with_traffic_are_used(some: Stations) -> None:
    some.shaping.observed.active.add("a")
    for mbps in (54, 54, 1):
        some.see([reading(mbps)])
    some.shaping.observed.active.clear()
    some.see([reading(1)])
    assert shown(some)["a"] == (54e6, "iw")


def test_an_access_point_with_another_fairness_has_no_rates() -> None:
    gateway = config.read('[gateway]\nwan = "eth0"\nlan = "eth1"\nstation.a.address = "10.0.0.1"\n')
    shaper = cast(Shaper, Weighing(members(gateway)))
    plain = Stations(Shaping(gateway, shaper, Observed(gateway)), lambda _: None)
    plain.newcomers.close()
    assert plain.weighed([{"name": "a"}]) == [{"name": "a"}]
