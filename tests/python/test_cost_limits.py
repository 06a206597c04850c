"""The cost of a computation is estimated before it starts. A computation above the limit is
refused.
"""

import re
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import lasthop as lh
from lasthop import models
from lasthop.cli.options import cost_of_memory, cost_of_time
from lasthop.cli.words import hint_in_options
from lasthop.errors import TooCostlyError
from lasthop.models.acsma.graph import ConflictGraph, from_edges
from lasthop.models.acsma.network import Flow, Network
from lasthop.models.acsma.optimum import optimum
from lasthop.models.acsma.sampling import sample_airtime
from lasthop.models.edca import cost
from lasthop.models.edca.cost import check_cost
from lasthop.progress.cost_limits import allowing, check_time, need
from lasthop.stability.axis import Axis
from lasthop.stability.case import Case
from lasthop.stability.chart import chart
from lasthop.stability.hopf import edges, hopf_points
from lasthop.stability.integrate import integrate
from lasthop.stability.presets import named
from lasthop.stability.spectrum import roots

from .conftest import Lasthop

AT_ONCE_S = 1.0
"""Largest duration of an estimate. [s]"""


def refused(question: object, *arguments: object, **more: object) -> TooCostlyError:
    """Return the error of a refused computation. Check that it is refused within `AT_ONCE_S`."""
    assert callable(question)
    begun = time.process_time()
    with pytest.raises(TooCostlyError) as caught:
        question(*arguments, **more)
    assert time.process_time() - begun < AT_ONCE_S
    return caught.value


CHAIN = """\
duration = "10 s"
cell = { phy = "802.11b", cwmin = 1023, ap_queue = 100_000, ap = { cwmin = 15, txop_packets = 40 } }
tcp = { congestion = "reno", window = 42, delayed_ack = false }
station.a = { count = 500, upload = 1 }
"""
"""A cell whose stations have one upload each, and whose access point sends long bursts."""


def chain_of(stations: int) -> lh.Scenario:
    """Return a cell with fewer stations."""
    return lh.Scenario(CHAIN, {"station.a.count": stations})


# -- limits --------------------------------------------------------------------------------------


def test_the_estimate_is_compared_with_the_limit_and_both_are_reported() -> None:
    need("a little", time_s=60.0, memory_bytes=2e9)
    error = refused(need, "a chain", time_s=2400.0, memory_bytes=6.5e9)
    assert str(error) == ("a chain would take up to 40 min and 6.5 GB; expected 60 s and 2 GB")
    assert error.hint == "max_time_s=3000 and max_memory_bytes=1e+10 allow it"
    assert hint_in_options(error.hint) == "--max-time 50min and --max-memory 10GB allow it"
    with allowing(max_time_s=3000.0, max_memory_bytes=10e9):
        need("a chain", time_s=2400.0, memory_bytes=6.5e9)
    refused(need, "a chain", time_s=2400.0)


@pytest.mark.parametrize(
    ("time_s", "words"),
    [(61.0, "61 s"), (119.0, "119 s"), (125.0, "2.1 min"), (1e5, "28 h"), (1e7, "116 d")],
)
def test_times_have_two_digits_in_the_largest_unit_of_at_least_two(
    time_s: float, words: str
) -> None:
    assert f"would take up to {words};" in str(refused(need, "it", time_s=time_s))


def test_an_infinite_time_is_more_than_a_year() -> None:
    error = refused(need, "it", time_s=np.inf, memory_bytes=np.inf)
    assert "more than 370 d and more than 1000 TB" in str(error)


def test_the_hinted_limit_is_sufficient_and_valid() -> None:
    for seconds in (61.0, 100.0, 1801.0, 3599.0, 86_399.0, 1e6):
        hint = hint_in_options(refused(need, "it", time_s=seconds).hint) or ""
        assert cost_of_time(hint.split()[1]) >= seconds
    for size in (2.1e9, 9.9e9, 999e9, 1.1e12):
        hint = hint_in_options(refused(need, "it", memory_bytes=size).hint) or ""
        assert cost_of_memory(hint.split()[1]) >= size


def test_a_computation_stops_after_twice_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr(time, "perf_counter", lambda: now_s)
    check_time("what nobody times")
    with allowing(max_time_s=0.005):
        now_s += 0.0099
        check_time("it")
        now_s += 0.0002
        error = refused(check_time, "the search")
    assert re.match(r"the search is not done after 0\.\d+ s; expected 0\.005 s$", str(error))
    check_time("what nobody times")


def test_zero_is_not_a_valid_limit() -> None:
    with pytest.raises(ValueError, match=r"max_time_s = 0.0 is no number above 0"), allowing(0.0):
        pass


# -- models --------------------------------------------------------------------------------------


def test_a_chain_of_many_stations_with_txop_is_refused_by_its_file() -> None:
    error = refused(lh.predict, chain_of(500))
    assert str(error).startswith("a chain of 500 stations with TXOP and windows of 42 packets")
    with pytest.raises(TooCostlyError):
        lh.predict(chain_of(50), max_memory_bytes=1e6)
    assert lh.predict(chain_of(10)).model == "edca"


def test_tables_and_states_of_a_chain_are_counted_as_they_are() -> None:
    odds = np.ones(500)
    error = refused(check_cost, "lumped", 500, 1000, odds * 50.0, 10, 1)
    assert "GB; expected 60 s and 2 GB" in str(error) or "min" in str(error)
    refused(check_cost, "full", 500, 42, odds, 1, 1)
    refused(check_cost, "product", 10_000, 65_535, np.ones(10_000), 1, 1)
    check_cost("full", 10, 9, odds, 1, 1)
    check_cost("lumped", 500, 42, odds, 5, 1)
    check_cost("pifs", 10_000, 65_535, odds, 1, 1)


def test_a_dense_conflict_graph_is_refused_before_its_optimum() -> None:
    links = [str(number) for number in range(16)]
    network = Network(
        from_edges(links, [("0", "1")]), tuple(Flow(name, (name,)) for name in links), 600.0
    )
    assert optimum(network).states > 0
    with allowing(max_time_s=1e-3):
        error = refused(optimum, network)
    assert str(error).startswith("the optimum of 16 links in conflict")


def test_sampling_that_would_not_end_is_refused_after_its_first_sweeps() -> None:
    ring = [(str(k), str((k + 1) % 40)) for k in range(40)]
    graph: ConflictGraph = from_edges([str(k) for k in range(40)], ring)
    with allowing(max_time_s=2.0), pytest.raises(TooCostlyError, match="sampling 40 links"):
        sample_airtime(graph, np.full(40, 12.0), tolerance=1e-6)


# -- solvers -------------------------------------------------------------------------------------


def test_thresholds_up_to_a_thousand_million_packets_are_refused() -> None:
    error = refused(edges, Case.of("threshold"), "q_th", 1.0, 1e9)
    assert str(error).startswith("threshold: 160 values of q_th from 1 to 1e+09 would take up to")
    assert len(hopf_points(Case.of("threshold"), "q_th", 1.0, 1e3)) == 1


def test_a_motion_of_thirty_years_is_refused() -> None:
    error = refused(integrate, Case.of("red"), 1e9)
    assert str(error).startswith(
        "red: a trajectory of 1e+09 s, 1e+10 times its shortest delay, would"
    )
    assert len(integrate(Case.of("red"), 100.0).starts) > 100


def test_more_flows_than_packets_are_refused() -> None:
    error = refused(roots, named("red-dumbbell", {"flows": "1e18"}))
    assert str(error).startswith("red: the rightmost root would take up to 2.4 min")
    assert roots(named("red-dumbbell", {"flows": "1e6"})).stable


@pytest.mark.slow
def test_a_chart_of_four_million_points_is_refused_and_a_usual_one_is_not() -> None:
    x, y = Axis("capacity", 100.0, 500.0), Axis("rtt", 0.01, 0.1)
    error = refused(chart, Case.of("red"), x, y, 2000)
    assert "a chart of 2000 x 2000 values of capacity and rtt" in str(error)
    assert chart(Case.of("red"), x, y, 8).abscissa.shape == (8, 8)


def test_threads_of_a_chart_have_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    def leading(_: object) -> np.ndarray:
        check_time("a row")
        return np.full(2, -1.0 + 0j)

    module = import_module("lasthop.stability.chart")
    monkeypatch.setattr(module, "leading", leading)
    monkeypatch.setattr(module, "_check_cost", lambda *_: None)
    x, y = Axis("capacity", 100.0, 500.0), Axis("rtt", 0.05, 0.1)
    with allowing(max_time_s=1e-9), pytest.raises(TooCostlyError, match="a row is not done"):
        chart(Case.of("red"), x, y, 2)


# -- the command line ----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["10", "0s", "-1s", "1 week", "nan s", "1e999s", ""])
def test_an_option_without_a_unit_is_refused(text: str) -> None:
    import typer

    with pytest.raises(typer.BadParameter, match="expected a number above 0 with a unit"):
        cost_of_time(text)


def test_options_are_read_with_their_units() -> None:
    assert cost_of_time("90s") == 90.0
    assert cost_of_time("1.5 h") == 5400.0
    assert cost_of_memory("8GB") == 8e9
    assert cost_of_memory("500 MB") == 5e8
    assert cost_of_time(60.0) == 60.0


def test_predict_names_the_file_and_the_option_that_raises_the_limit(
    lasthop: Lasthop, tmp_path: Path
) -> None:
    path = tmp_path / "x.toml"
    path.write_text(CHAIN)
    done = lasthop("predict", path)
    assert (done.returncode, done.stdout) == (2, "")
    line, hint = done.stderr.splitlines()
    what = "a chain of 500 stations with TXOP and windows of 42 packets"
    assert line.startswith(f"error: {path}: model edca: {what} would take up to ")
    assert line.endswith("expected 60 s and 2 GB")
    assert hint.startswith("hint: --max-time ")
    few = ("--set", "station.a.count=2", "--max-time", "1min", "--max-memory", "1GB")
    assert lasthop("predict", path, *few).returncode == 0


@pytest.mark.parametrize(
    "command",
    [
        ("hopf", "threshold", "--over", "q_th=1..1e9"),
        ("normal-form", "threshold", "--over", "q_th=1..1e9"),
        ("cycle", "threshold", "--over", "q_th=1..1e9"),
        ("integrate", "red", "--until", "1e9s"),
        ("equilibrium", "red-dumbbell", "--set", "flows=1e18"),
        ("roots", "red-dumbbell", "--set", "flows=1e18"),
    ],
)
def test_stability_refuses_endless_computations(lasthop: Lasthop, command: tuple[str, ...]) -> None:
    done = lasthop("stability", *command)
    assert (done.returncode, done.stdout) == (2, "")
    line, hint = done.stderr.splitlines()
    assert " would take up to " in line
    assert hint.startswith("hint: --max-time ")


def test_a_cost_without_unit_is_one_line(lasthop: Lasthop, small: Path) -> None:
    done = lasthop("predict", small, "--max-time", "10")
    assert done.returncode == 2
    assert done.stderr.startswith(
        'error: --max-time "10": expected a number above 0 with a unit (s, min, h, d), such as '
        "10min"
    )


def test_a_comparison_simulates_if_no_model_answers_in_time() -> None:
    comparison = lh.compare(chain_of(2), replications=2, max_time_s=1e-9)
    assert comparison.prediction is None
    assert "has not answered: " in (comparison.refusal or "")


@pytest.mark.slow
def test_a_chain_takes_about_its_estimated_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimated and measured times agree, with and without bursts and contention. The unit of time
    is one iteration of a plain loop, so that the speed of the machine does not matter.
    """
    estimates_s: list[float] = []
    monkeypatch.setattr(cost, "need", lambda _, time_s, memory_bytes: estimates_s.append(time_s))
    for stations, cwmin, burst in ((200, 15, 1), (100, 31, 5), (100, 3, 8)):
        node = {"cwmin": 15, "txop_packets": max(burst, 8)}
        cell = {"phy": "802.11b", "cwmin": cwmin, "ap_queue": 100_000, "txop_packets": burst}
        chain = lh.Scenario(CHAIN, {f"cell.{name}": value for name, value in cell.items()})
        settings = {"station.a.count": stations} | {f"cell.ap.{k}": v for k, v in node.items()}
        known = lh.Scenario(chain, settings).typed
        loop_s = loop_turn_s()
        begun = time.process_time()
        with suppress(models.ModelError):  # The model detects discarded frames only at the end.
            models.predict(known, "edca")
        turns = (time.process_time() - begun) / loop_s
        assert 0.8 < estimates_s[-1] / cost.TURN_S / turns < 4.0


def loop_turn_s() -> float:
    """Return the CPU time of one iteration of a plain loop, as the minimum of five measurements.
    [s]
    """

    def once() -> float:
        begun, total = time.process_time(), 0
        for turn in range(500_000):
            total += turn
        return (time.process_time() - begun) / 500_000

    return min(once() for _ in range(5))
