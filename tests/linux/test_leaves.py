"""Leaves with queue disciplines that keep delay low. The tests run in user-mode Linux, whose kernel
supports these disciplines, and on this host.
"""

from pathlib import Path
from typing import Any

import pytest
import uml

from lasthop.linux import rights
from lasthop.linux.leaf_queue import BEST

INSIDE = Path(__file__).parent / "inside"
FULL_LEAF_S = 200 * 1514 * 8 / 12e6
"""Time in which a full leaf of 200 packets drains at 12 Mbit/s, half of the rate of the access
point. [s]
"""
SHORT = 0.25
"""Largest fraction of `FULL_LEAF_S` that a datagram waits if CoDel keeps the leaf short. The
measured fraction is 0.15 with CoDel, 0.001 with FQ-CoDel, and 1.0 in a FIFO. [-]
"""


def seen(discipline: str, more: str = "") -> dict[str, Any]:
    """Return the results of a gateway with this setting in user-mode Linux."""
    result: dict[str, Any] = uml.answer(INSIDE / "leaves.py", discipline, more)
    assert result["faults"] == result["kept"] == []
    return result


@pytest.mark.usefixtures("user_mode")
@pytest.mark.parametrize(
    ("word", "more", "discipline"),
    [
        ("best", "", "fq_codel"),
        pytest.param(
            "best", 'fairness = "flow"\nflow_leaves = 5', "fq_codel", marks=pytest.mark.slow
        ),
        pytest.param("fq_codel", 'fairness = "flow"', "fq_codel", marks=pytest.mark.slow),
        pytest.param("codel", 'udp = "both"', "codel", marks=pytest.mark.slow),
        pytest.param("cake", "", "cake", marks=pytest.mark.slow),
    ],
)
def test_a_gateway_sets_up_repairs_and_plans_its_leaves(
    word: str, more: str, discipline: str
) -> None:
    result = seen(word, more)
    assert result["discipline"] == discipline
    assert result["tried"] == {"untried": None, "missing": None, "discipline": discipline}
    assert result["by_address"] == result["planned"]
    assert result["by_address"].count(f"qdisc {discipline} ") == (
        # the number includes the leaves for unclassified and for multicast packets
        2 + (5 if "= 5" in more else 2 - (word == "fq_codel"))
    )
    if "fairness" in more:
        return
    fault = "the queue of class 6c68:100 of lh-lan is"
    *changed, gone = result["damaged"]
    assert changed == [[f"{fault} changed"]] * len(changed)
    assert gone == [f"{fault} gone"]
    assert result["mended"] == [True] * len(result["damaged"])
    # the access point's class, two leaves of stations, two leaves for other packets; no flows
    assert result["counted"] == 5


def test_the_best_discipline_of_a_machine_is_found() -> None:
    trial = rights.tried("best")
    assert trial.missing is None
    assert trial.discipline in BEST
    is_better = trial.discipline != "pfifo"
    assert (rights.tried("fq_codel").missing is None) == (trial.discipline == "fq_codel")
    assert is_better or "fq_codel" in str(rights.tried("fq_codel").missing)


@pytest.mark.slow
@pytest.mark.usefixtures("user_mode")
@pytest.mark.parametrize(
    ("discipline", "is_near"), [("best", True), ("codel", True), ("pfifo", False)]
)
def test_a_station_does_not_wait_behind_its_own_downloads(discipline: str, is_near: bool) -> None:
    result: dict[str, Any] = uml.answer(INSIDE / "own_download.py", discipline)
    medians = {
        (probe, name): result[probe][name]["rtt_median_s"]
        for probe in ("echo", "ping")
        for name in result[probe]
    }
    for probe in (
        "echo",
        "ping",
    ):  # like all packets of the server, its pings pass through the leaf
        own = medians[probe, "heavy"] - medians[probe, "idle"]
        assert (own < SHORT * FULL_LEAF_S) == is_near, result
