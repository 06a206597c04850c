"""BBR v3 of the engine next to an independent implementation of the draft."""

from typing import Any

import pytest
from bbr3_cases import CASES, link
from bbr3_readings import Readings
from bbr3_second import Report, replay

import lasthop as lh
from lasthop import _core

READINGS = Readings(save_state="once", extra_acked_window="nichols")
"""The readings of the draft that the engine has. All others are the defaults."""

SHORT = {
    "short queue": link(10, 20, 0.5, 4, loss=0.01),
    "application-limited": link(10, 20, 1, 4, size="6 kB", every="20 ms"),
    "FQ-CoDel": link(10, 20, 1, 4, queue={"fq_codel": {}}),
}


def compared(tree: dict[str, Any]) -> Report:
    """Return the comparison of one connection."""
    return replay(_core.trace_bbr3(lh.check(tree).checked), READINGS)


def assert_agrees(report: Report) -> None:
    """Require the state of all but 5 % of the ACKs, and a pacing rate within 2 % at these ACKs."""
    assert report.acks > 200
    for quantity in ("state", "pacing_rate_bps", "max_bw_bps", "inflight_longterm_bytes"):
        assert report.agreeing[quantity] >= 0.95 * report.acks, quantity
    assert report.missing_draws == 0


@pytest.mark.parametrize("name", SHORT)
def test_states_and_rates_are_those_of_the_independent_implementation(name: str) -> None:
    assert_agrees(compared(SHORT[name]))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_states_and_rates_agree_in_many_networks(name: str) -> None:
    assert_agrees(compared(CASES[name]))


def test_a_wrong_constant_is_found() -> None:
    lines = _core.trace_bbr3(lh.check(SHORT["short queue"]).checked)
    wrong = [line.replace('"LossThresh": 0.02', '"LossThresh": 0.2') for line in lines]
    report = replay(wrong, READINGS)
    assert report.agreeing["inflight_longterm_bytes"] < 0.95 * report.acks
