"""Searches for stations: when they start, and what happens when they end."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from ipaddress import ip_address
from typing import Any, cast

import pytest

from lasthop.enforce.gateway import admission, config, stations
from lasthop.enforce.gateway.classification import Surroundings
from lasthop.enforce.gateway.config import KnownStation
from lasthop.enforce.gateway.layout import MAX_LEAVES, Layout
from lasthop.enforce.gateway.observed import Observed
from lasthop.enforce.gateway.roster import Sighting
from lasthop.enforce.gateway.shaper import Shaper
from lasthop.enforce.gateway.shaping import Shaping
from lasthop.enforce.gateway.stations import Stations
from lasthop.linux.tc import Device

SILENT = "SNMP agent 10.0.0.2: no answer"
ADDRESS = config.ip_address("10.0.0.7")


class Slow(Executor):
    """An executor whose searches end when the test says so."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        self.futures.append(Future())
        return self.futures[-1]


class Unshaped:
    """A shaper that sets up nothing."""

    layout: Layout | None = None
    others = Surroundings()

    def by_address(self) -> dict[str, str]:
        return {}

    def moves(self) -> dict[str, int]:
        return {}

    def fill_all(self) -> None:
        pass


@pytest.fixture
def some(monkeypatch: pytest.MonkeyPatch) -> Stations:
    text = (
        '[gateway]\nwan = "a"\nlan = "b"\nrate = "5 Mbps"\n'
        'discover = { neighbours = true, quarantine = "0 s", new_per_minute = 10_000 }'
    )
    gateway = config.read(text)
    monkeypatch.setattr(stations, "warnings_for", lambda _: [])
    shaper = cast(Shaper, Unshaped())
    some = Stations(Shaping(gateway, shaper, Observed(gateway)), lambda _: None)
    some.newcomers.close()
    return some


def looking(some: Stations, workers: Slow, done: Callable[[], None] = lambda: None) -> Future[Any]:
    some.discover(workers, done)
    return workers.futures[-1]


def test_a_fault_of_a_source_ends_with_the_first_successful_reading(some: Stations) -> None:
    workers, ended = Slow(), list[int]()
    looking(some, workers, lambda: ended.append(1)).set_result(([], [SILENT]))
    assert ended == [1]
    some.take_look()
    assert some.faults == [SILENT]
    looking(some, workers).set_result(([], []))
    some.take_look()
    assert some.faults == []


def test_a_reading_requested_during_another_follows_it(some: Stations) -> None:
    workers = Slow()
    first = looking(some, workers)
    looking(some, workers)
    assert workers.futures == [first]
    assert not some.take_look()
    first.set_result(([], []))
    assert some.take_look()
    looking(some, workers).set_result(([], []))
    assert not some.take_look()


def test_a_reading_without_news_wakes_no_thread(some: Stations) -> None:
    workers, ended = Slow(), list[int]()
    result = ([Sighting("02:00:00:00:00:01", ADDRESS)], [SILENT])
    for _ in range(3):
        looking(some, workers, lambda: ended.append(1)).set_result(result)
    assert ended == [1]
    # Equal later results do not wake the main thread, but they are processed.
    assert some.faults == [SILENT]
    assert ADDRESS in some.roster.machines["02:00:00:00:00:01"].seen_s


def test_a_newcomer_is_a_station_that_no_reading_or_event_has_named(some: Stations) -> None:
    assert some.are_new([ADDRESS])
    assert not some.are_new([ADDRESS])
    seen = config.ip_address("10.0.0.8")
    some.roster.see([Sighting("02:00:00:00:00:01", seen)], 0.0)
    assert not some.are_new([seen])
    assert not some.are_new([])


class Accepting(Unshaped):
    """A shaper for a kernel that accepts every request."""

    layout: Layout

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def running(self) -> Layout:
        return self.layout

    def join(self, station: KnownStation, *, fill: bool = True) -> None:
        self.layout.join(station)

    def leave(self, name: str) -> None:
        self.layout.leave(name)


def test_a_new_mac_address_has_no_leaf_until_its_quarantine_is_over(some: Stations) -> None:
    shaping, stranger = some.shaping, "02:00:00:00:00:02"
    discovery = replace(shaping.gateway.discovery, quarantine_s=10.0, new_per_minute=1)
    shaping.gateway = replace(shaping.gateway, discovery=discovery)
    layout = Layout(shaping.gateway, Device("lh", 1))
    shaper = Accepting(layout)
    shaping.shaper = cast(Shaper, shaper)
    some.admission.known = {"02:00:00:00:00:01": None}
    due: list[float] = []
    some.wait_for = due.append
    sightings = [Sighting(f"02:00:00:00:00:0{k}", ip_address(k + (10 << 24))) for k in (1, 2, 3)]
    some.see(sightings)
    assert list(layout.members) == ["02:00:00:00:00:01"]
    assert shaper.others.waiting == {stranger: "wlan", "02:00:00:00:00:03": "wlan"}
    some.admission.first_s = {mac: since - 10 for mac, since in some.admission.first_s.items()}
    some.see(sightings)
    assert list(layout.members) == ["02:00:00:00:00:01", stranger]
    assert due[-1] == some.admission.admitted_s[0] + 60
    (warning,) = some.warnings_for()
    assert "1 new MAC addresses got a leaf in the last minute, 1 wait" in warning


@pytest.mark.slow
def test_requests_for_all_leaves_do_not_affect_present_stations(
    some: Stations, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At first, more machines request a leaf than there are leaves. When a machine leaves, one of
    the refused machines gets its leaf.
    """
    shaping = some.shaping
    monkeypatch.setattr(admission, "MAX_KNOWN", 2 * MAX_LEAVES)
    discovery = replace(shaping.gateway.discovery, new_per_minute=2 * MAX_LEAVES)
    shaping.gateway = replace(shaping.gateway, discovery=discovery)
    layout = Layout(shaping.gateway, Device("lh", 1))
    shaping.shaper = cast(Shaper, Accepting(layout))
    sightings = [
        Sighting(
            f"02:00:00:{k >> 16:02x}:{k >> 8 & 255:02x}:{k & 255:02x}", ip_address(k + (10 << 24))
        )
        for k in range(MAX_LEAVES + 5)
    ]
    some.see(sightings)
    room = MAX_LEAVES - 3  # Unclassified, multicast and echo packets have leaves, too.
    assert len(layout.members) == room
    assert some.refusals() == [
        "not shaped: 02:00:00:00:fe:fd: more than 65277 leaf queues: the kernel has no numbers for "
        "them (and 7 more)"
    ]
    assert shaping.faults == []
    del some.roster.machines[sightings[0].mac]
    some.see([])
    assert len(layout.members) == room
    assert "02:00:00:00:fe:fd" in layout.members
    assert "(and 6 more)" in some.refusals()[0]
    some.roster.machines.clear()
    some.see(sightings[:3])
    assert (len(layout.members), some.refusals()) == (3, [])
