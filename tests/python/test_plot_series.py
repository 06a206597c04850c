"""Time series as small multiples: one panel per quantity and a common time axis."""

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import lasthop as lh
from lasthop.plot.series import COLORS, colors_of, label_of

from .conftest import SMALL
from .test_network import DUMBBELL
from .test_plot_answers import GROUPS


def names(figure: Figure, panel: int) -> list[str]:
    legend = figure.axes[panel].get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


@pytest.fixture(scope="module")
def groups() -> lh.Result:
    return lh.simulate(GROUPS, series="0.1 s", replications=1)


def test_each_quantity_has_a_panel_over_one_axis_of_time(groups: lh.Result) -> None:
    figure = groups.plot.series()
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "queue\n[packets]",
        "window\n[packets]",
        "goodput\n[Mb/s]",
    ]
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert all(axes.get_shared_x_axes().joined(figure.axes[0], axes) for axes in figure.axes)
    assert figure.axes[-1].get_xlabel() == "time [s], first replication; shaded: warm-up"
    queues, windows, rates = figure.axes
    assert (len(queues.lines), len(windows.lines), len(rates.lines)) == (5, 5, 5)
    times, values = groups.track("flows", "up/up/1", "goodput_bps")
    assert list(rates.lines[0].get_xdata()) == times
    assert list(rates.lines[0].get_ydata()) == pytest.approx([v / 1e6 for v in values])


def test_stations_of_a_table_and_their_flows_have_the_same_colour(groups: lh.Result) -> None:
    figure = groups.plot.series()
    assert names(figure, 0) == ["ap", "up", "down-1..3"]
    assert names(figure, 1) == ["up (2)", "down (3)"]
    of_queues = [to_hex(line.get_color()) for line in figure.axes[0].lines]
    of_windows = [to_hex(line.get_color()) for line in figure.axes[1].lines]
    assert of_windows == [of_queues[1]] * 2 + [of_queues[2]] * 3


def test_uploads_and_downloads_of_a_table_have_different_dashes() -> None:
    both = GROUPS | {"station": {"pair": {"count": 2, "upload": 1, "download": 1}}}
    figure = lh.simulate(both, series="0.2 s", replications=1).plot.series()
    assert names(figure, 1) == ["pair up (2)", "pair down (2)"]
    dashes = {line.get_linestyle() for line in figure.axes[1].lines}
    assert dashes == {"-", "--"}


def test_many_items_are_counted_not_named() -> None:
    stations = {f"s{number}": {"download": 1} for number in range(8)}
    figure = lh.simulate(
        GROUPS | {"station": stations}, series="0.2 s", replications=1
    ).plot.series()
    assert [axes.get_legend() for axes in figure.axes] == [None] * 3
    assert [axes.texts[0].get_text() for axes in figure.axes] == ["9 lines", "8 lines", "8 lines"]


def test_the_name_of_a_single_group_is_above_its_panel() -> None:
    alike = DUMBBELL.partition("[flow.voice]")[0]
    windows = lh.simulate(alike, series="0.2 s").plot.series().axes[1]
    assert windows.get_legend() is None
    assert [text.get_text() for text in windows.texts] == ["flow-1..4"]


def test_colours_are_assigned_per_list_if_there_are_too_many_items() -> None:
    few = colors_of([("queues", "ap"), ("flows", "a"), ("queues", "a")])
    assert few["flows", "a"] == few["queues", "a"] == COLORS[1]
    four = [(kind, f"{kind}{number}") for kind in ("links", "flows") for number in range(4)]
    assert colors_of(four)["flows", "flows0"] == colors_of(four)["links", "links0"] == COLORS[0]
    assert colors_of([("flows", str(number)) for number in range(9)]) == {}


def test_units_are_the_usual_units() -> None:
    assert label_of("rtt_s") == "round trip\n[ms]"
    assert label_of("connections") == "connections\n[-]"


def test_without_series_the_remedy_is_named() -> None:
    with pytest.raises(lh.UserError, match="no series were sampled") as caught:
        lh.simulate(SMALL, replications=1).plot.series()
    assert "series=" in (caught.value.hint or "")


def test_multiples_are_drawn_into_a_given_figure(groups: lh.Result) -> None:
    mine = Figure(figsize=(8.0, 5.0))
    part = mine.subfigures(1, 2)[0]
    assert groups.plot.series(figure=part) is part
    assert len(part.axes) == 3
