"""`lasthop queue` with CAKE in user-mode Linux: `tc -j -s` reports the settings of the scenario."""

import json
from pathlib import Path
from typing import Any

import pytest
import uml

from cake_cases import CASES, LENGTHS
from lasthop.importing.cake_words import read_words
from lasthop.uml.kernel import find_kernel

pytestmark = pytest.mark.usefixtures("user_mode")

INSIDE = Path(__file__).parent / "inside"
STATISTICS = {"bytes", "packets", "drops", "overlimits", "requeues", "backlog", "qlen"}
STATISTICS |= {"memory_used", "memory_limit", "capacity_estimate", "tins", "avg_hdr_offset"}
STATISTICS |= {f"{which}_{kind}_size" for which in ("min", "max") for kind in ("network", "adj")}


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """Return the answers of one boot."""
    result: dict[str, Any] = uml.answer(INSIDE / "cake.py")
    return result


@pytest.mark.parametrize("name", CASES)
def test_tc_reports_the_settings_of_the_scenario(name: str, seen: dict[str, Any]) -> None:
    result, case = seen["cases"][name], CASES[name]
    queue = result["by_us"]
    assert (queue["kind"], queue["handle"], queue["root"]) == ("cake", "6c68:", True)
    assert queue["options"] == case.options
    assert queue["packets"] + queue["qlen"] == len(LENGTHS)
    assert result["faults"] == []


@pytest.mark.parametrize("name", CASES)
def test_up_and_the_commands_of_plan_have_the_same_effect(name: str, seen: dict[str, Any]) -> None:
    by_us, by_tc = (seen["cases"][name][key] for key in ("by_us", "by_tc"))
    assert by_us["options"] == by_tc["options"]
    assert by_us["memory_limit"] == by_tc["memory_limit"]
    assert [tin["threshold_rate"] for tin in by_us["tins"]] == [
        tin["threshold_rate"] for tin in by_tc["tins"]
    ]


@pytest.mark.parametrize("name", CASES)
def test_lengths_on_the_line_are_those_of_the_scenario(name: str, seen: dict[str, Any]) -> None:
    """The kernel reports the shortest and the longest packet that CAKE has counted."""
    queue, on_line = seen["cases"][name]["by_us"], CASES[name].on_line
    assert (queue["min_network_size"], queue["max_network_size"]) == (LENGTHS[0], LENGTHS[-1])
    assert queue["min_adj_size"] == min(map(on_line, LENGTHS))
    assert queue["max_adj_size"] == max(map(on_line, LENGTHS))


@pytest.mark.parametrize("name", CASES)
def test_the_status_has_the_tins_of_tc(name: str, seen: dict[str, Any]) -> None:
    result = seen["cases"][name]
    tins, by_tc = result["tins"], result["by_us"]["tins"]
    assert len(tins) == len(by_tc)
    for ours, theirs in zip(tins, by_tc, strict=True):
        assert ours["arrived_packets"] == theirs["sent_packets"]
        assert ours["threshold_bps"] == 8 * theirs["threshold_rate"]
        assert ours["target_s"] == pytest.approx(theirs["target_us"] / 1e6)
        assert ours["dropped_packets"] == theirs["drops"]
    assert sum(tin["arrived_packets"] for tin in tins) == len(LENGTHS)


@pytest.mark.parametrize("name", CASES)
def test_the_line_of_tc_is_read_as_the_same_settings(name: str, seen: dict[str, Any]) -> None:
    """`tc qdisc show` prints words that `tc qdisc add` accepts."""
    words = seen["cases"][name]["words"].partition("refcnt")[2].split()[1:]
    cake, options = read_words(words), CASES[name].options
    assert cake.notes == []
    assert cake.bandwidth_bps == 8 * options["bandwidth"]
    assert cake.diffserv == options["diffserv"]
    assert cake.isolation == options["flowmode"]
    assert cake.overhead_bytes == options["overhead"]
    assert cake.mpu_bytes == options.get("mpu", 0)
    assert (cake.nat, cake.ingress) == (options["nat"], options["ingress"])
    assert round(1e6 * cake.rtt_s) == options["rtt"]


def test_values_change_in_place_and_changes_by_others_are_repaired(seen: dict[str, Any]) -> None:
    changes, wanted = seen["changes"], CASES["default"].options | {"bandwidth": 1_125_000}
    assert changes["applied"]["options"] == wanted
    assert changes["noticed"] == ["the queue of wan is changed"]
    assert changes["repaired"]["options"] == wanted
    assert changes["faults"] == []


def test_nothing_is_left_after_down_and_after_a_refusal(seen: dict[str, Any]) -> None:
    assert seen["after"] == seen["before"]
    assert seen["leftovers"] == []


def test_a_kernel_without_cake_is_refused_with_its_option(seen: dict[str, Any]) -> None:
    is_module = find_kernel().options["NET_SCH_CAKE"] == "m"
    message = "interface.queue: this kernel has no cake (CONFIG_NET_SCH_CAKE)"
    assert seen["refused"] == (message if is_module else None)


def test_the_commands_set_cake_up_report_its_tins_and_remove_it() -> None:
    seen = uml.answer(INSIDE / "cake_commands.py")
    results = seen["results"]
    assert [code for code, _ in results.values()] == [0] * 5, results
    text = "wan, cake bandwidth 18000000bit diffserv4 triple-isolate nonat"
    assert text in results["check"][1]
    assert text in results["up"][1]
    assert "mean delay [ms]" in results["status"][1]
    status = json.loads(results["status --json"][1])
    assert (status["shaping"], status["rate_bps"], status["faults"]) == (True, 18_000_000, [])
    names = ["bulk", "best-effort", "video", "voice"]
    assert [tin["name"] for tin in status["tins"]] == names
    assert status["tins"][1]["threshold_bps"] == 18_000_000
    assert results["down"][1] == "down\n"
    assert seen["restored"]
