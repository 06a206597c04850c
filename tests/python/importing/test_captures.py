"""A capture that lasthop writes and imports again gives the simulated scenario."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import lasthop as lh
from lasthop.importing import Network, Station
from lasthop.importing.cells import Choices, network
from lasthop.importing.scenario import as_toml
from lasthop.scenario.typed import CellScenario

ROOT = Path(__file__).parents[3]


class Taken(NamedTuple):
    """A scenario, its simulation, and the import of its capture."""

    scenario: CellScenario
    result: lh.Result
    seen: Network


DURATIONS = {
    "hotspot": "30 s",
    "two-rates": "12 s",
    "snr-classes": "30 s",
    "seven-downloads": "10 s",
    "power-save": "14 s",
}
"""Names of examples with the durations of their simulations. The hot-spot needs 30 s, because its
round trips take 0.8 s.
"""


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Taken]:
    known: dict[str, Taken] = {}

    def take(name: str) -> Taken:
        if name not in known:
            settings = {"duration": DURATIONS[name], "warmup": "0 s", "replications": 1}
            result = lh.simulate(
                ROOT / "examples" / f"{name}.toml", settings=settings, frames=1_000_000
            )
            path = tmp_path_factory.mktemp("captures") / f"{name}.pcapng"
            result.save_capture(path)
            scenario = result.scenario.typed
            assert isinstance(scenario, CellScenario)
            known[name] = Taken(scenario, result, network(path, Choices()))
        return known[name]

    return take


def station_of(address: str) -> int:
    """Return the index of the station with this address in a capture."""
    return int(address.replace(":", "")[4:], 16) - 1


@pytest.mark.smoke(2)
@pytest.mark.parametrize("name", DURATIONS)
def test_stations_and_rates_are_exact(name: str, taken: Callable[[str], Taken]) -> None:
    scenario, _, seen = taken(name)
    assert len(seen.stations) == len(scenario.stations)
    assert seen.phy == scenario.cell.phy
    for station in seen.stations:
        own = scenario.stations[station_of(station.address)]
        assert station.up_bps in (own.rate_bps, None)
        assert station.down_bps in (own.downlink_rate_bps, None)
        assert station.up_bps or station.down_bps


@pytest.mark.smoke(2)
@pytest.mark.parametrize("name", DURATIONS)
def test_directions_and_connections_are_those_simulated(
    name: str, taken: Callable[[str], Taken]
) -> None:
    scenario, _, seen = taken(name)
    for station in seen.stations:
        own = scenario.stations[station_of(station.address)].name
        flows = [flow.name.split("/")[1] for flow in scenario.flows if flow.station == own]
        counts = {
            "up": station.upload.count if station.upload else 0,
            "down": station.download.count if station.download else 0,
            "udp-up": int(station.udp_up is not None),
            "udp-down": int(station.udp_down is not None),
        }
        assert counts == {way: flows.count(way) for way in counts}


@pytest.mark.smoke(2)
@pytest.mark.parametrize("name", ["hotspot", "power-save", "snr-classes", "seven-downloads"])
def test_round_trips_are_those_simulated(name: str, taken: Callable[[str], Taken]) -> None:
    """Imported round-trip times are within 10 % of the simulated times. A large part of each round
    trip passes on wires, which a capture of the air does not show.
    """
    scenario, result, seen = taken(name)
    rows = {flow.name: result.flows.loc[flow.name, "rtt_s"] for flow in scenario.flows}
    for station in seen.stations:
        own = scenario.stations[station_of(station.address)].name
        for way in ("up", "down"):
            trips = [flow.rtt_s for flow in station.flows if flow.direction == way]
            simulated = [rows[f"{own}/{way}/{number}"] for number in range(1, len(trips) + 1)]
            assert trips == pytest.approx(simulated, rel=0.1)


@pytest.mark.parametrize(("name", "packets"), [("hotspot", 75), ("snr-classes", 100)])
def test_an_overflowing_queue_of_an_access_point_is_detected(
    taken: Callable[[str], Taken], name: str, packets: int
) -> None:
    assert taken(name).seen.ap_queue == pytest.approx(packets, abs=4)


def test_a_queue_that_never_overflows_is_not_detected(taken: Callable[[str], Taken]) -> None:
    assert taken("seven-downloads").seen.ap_queue is None


def test_noise_is_distinguished_from_collisions(taken: Callable[[str], Taken]) -> None:
    errors = {
        each.name: station.error_down
        for station in taken("snr-classes").seen.stations
        for each in [taken("snr-classes").scenario.stations[station_of(station.address)]]
    }
    high = [error for name, error in errors.items() if name.startswith("high")]
    low = [error for name, error in errors.items() if name.startswith("low")]
    assert high == [None] * 5
    assert low == pytest.approx([0.3] * 5, abs=0.05)


def test_wire_window_and_acks_are_detected(taken: Callable[[str], Taken]) -> None:
    seen = taken("power-save").seen
    assert seen.wire["delay"][0] == '"20 ms"'
    assert seen.tcp["window"][0] == "12"
    assert seen.tcp["delayed_ack"][0] == "false"
    assert taken("hotspot").seen.wire == {}
    assert taken("hotspot").seen.tcp["delayed_ack"][0] == "true"
    assert taken("seven-downloads").seen.cell["mac_header"][0] == '"30 B"'


@pytest.mark.smoke(1)
@pytest.mark.parametrize("name", ["hotspot", "two-rates", "power-save"])
def test_the_imported_scenario_simulates_to_the_same(
    name: str, taken: Callable[[str], Taken], tmp_path: Path
) -> None:
    """If the imported scenario is simulated, its capture has the same stations, rates and
    directions.
    """
    first = taken(name).seen
    again = lh.simulate(
        as_toml(first),
        settings={"duration": "12 s", "warmup": "0 s", "replications": 1},
        frames=1_000_000,
    )
    again.save_capture(tmp_path / "again.pcapng")
    second = network(tmp_path / "again.pcapng", Choices())
    assert len(second.stations) == len(first.stations)
    assert second.phy == first.phy
    by_address = sorted(second.stations, key=lambda station: station_of(station.address))
    assert list(map(content_of, by_address)) == list(map(content_of, first.stations))


def content_of(station: Station) -> tuple[object, ...]:
    """Return the rate and the directions of a station."""
    return (
        station.down_bps or station.up_bps,
        station.upload and station.upload.count,
        station.download and station.download.count,
        station.udp_up is not None,
        station.udp_down is not None,
    )


def test_addresses_are_shown_only_if_asked_for(taken: Callable[[str], Taken]) -> None:
    seen = taken("two-rates").seen
    assert "02:00:00:00" not in as_toml(seen)
    assert "02:00:00:00:00:01" in as_toml(seen, addresses=True)
