"""The typed values of a checked scenario."""

import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.scenario.from_json import named, read_as
from lasthop.scenario.queues import Queue, Red
from lasthop.scenario.transports import Udp
from lasthop.scenario.typed import (
    CellScenario,
    CsmaScenario,
    Program,
    SensorFlow,
    TcpFlow,
    Web,
    read,
)

from .conftest import EXAMPLES, SMALL

SENSOR = '[station.meter]\nsensor_up = { every = "2 s", transport = "udp", size = "100 B" }\n'
ROUTER = """\
duration = "9 s"
flow = { a = {}, call = { udp = "64 kbps" } }
dumbbell = { bottleneck = "10 Mbps", rtt = "40 ms" }
queue = { limit = 50, red = { min_th = 5, max_th = 15, ecn = true } }
"""


@dataclass(frozen=True)
class Shelf:
    """A table with a field of every kind."""

    width_m: float
    books: tuple[str, ...]
    owner: str
    class_name: str = named("class")
    lamp_w: float | None = None


def test_a_field_is_the_value_under_its_key() -> None:
    shelf = read_as(Shelf, {"width_m": 1, "books": ["a"], "owner": None, "class": "oak", "new": 3})
    assert shelf == Shelf(1.0, ("a",), "", "oak")
    assert isinstance(shelf.width_m, float)


def test_a_missing_required_key_is_named() -> None:
    with pytest.raises(KeyError, match="Shelf has no books"):
        read_as(Shelf, {"width_m": 1.0, "owner": "me", "class": "oak"})


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_is_read(path: Path) -> None:
    scenario = lh.Scenario(path)
    typed = scenario.typed
    assert typed.name == scenario["name"]
    assert [flow.name for flow in typed.flows] == [flow["name"] for flow in scenario["flows"]]
    assert isinstance(typed, CellScenario) == (scenario["cell"] is not None)
    assert isinstance(typed, CsmaScenario) == bool(scenario.get("csma"))


def test_a_table_behaves_like_a_frozen_dataclass() -> None:
    web = Web(connections_per_s=2.0)
    assert web == Web(connections_per_s=2.0)
    assert hash(web) == hash(Web(connections_per_s=2.0))
    assert web != Web(connections_per_s=3.0)
    assert web != Program(place="near", commands=())
    assert repr(web) == "Web(connections_per_s=2.0)"
    assert replace(web, connections_per_s=3.0) == Web(connections_per_s=3.0)
    assert [each.name for each in fields(web)] == ["connections_per_s"]
    assert pickle.loads(pickle.dumps(web)) == web
    with pytest.raises(FrozenInstanceError, match="cannot delete field"):
        del web.connections_per_s


def test_fields_of_a_table_are_checked() -> None:
    with pytest.raises(TypeError, match="Web: missing or unknown fields: connections_per_s"):
        Web()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Web: missing or unknown fields: rate"):
        Web(connections_per_s=2.0, rate=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing or unknown fields: connections_per_s, rate"):
        Web(rate=1)  # type: ignore[call-arg]


def test_a_scenario_is_read_once() -> None:
    scenario = lh.Scenario(SMALL)
    assert scenario.typed is scenario.typed
    assert read(scenario.typed) is scenario.typed
    with pytest.raises(FrozenInstanceError):
        scenario.typed.name = "other"  # type: ignore[misc]


def test_the_type_of_a_flow_follows_from_its_path() -> None:
    small = lh.Scenario(SMALL + SENSOR).typed
    kinds = {type(flow) for flow in small.flows}
    assert kinds == {TcpFlow, SensorFlow}
    assert {small.flow_key(flow) for flow in small.flows} == {
        "station.near.download",
        "station.far.upload",
        "station.meter.sensor_up",
    }
    [report] = [flow for flow in small.flows if isinstance(flow, SensorFlow)]
    assert isinstance(report.transport, Udp)
    assert report.transport.payload_bytes == 100


def test_wired_flows_have_no_station_and_links_have_a_discipline() -> None:
    router = lh.Scenario(ROUTER).typed
    assert router.is_network
    assert {flow.station for flow in router.flows} == {""}
    assert [flow.udp.rate_bps for flow in router.udp_flows] == [64_000.0]
    queues: dict[str, Any] = {link.name: link.queue for link in router.links}
    assert isinstance(queues["bottleneck"], Red)
    assert queues["bottleneck"].ecn


def test_a_discipline_that_no_model_supports_has_a_name() -> None:
    scenario = lh.Scenario(SMALL, {"cell.ap_queue": "{ dualpi2 = {} }"}).typed
    assert isinstance(scenario, CellScenario)
    assert type(scenario.cell.ap.queue) is Queue
    assert scenario.cell.ap.queue.discipline == "dualpi2"
