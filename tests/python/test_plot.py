from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import lasthop as lh
from lasthop.answers.digits import plain
from lasthop.errors import UserError
from lasthop.plot.conflicts import BOX, WIDTH, clear, covering, to_paper
from lasthop.plot.figure import COLUMN_INCHES
from lasthop.plot.panels import in_columns

from .conftest import SMALL

EXAMPLES = Path(__file__).parents[2] / "examples"


def labels(figure: object) -> list[str]:
    axes = figure.axes  # type: ignore[attr-defined]
    texts = [text for ax in axes for text in (ax.get_xlabel(), ax.get_ylabel())]
    return [text for text in (*texts, figure.get_supylabel()) if text]  # type: ignore[attr-defined]


def test_every_picture_is_one_column_wide_and_names_its_units(small_result: lh.Result) -> None:
    figures = [
        small_result.plot.goodput(),
        small_result.plot.queues(),
        small_result.plot.series("occupancy_packets"),
    ]
    for figure in figures:
        assert figure.get_figwidth() == pytest.approx(COLUMN_INCHES)
        assert labels(figure)
        assert all("[" in label for label in labels(figure))
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_comparison_shows_three_panels_with_units() -> None:
    figure = lh.compare(SMALL).figure()
    assert len(figure.axes) == 3
    assert all("[" in label for label in labels(figure))


def test_comparison_prints_the_models_values_and_covers_no_interval() -> None:
    comparison = lh.compare(SMALL)
    figure = comparison.figure()
    shares = figure.axes[0]
    assert comparison.prediction is not None
    near = comparison.prediction.stations.loc["near", "goodput_share"]
    assert plain(100 * near) in {text.get_text() for text in shares.texts}
    diamonds = next(line for line in shares.lines if line.get_marker() == "D")
    bars = [patch for patch in shares.patches if isinstance(patch, Rectangle)]
    for row, y in enumerate(diamonds.get_ydata()):
        assert y > bars[row].get_y() + bars[row].get_height()


def test_classes_of_a_shared_queue_have_a_panel_with_their_targets() -> None:
    settings = {
        "cell.ap_queue.vbs.class.near.share": 0.4,
        "cell.ap_queue.vbs.class.far.share": 0.4,
        "duration": "4 s",
        "replications": 2,
    }
    comparison = lh.compare(EXAMPLES / "vbs.toml", settings=settings)
    figure = comparison.figure()
    panel = figure.axes[0]
    assert len(figure.axes) == 4
    assert panel.get_xlabel() == "goodput of the class [Mb/s]"
    assert [label.get_text() for label in panel.get_yticklabels()] == ["near", "far"]
    total_mbps = comparison.simulation.classes["goodput_bps"].loc[["near", "far"]].sum() / 1e6
    [targets] = (lines for lines in panel.collections if lines.get_label() == "target")
    assert [path.vertices[0, 0] for path in targets.get_paths()] == pytest.approx(
        [total_mbps / 2] * 2
    )
    [legend] = figure.legends
    assert [text.get_text() for text in legend.texts] == [
        "simulation, 95 %",
        "range of a group, simulation",
        "model",
        "equal shares",
        "target",
    ]


def test_a_tall_picture_has_two_columns_without_empty_queues() -> None:
    settings = {"duration": "4 s", "replications": 1}
    figure = lh.compare(EXAMPLES / "vbs.toml", settings=settings).figure()
    width, height = figure.get_size_inches()
    assert width > 1.2 * height
    assert 25.4 * height < 140
    queues = figure.axes[-1]
    assert [label.get_text() for label in queues.get_yticklabels()] == ["ap"]
    # The three other queues are those of the two groups and of the meter.
    assert "\n3 others have less than 0." in queues.get_xlabel()
    # The ten downloads have equal shares. The meter is a sensor, which has no share.
    [shares] = (axes for axes in figure.axes if axes.get_title(loc="left").startswith("Share"))
    assert shares.lines[-1].get_xdata()[0] == 10.0
    # Queues that are empty in both simulation and model have no row.
    many = SMALL.replace("[station.near]", "[station.near]\ncount = 20")
    rows = lh.compare(many).figure().axes[-1].get_yticklabels()
    assert rows[0].get_text() == "ap"
    assert len(rows) < 5
    low = lh.compare(SMALL).figure()
    assert low.get_size_inches()[0] == pytest.approx(85 / 25.4)


def test_panels_are_in_columns_of_about_equal_height() -> None:
    assert in_columns([40.0, 40.0]) == [[0, 1]]
    assert in_columns([60.0, 30.0, 25.0, 30.0]) == [[0], [1, 2, 3]]
    assert in_columns([20.0, 60.0, 50.0, 20.0]) == [[0, 1], [2, 3]]


def test_picture_without_a_model_says_why() -> None:
    refused = lh.compare(SMALL, settings={"wire.loss": 0.1}).figure()
    title = refused.legends[0].get_title().get_text()
    assert "breaks the assumption that the wired part loses nothing" in title.replace("\n", " ")
    assert lh.compare(SMALL).figure().legends[0].get_title().get_text() == ""


def test_series_have_a_panel_per_item_with_a_common_scale(small_result: lh.Result) -> None:
    figure = small_result.plot.series("goodput_bps")
    names = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert names == ["near/down/1", "far/up/1", "far/up/2"]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert figure.get_supylabel() == "goodput [Mb/s]"
    many = SMALL.replace("upload = 2", "upload = 20")
    assert len(lh.simulate(many, series="0.5 s").plot.series("goodput_bps").axes) == 12


def test_one_replication_is_drawn_without_intervals() -> None:
    figure = lh.compare(SMALL, replications=1).figure()
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_a_thousand_stations_have_few_labels() -> None:
    many = SMALL.replace("[station.near]", "[station.near]\ncount = 300").replace("4 s", "0.5 s")
    many = many.replace('warmup = "1 s"', 'warmup = "0 s"')
    figure = lh.simulate(many, replications=1).plot.goodput()
    assert len(figure.axes[0].get_yticks()) <= 16


def test_an_unrecorded_series_is_refused_with_the_recorded_series(small_result: lh.Result) -> None:
    with pytest.raises(lh.UserError, match="no series of cwnd; there are cwnd_packets") as caught:
        small_result.plot.series("cwnd")
    assert "occupancy_packets" in (caught.value.hint or "")
    with pytest.raises(lh.UserError, match="no series were sampled"):
        lh.simulate(SMALL, replications=1).plot.series("cwnd_packets")


def test_a_single_panel_is_drawn_into_given_axes(small_result: lh.Result) -> None:
    graph = lh.simulate(
        EXAMPLES / "csma-hidden.toml", settings={"duration": "4 s", "warmup": "1 s"}
    )
    mine = Figure(figsize=(6.0, 6.0))
    axes = mine.subplots(2, 2)
    drawn = [
        small_result.plot.goodput(ax=axes[0, 0]),
        small_result.plot.queues(ax=axes[0, 1]),
        graph.plot.conflicts(ax=axes[1, 0]),
        graph.plot.goodput(ax=axes[1, 1]),
    ]
    assert all(figure is mine for figure in drawn)
    assert list(mine.axes) == list(axes.flat)  # No axes were added to the figure.
    assert tuple(mine.get_size_inches()) == (6.0, 6.0)
    assert axes[0, 0].get_xlabel() == "goodput [Mb/s], ↑ up, ↓ down, 95 % intervals"
    assert axes[0, 0].get_title() == "two downloaders"
    assert len(axes[0, 0].patches) == 2
    assert len(axes[1, 0].get_legend().get_texts()) == 2
    part = mine.subfigures(1, 2)[1]
    assert small_result.plot.goodput(ax=part.subplots()) is mine
    for draw in (small_result.plot.goodput, small_result.plot.queues, graph.plot.conflicts):
        with pytest.raises(lh.UserError, match="ax=3: not axes of matplotlib") as caught:
            draw(ax=3)
        assert "\n" not in str(caught.value)


def test_several_panels_are_drawn_into_a_given_figure(small_result: lh.Result) -> None:
    comparison = lh.compare(SMALL)
    mine = Figure(figsize=(9.0, 5.0))
    left, right = mine.subfigures(1, 2)
    assert comparison.figure(figure=left) is left
    assert small_result.plot.series("goodput_bps", figure=right) is right
    assert (len(left.axes), len(right.axes)) == (3, 3)
    assert mine.get_layout_engine() is not None
    mine.draw_without_rendering()
    tight = Figure(layout="tight")
    assert comparison.figure(figure=tight) is tight
    for draw in (
        lambda: comparison.figure(figure=3),
        lambda: small_result.plot.series("goodput_bps", figure=3),
    ):
        with pytest.raises(lh.UserError, match="figure=3: expected a figure of matplotlib"):
            draw()


def test_a_value_without_an_interval_has_no_error_bar() -> None:
    figure = lh.simulate(SMALL, replications=1).plot.goodput()
    [bars] = figure.axes[0].collections
    assert not any(len(segment) for segment in bars.get_segments())
    [with_intervals] = lh.simulate(SMALL).plot.goodput().axes[0].collections
    assert [len(segment) for segment in with_intervals.get_segments()] == [2, 2]
    assert figure.axes[0].get_xlabel() == "goodput [Mb/s], ↑ up, ↓ down"


def test_cell_without_traffic_is_drawn_without_shares() -> None:
    idle = lh.compare(SMALL, settings={"duration": "1 ms", "warmup": "0 s"})
    assert "goodput_share" not in idle.simulation.summary["stations"][0]
    assert len(idle.figure().axes) == 3


def texts(axes: Axes) -> str:
    return "\n".join(text.get_text() for text in axes.texts)


def test_a_conflict_graph_is_drawn_with_the_goodput_of_each_link() -> None:
    settings = {"duration": "50 s", "warmup": "10 s"}
    compared = lh.compare(EXAMPLES / "csma.toml", settings=settings, replications=1)
    model, simulation = compared.figure().axes
    assert "2: 25 %\n1.193 Mb/s" in texts(model)
    goodput = compared.simulation.flows.goodput_bps["user-2"] * 1e-6
    assert f"{goodput:.4g} Mb/s" in texts(simulation)
    for axes in (model, simulation):  # The graph has four conflicts, which are solid lines.
        assert [line.get_linestyle() for line in axes.lines] == ["-"] * 4
    [alone] = compared.simulation.plot.conflicts().axes
    assert texts(alone) == texts(simulation)
    assert simulation.get_title(loc="left") == "simulation: the same"
    hidden = lh.compare(EXAMPLES / "csma-hidden.toml", settings=settings, replications=1)
    [only] = hidden.figure().axes
    assert only.get_title(loc="left") == "simulation: air time and throughput of each link"


def test_dummy_packets_of_a_prediction_are_drawn_separately() -> None:
    settings = {"duration": "20 s", "warmup": "5 s"}
    compared = lh.compare(EXAMPLES / "csma-wires.toml", settings=settings, replications=1)
    model, simulation = compared.figure().axes
    assert "i-h: 21 % + 29 %\n" in texts(model)
    assert "+" not in texts(simulation)
    [legend] = compared.figure().legends
    assert legend.texts[0].get_text().endswith("discs are air times, pale for dummy packets")


PLACED = {
    "duration": "5 s",
    "replications": 1,
    "csma": {
        "sensing_range": "600 m",
        "interference_range": "600 m",
        "node": {
            name: {"x": f"{x} m"}
            for name, x in {"a": 0, "b": 200, "c": 500, "d": 700, "e": 1200, "f": 1300}.items()
        },
        "link": {
            "near": {"from": "a", "to": "b"},
            "middle": {"from": "c", "to": "d"},
            "far": {"from": "e", "to": "f"},
        },
    },
    "flow": {name: {"route": [name]} for name in ("near", "middle", "far")},
}
"""Scenario with transmitters in a row. The far station's frames collide with those of the middle
station.
"""


def test_links_are_at_their_nodes_and_arrows_show_hidden_links() -> None:
    compared = lh.compare(PLACED)
    model, simulation = compared.figure().axes
    for axes in (model, simulation):
        discs = [collection.get_offsets()[0] for collection in axes.collections[::2]]
        near, middle, far = (float(x) for x, _ in discs)
        assert (middle - near) / (far - near) == pytest.approx(500.0 / 1150.0)
        [arrow] = [text for text in axes.texts if getattr(text, "arrow_patch", None)]
        assert (arrow.xyann[0], arrow.xy[0]) == (far, middle)
        assert len(axes.lines) == 1  # The near and the middle station sense each other.
    [legend] = compared.figure().legends
    assert "hidden: collides" in legend.get_texts()[1].get_text()


def test_links_that_would_cover_one_another_are_moved_apart_in_their_order() -> None:
    middles = np.array([[50.0, 100.0], [100.0, 50.0], [150.0, 100.0], [1250.0, 100.0]])
    at = clear(middles * to_paper(middles, WIDTH - BOX[0]), np.array(BOX))
    assert not covering(at, np.array(BOX)).any()
    assert np.ptp(at[:, 0]) <= WIDTH - BOX[0]
    assert list(np.argsort(at[:, 0])) == [0, 1, 2, 3]
    assert at[1, 1] < at[0, 1] == at[2, 1]
    # If there are too many links at one point, they are drawn on top of each other.
    heap = clear(np.zeros((9, 2)), np.array(BOX))
    assert not covering(heap, np.array(BOX)).any()


def test_no_part_of_a_conflict_graph_is_cut_off() -> None:
    figure = lh.compare(PLACED).figure()
    figure.draw_without_rendering()
    box = figure.bbox
    for axes in figure.axes:
        for text in [axes.title, *(text for text in axes.texts if text.get_text())]:
            inside = text.get_window_extent()
            assert box.x0 <= inside.x0
            assert inside.x1 <= box.x1


def test_a_conflict_graph_without_a_model_shows_only_the_simulation() -> None:
    settings = {"csma.access": "dcf", "duration": "20 s", "warmup": "1 s"}
    compared = lh.compare(EXAMPLES / "csma.toml", settings=settings, replications=1)
    assert compared.refusal is not None
    assert len(compared.figure().axes) == 1


def test_a_cell_has_no_conflict_graph(small_result: lh.Result) -> None:
    with pytest.raises(UserError, match="no conflict graph: the scenario has no `csma`"):
        small_result.plot.conflicts()
