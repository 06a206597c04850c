"""Calls in results: verdicts, and delays that come first in tables, sweeps and pictures."""

from dataclasses import replace
from typing import Any

import pytest

import lasthop as lh
from lasthop.answers.calls import DELAY_P99_S, LOSS, CallFacts, call_facts
from lasthop.cli.sweep import print_sweep
from lasthop.display.columns import DELAY_P99
from lasthop.display.delays import Delays
from lasthop.display.swept import delay_table
from lasthop.models.stated import stated_errors
from lasthop.plot.side_by_side import CALL_LIMIT

from .conftest import EXAMPLES, Lasthop

LATE = DELAY_P99.header

CALL = {"rate": "100 kbps", "packet": "200 B"}
HOME = {
    "name": "home",
    "duration": "3 s",
    "warmup": "1 s",
    "replications": 2,
    "cell": {"phy": "802.11g"},
    "wire": {"rate": "20 Mbps", "back_rate": "2 Mbps", "queue": 200},
    "station": {"laptop": {"upload": 1}, "phone": {"udp_up": CALL, "udp_down": CALL}},
}


@pytest.fixture(scope="module")
def home() -> lh.Result:
    return lh.simulate(HOME)


def with_values(result: lh.Result, up: dict[str, Any], lost: dict[str, Any]) -> dict[str, Any]:
    """Return a result in which the upload direction of the call has these values."""
    changed = {"one_way_delay_p99_s": up, "loss_probability": lost}
    flows = [
        flow | (changed if flow["name"] == "phone/udp-up/1" else {})
        for flow in result.summary["flows"]
    ]
    return {**result.summary, "flows": flows}


@pytest.mark.parametrize(
    ("delay", "lost", "verdict"),
    [
        ((DELAY_P99_S - 0.02, 0.01), (0.0, 0.0), "good"),
        ((DELAY_P99_S - 0.01, 0.02), (0.0, 0.0), "uncertain"),
        ((DELAY_P99_S + 0.02, 0.01), (0.0, 0.0), "bad"),
        ((0.02, 0.0), (LOSS / 2, 0.001), "good"),
        ((0.02, 0.0), (LOSS, 0.001), "uncertain"),
        ((0.02, 0.0), (2 * LOSS, 0.001), "bad"),
        ((DELAY_P99_S, 0.01), (2 * LOSS, 0.001), "bad"),
        ((0.02, None), (2 * LOSS, None), "bad"),
    ],
)
def test_a_verdict_is_uncertain_if_an_interval_includes_a_limit(
    home: lh.Result, delay: tuple[float, float], lost: tuple[float, float], verdict: str
) -> None:
    values = [{"mean": mean, "ci95": ci95} for mean, ci95 in (delay, lost)]
    summary = with_values(home, *values)
    up, down = call_facts(summary, home.scenario).calls
    assert (up.name, up.direction, up.verdict) == ("phone", "up", verdict)
    assert (down.direction, down.verdict) == ("down", "good")


def test_datagrams_in_one_direction_or_of_a_greedy_source_are_not_a_call() -> None:
    for phone in ({"udp_up": CALL}, {"udp_up": "greedy", "udp_down": "greedy"}):
        stations = {**HOME["station"], "phone": phone}  # type: ignore[dict-item]
        result = lh.simulate({**HOME, "station": stations}, replications=1)
        assert not Delays.of(result).calls
        assert bool(Delays.of(result)) is ("udp_down" not in phone)
    assert call_facts(result.summary, None) == CallFacts()


def test_the_first_lines_are_the_answer_about_the_call(lasthop: Lasthop) -> None:
    lines = lasthop("simulate", EXAMPLES / "home-call.toml").stdout.splitlines()[:12]
    assert lines[0] == "a call in a household"
    assert lines[1].startswith("phone's call up: bad: 99 % of packets within 326 ± 6")
    assert "ms (limit 150), 0.2 ± 0.6 % lost" in lines[1]
    assert lines[2].startswith("phone's call down: good: 99 % of packets within 122 ± 6 ms, 0 %")
    rows = [line.split() for line in lines if line.startswith("phone ")]
    assert [row[1:3] for row in rows] == [["up", "bad"], ["down", "good"]]


def test_a_sweep_shows_delays_first_without_being_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    swept = lh.sweep(HOME, {"wire.queue": ["200", "{ fq_codel = {} }"]}, replications=1, jobs=1)
    heads, rows = delay_table(swept.points)
    late, verdict = map(heads.index, (f"phone\ncall up\n{LATE}", "phone\ncall\nverdict"))
    assert float(rows[0][1 + late]) > 150 > 50 > float(rows[1][1 + late])
    assert [row[1 + verdict] for row in rows] == ["bad", "good"]
    print_sweep(swept)
    assert "call up" in capsys.readouterr().out.split("---")[0]
    first = swept.plot().axes[0]
    assert first.get_xlabel() == "99 % of packets within [ms]"
    assert 150.0 in [line.get_xdata()[0] for line in first.lines if len(line.get_xdata()) == 2]


def test_delays_are_the_first_panel_with_the_limit_of_calls(home: lh.Result) -> None:
    figure = home.plot()
    first, *others = figure.axes
    assert first.get_title(loc="left") == "Delay"
    assert "phone's call: up " in first.get_xlabel()
    assert [label.get_text() for label in first.get_yticklabels()] == [
        "phone call ↑",
        "phone call ↓",
    ]
    [limit] = (line for line in first.lines if line.get_label() == CALL_LIMIT)
    assert limit.get_xdata()[0] == 1e3 * DELAY_P99_S
    titles = [axes.get_title(loc="left") for axes in others]
    assert titles.index("Goodput") < titles.index("Time in queues") < titles.index("Queues")
    times = others[titles.index("Time in queues")]
    [bars] = (each for each in times.containers if str(each.get_label()).startswith("simulation"))
    queues = {queue["name"]: queue["sojourn_s"]["mean"] for queue in home.summary["queues"]}
    names = [label.get_text() for label in times.get_yticklabels()]
    drawn = dict(zip(names, (bar.get_width() for bar in bars), strict=True))
    assert drawn["wire/up"] == pytest.approx(1e3 * queues["wire/up"])


def test_the_picture_says_if_a_model_is_worse_than_stated() -> None:
    settings = {"cell.ap_queue": 5, "duration": "10 s", "warmup": "2 s"}
    off = lh.compare(EXAMPLES / "hotspot.toml", settings=settings, replications=2)
    lines = off.beyond_stated
    assert lines
    assert all("(stated: 15 %)" in line for line in lines)
    [legend] = off.figure().legends
    shown = legend.get_title().get_text().replace("\u00a0", " ")
    assert lines[0].split(" at ")[0] in shown
    near = replace(off, prediction=None, refusal="is not predicted")
    assert near.beyond_stated == []


def test_a_stated_error_depends_on_the_cell() -> None:
    greedy = lh.Scenario({**HOME, "station": {"s": {"udp_up": "greedy"}}})
    usual = stated_errors("dcf", greedy.typed)["goodput_bps"].error
    small = lh.Scenario(greedy, {"cell.cwmin": 3})
    assert usual < stated_errors("dcf", small.typed)["goodput_bps"].error
    assert stated_errors("bottleneck", small.typed) == {}
