"""Main pictures of results: rows, folded rows of groups, and rows by direction."""

import json
from collections.abc import Sequence
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import lasthop as lh
from lasthop.answers.digits import estimate
from lasthop.plot.figure import EMULATION
from lasthop.plot.rows import Spread, bars, is_seen, of_group, short
from lasthop.plot.sharers import item_of, meaning_of_groups, sharers, title_of
from lasthop.plot.side_by_side import EQUAL

from .conftest import SMALL
from .test_network import DUMBBELL

EXAMPLES = Path(__file__).parents[2] / "examples"

GROUPS = {
    "name": "one up, three down",
    "duration": "4 s",
    "warmup": "1 s",
    "replications": 3,
    "cell": {"phy": "802.11b", "ap_queue": 30},
    "tcp": {"window": 20},
    "station": {"up": {"upload": 2}, "down": {"count": 3, "download": 1}},
}
BOTH_WAYS = {
    "duration": "2 s",
    "warmup": "0.5 s",
    "replications": 2,
    "cell": {"phy": "802.11b", "ap": {"cwmin": 63}},
    "station": {"laptop": {"udp_up": "greedy", "udp_down": "greedy"}},
}


def rows(axes: Axes) -> list[str]:
    """Return the labels of the rows."""
    return [label.get_text() for label in axes.get_yticklabels()]


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def numbers(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def widths(axes: Axes, label: str) -> list[float]:
    """Return the widths of the bars that belong to a label."""
    [container] = (each for each in axes.containers if each.get_label() == label)
    return [patch.get_width() for patch in container if isinstance(patch, Rectangle)]


@pytest.fixture(scope="module")
def groups() -> lh.Result:
    return lh.simulate(GROUPS)


def test_equal_stations_are_one_row_with_the_interval_of_their_mean(groups: lh.Result) -> None:
    goodputs, queues = groups.plot().axes
    assert rows(goodputs) == ["up ↑", "down-1..3 ↓"]
    assert rows(queues) == ["ap", "up", "down-1..3"]
    down = groups.stations["goodput_bps"].iloc[1:]
    assert widths(goodputs, "simulation, 95 %")[1] == pytest.approx(down.mean() / 1e6)
    samples = groups.samples.query("list == 'stations' and quantity == 'goodput_bps'")
    means = samples[samples["name"] != "up"].groupby("replication")["value"].mean() / 1e6
    half = 4.302653 * means.std() / 3**0.5  # Student's t for two degrees of freedom
    assert numbers(goodputs)[1] == estimate(means.mean(), half)


def test_the_minimum_and_maximum_of_a_group_are_marked(groups: lh.Result) -> None:
    goodputs = groups.plot().axes[0]
    [mark] = (each for each in goodputs.containers if each.get_label() == of_group("simulation"))
    [bar] = mark
    down = groups.stations["goodput_bps"].iloc[1:] / 1e6
    assert bar.get_x() == pytest.approx(down.min())
    assert bar.get_x() + bar.get_width() == pytest.approx(down.max())


def test_an_invisible_range_is_not_in_the_legend() -> None:
    wide = Spread(5.0, 0.1, 4.0, 6.0)
    assert is_seen([Spread(10.0), wide])
    assert not is_seen([Spread(1000.0, 3.0), wide])
    assert not is_seen([Spread(10.0), Spread(nan)])
    for other, labels in ((10.0, ["x", of_group("x")]), (1000.0, ["x"])):
        axes = Figure().subplots()
        bars(axes, [Spread(other), wide], "blue", "x")
        assert sorted(axes.get_legend_handles_labels()[1]) == sorted(labels)


def test_the_legend_says_that_the_bar_of_a_group_is_an_average(groups: lh.Result) -> None:
    expected = "down-1..3: average of the members"
    for figure in (groups.plot(), lh.compare(GROUPS).plot()):
        [legend] = figure.legends
        assert legend.get_title().get_text() == expected
    for figure in (groups.plot.goodput(), groups.plot.queues()):
        assert figure.axes[0].get_xlabel().endswith(expected)
    alone = lh.simulate(SMALL).plot()
    assert alone.legends[0].get_title().get_text() == ""
    row = sharers([groups])[1]
    several = meaning_of_groups([row, replace(row, label="b-1..2", members=("b-1", "b-2"))])
    assert several == "groups: average of the members"


def test_both_directions_of_a_station_are_two_rows_next_to_equal_rows() -> None:
    result = lh.simulate(BOTH_WAYS)
    goodputs, queues = result.plot().axes
    assert rows(goodputs) == ["laptop ↑", "laptop ↓"]
    assert rows(queues) == ["ap", "laptop"]
    flows = result.flows["goodput_bps"] / 1e6
    assert widths(goodputs, "simulation, 95 %") == pytest.approx(list(flows))
    [equal] = (line for line in goodputs.lines if line.get_label() == EQUAL)
    assert equal.get_xdata()[0] == pytest.approx(flows.mean())
    shares = lh.compare(BOTH_WAYS).plot().axes[0]
    assert rows(shares) == ["laptop ↑", "laptop ↓"]
    assert sum(widths(shares, "simulation, 95 %")) == pytest.approx(100.0)


def test_equal_shares_are_not_drawn_for_mixed_stations_and_directions() -> None:
    mixed = BOTH_WAYS | {"station": BOTH_WAYS["station"] | {"other": {"udp_up": "greedy"}}}
    goodputs = lh.simulate(mixed).plot().axes[0]
    assert rows(goodputs) == ["laptop ↑", "laptop ↓", "other ↑"]
    assert not [line for line in goodputs.lines if line.get_label() == EQUAL]


def test_directions_are_one_row_if_the_model_has_only_their_sum(groups: lh.Result) -> None:
    result = lh.simulate(BOTH_WAYS)
    summary = {
        "kind": "prediction",
        "stations": [{"name": "laptop", "goodput_share": {"mean": 1.0, "ci95": None}}],
        "flows": [{"name": "x", "station": "laptop", "direction": "up"}],
    }
    guess = lh.Prediction(summary, result.scenario)
    assert [row.label for row in sharers([result, guess])] == ["laptop"]
    assert [row.label for row in sharers([result])] == ["laptop ↑", "laptop ↓"]
    # If only one station of a group was measured, the group is not folded into one row.
    apart = sharers([groups], apart={"down-2"})
    assert [row.label for row in apart] == ["up ↑", "down-1 ↓", "down-2 ↓", "down-3 ↓"]


def test_a_direction_of_a_group_sums_the_flows_of_each_member() -> None:
    both = GROUPS | {"station": {"pair": {"count": 2, "upload": 2, "download": 1}}}
    result = lh.simulate(both)
    up, down = sharers([result])
    assert (up.label, down.label) == ("pair-1..2 ↑", "pair-1..2 ↓")
    goodput = item_of(result, up)["goodput_bps"]
    flows = result.flows[result.flows["direction"] == "up"]["goodput_bps"]
    assert goodput["mean"] == pytest.approx(flows.sum() / 2)
    assert goodput["ci95"] > 0.0
    assert goodput["least"] <= goodput["mean"] <= goodput["most"]


def test_a_result_with_only_a_summary_is_drawn_without_the_interval_of_the_mean(
    groups: lh.Result, tmp_path: Path
) -> None:
    path = tmp_path / "result.json"
    path.write_text(groups.to_json())
    goodputs, _ = lh.load(path).plot().axes
    assert rows(goodputs) == ["up ↑", "down-1..3 ↓"]
    assert "±" in numbers(goodputs)[0]
    assert "±" not in numbers(goodputs)[1]


def test_each_answer_has_a_main_picture_in_its_colour() -> None:
    comparison = lh.compare(SMALL)
    assert comparison.prediction is not None
    assert titles(comparison.prediction.plot()) == ["Share of the goodput", "Queues"]
    assert titles(comparison.simulation.plot()) == ["Goodput", "Queues"]
    assert titles(comparison.plot()) == titles(comparison.figure())
    assert titles(lh.simulate(DUMBBELL).plot()) == [
        "Delay",
        "Completion",
        "Goodput",
        "Utilisation",
        "Time in queues",
        "Queues",
    ]
    graph = lh.simulate(EXAMPLES / "csma.toml", settings={"duration": "4 s", "warmup": "1 s"})
    assert titles(graph.plot()) == ["simulation: air time and throughput of each link"]
    guess = lh.predict(EXAMPLES / "csma.toml").plot()
    assert titles(guess) == ["air time and throughput of each link"]  # the figure's title
    guess.draw_without_rendering()
    heads = [guess._suptitle, guess.axes[0]._left_title]  # type: ignore[attr-defined]
    left, panel = (head.get_window_extent().x0 for head in heads)
    assert panel == pytest.approx(left, abs=1.5)


def test_an_emulation_is_drawn_like_a_simulation_with_its_number_of_runs(
    groups: lh.Result,
) -> None:
    from lasthop.emulation import Emulation

    summary = json.loads(groups.to_json()) | {"kind": "emulation", "replications": 1}
    for label in ("emulation, once", "emulation, 95 %"):
        figure = Emulation(summary, groups.scenario).plot()
        assert rows(figure.axes[0]) == ["up ↑", "down-1..3 ↓"]
        [legend] = figure.legends
        assert legend.texts[0].get_text() == label
        [bars] = (each for each in figure.axes[0].containers if each.get_label() == label)
        assert to_hex(bars[0].get_facecolor()) == EMULATION.lower()
        summary = summary | {"replications": 3}


def test_a_single_run_says_so_and_a_model_has_no_interval() -> None:
    comparison = lh.compare(SMALL, replications=1)
    [legend] = comparison.plot().legends
    assert [text.get_text() for text in legend.texts][:2] == ["simulation, one run", "model"]
    shares = comparison.plot().axes[0]
    assert not any("±" in text for text in numbers(shares))


def columns(figure: Figure) -> list[list[float]]:
    """Return, for each panel, the horizontal positions at which its columns of numbers begin. A
    position is the distance from the right edge of the axes. [points]
    """
    return [sorted({text.xyann[0] for text in axes.texts}) for axes in figure.axes]


def test_numbers_of_the_model_are_aligned_in_all_panels() -> None:
    figure = lh.compare(SMALL).figure()
    first, goodputs, queues = columns(figure)
    assert len(first) == 2
    assert queues == first
    assert goodputs == first[:1]
    heads = [text.get_text() for text in figure.axes[0].texts if text.get_fontstyle() == "italic"]
    assert heads == ["simulated", "model"]


def test_pictures_name_the_changes_and_the_model() -> None:
    settings = {"cell.ap_queue": 20, "record.frames": 10, "name": "x"}
    comparison = lh.compare(
        SMALL, settings=settings, seed=4, model="hotspot", options={"beta": 1.5}
    )
    figure = comparison.figure()
    texts = [each.get_text() for each in figure.findobj() if hasattr(each, "xycoords")]
    assert "cell.ap_queue=20, seed=4, model hotspot, beta 1.5" in texts
    assert figure.get_suptitle().strip() == "x"


def clipped_texts(figure: Figure) -> Sequence[str]:
    """Return the texts that extend beyond the edge of the picture; empty if all are inside."""
    figure.draw_without_rendering()
    box = figure.bbox
    return [
        text.get_text()
        for text in figure.findobj(lambda each: hasattr(each, "get_fontsize"))
        if text.get_visible()
        and text.get_text()
        and not (
            box.x0 - 1 <= text.get_window_extent().x0 and text.get_window_extent().x1 <= box.x1 + 1
        )
    ]


def test_no_text_is_cut_off(groups: lh.Result) -> None:
    for figure in (groups.plot(), lh.compare(GROUPS).plot(), lh.simulate(DUMBBELL).plot()):
        assert clipped_texts(figure) == []


def test_names_of_groups_have_the_first_and_last_number() -> None:
    assert title_of("others", ["others-1", "others-2", "others-4"]) == "others-1..4"
    assert title_of("x", ["x"]) == "x"
    assert title_of("flow", ["a", "b"]) == "flow (2)"
    assert short("a-very-long-station-1..40").endswith("-1..40")
