"""Comparison of aggregates with ns-3: the output of ns-3 is read, and every compared setting gives
a valid scenario.
"""

import tomllib

import pytest
from aggregates_cases import CASES, RULES, STANDARD, Case
from aggregates_compared import FILE, parsed
from aggregates_slots import EXCHANGES, Rules, goodput_bps
from measure import BenchError

from lasthop import Scenario, simulate

PRINTED = """\
delivered 700 300
station 1460 2920
station 4380 0
sent QOSDATA 599 25158 3632
"""


def test_bytes_of_stations_are_summed() -> None:
    delivered = parsed(PRINTED)
    assert delivered.segments == 300
    assert delivered.stations == [(1460, 2920), (4380, 0)]
    assert delivered.bytes == 8760
    assert delivered.jain == 1  # each station has 4380 bytes


def test_jains_index_is_over_stations() -> None:
    # One of two stations gets all goodput, so that Jain's index is 1 / 2.
    assert parsed("delivered 9 9\nstation 10 20\nstation 0 0\n").jain == 0.5


@pytest.mark.parametrize("printed", ["", "delivered 0 0\nstation 0 0\n", "station 1 1\n"])
def test_a_peer_that_delivered_nothing_is_an_error(printed: str) -> None:
    with pytest.raises(BenchError, match="delivered nothing"):
        parsed(printed)


@pytest.mark.parametrize("case", [*CASES, *RULES], ids=lambda case: case.name)
def test_cases_are_scenarios_of_their_generation(case: Case) -> None:
    scenario = Scenario(FILE, case.settings)
    assert scenario["cell"]["phy"] == f"802.11{case.generation.name}"
    ways = {(flow["direction"], "tcp" in flow) for flow in scenario["flows"]}
    assert ways == {(way, case.flows.kind == "tcp") for way in case.flows.directions}
    assert len(scenario["flows"]) == case.flows.stations * len(case.flows.directions)


def test_the_standard_setting_is_the_default() -> None:
    table = tomllib.loads(FILE.read_text())
    for path in STANDARD:
        *tables, key = path.split(".")
        inner = table
        for name in tables:
            inner = inner[name]
        del inner[key]
    for case in CASES:
        unasked = Scenario(table, case.settings).to_dict()
        assert Scenario(FILE, {**case.settings, **STANDARD}).to_dict() == unasked


@pytest.mark.parametrize("stations", [5, 20])
def test_the_engine_has_the_goodput_of_the_slots(stations: int) -> None:
    [case] = (candidate for candidate in CASES if candidate.name == f"802.11n, UDP up, {stations}")
    longer = {"duration": "63 s", "replications": 1}
    [cell] = simulate(Scenario(FILE, {**case.settings, **longer}), jobs=1).summary["cells"]
    expected_bps = goodput_bps(stations, EXCHANGES["802.11n"], Rules(), 60.0, 1)
    # Runs of 60 s have a standard deviation of 0.5 %.
    # An EIFS that is too short would change the goodput by 1 %.
    assert cell["goodput_bps"]["mean"] == pytest.approx(expected_bps, rel=0.02)
