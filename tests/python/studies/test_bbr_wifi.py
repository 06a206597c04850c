"""The study of BBR next to CUBIC: its scenarios, and its values from stored runs."""

import pytest

import lasthop as lh
from lasthop.studies import kept, ledger
from lasthop.studies.bbr_wifi import STUDIES, sharing, version3
from lasthop.studies.study import Runs

from .brief import read_by_claims
from .kept_run import claims

(STUDY,) = STUDIES


@pytest.fixture(scope="module")
def runs() -> Runs:
    stored = {**claims.load(), "runs": claims.samples()}
    return kept.runs_of(STUDY, stored)


def test_the_study_measures_every_value_that_claims_read(runs: Runs) -> None:
    assert read_by_claims(STUDY)
    assert read_by_claims(STUDY) <= set(STUDY.values(runs))


@pytest.mark.smoke(2)
def test_the_figure_is_drawn_from_stored_values(runs: Runs) -> None:
    assert STUDY.draw is not None
    figure = STUDY.draw(runs)
    assert all(axes.get_ylabel() for axes in figure.axes)


def test_the_finding_names_what_decides(runs: Runs) -> None:
    [(claim, text)] = STUDY.findings(runs).items()
    assert claim == "bbr-wifi-1"
    assert "allowance for aggregated ACKs" in text
    parts = sharing.WITHOUT_ALLOWANCE.at(direction="down", queue=3000).read(runs, sharing.share)
    assert all(part.measured().simulated < 0.5 for part in parts)  # type: ignore[operator]


def test_every_statement_is_judged_in_two_cells_and_by_ten_seeds() -> None:
    for claim in ledger.load().select(["bbr-wifi"]):
        read = {key for check in claim.checks for key in check.rule.reads()}
        assert all(any(f"_{phy}_" in key for key in read) for phy in ("ax", "ac"))
    assert {tree["replications"] for tree in STUDY.points.values()} == {10}


@pytest.mark.parametrize("direction", sharing.DIRECTIONS)
@pytest.mark.parametrize("queue", sharing.QUEUES)
def test_a_scenario_has_one_connection_of_each_control(direction: str, queue: int | str) -> None:
    typed = lh.check(sharing.both("ax", direction, queue)).typed
    assert [flow.name for flow in typed.flows] == [
        f"{name}/{direction}/1" for name in ("bbr", "cubic")
    ]
    assert lh.check(sharing.without_allowance("ac", direction, queue))


def test_version_3_is_a_further_row_of_the_same_cells() -> None:
    place = {"phy": "ax", "direction": "down", "queue": 1000}
    first, third = (version3.both(**place, control=control) for control in ("bbr", "bbr3"))
    assert first == sharing.both(**place)
    assert [flow.tcp.congestion for flow in lh.check(third).typed.tcp_flows] == ["bbr3", "cubic"]
    assert {key for key in version3.STUDY.points if key.endswith("-bbr3")}
