"""Families of curves: one colour per label, variants that are hollow and dashed, and a legend that
fits.
"""

import numpy as np
import pytest

from lasthop.studies.panel import Abscissa, Line, Panel, evenly
from lasthop.studies.picture import Picture
from lasthop.studies.study import Quantity


def line(label, x, *values: float, variant: str = "", predicted: bool = True) -> Line:
    """Return a line through these values. Each value is the mean of two replications, which are 0.1
    below and above it.
    """
    quantities = [Quantity(np.array([v - 0.1, v + 0.1]), v if predicted else None) for v in values]
    return Line(label, x, lambda runs: quantities, variant)


def drawn(*panels: Panel, **options):
    """Return the figure of a picture with these panels. The lines are made without runs."""
    return Picture(Abscissa("x", **options), panels).draw({})


def legend(figure) -> list[str]:
    [only] = figure.legends
    return [text.get_text() for text in only.get_texts()]


def test_a_label_has_the_same_colour_in_all_panels_and_variants():
    lines = [
        line("up", [0, 1], 1.0, 2.0),
        line("down", [0, 1], 3.0, 4.0),
        line("up", [0, 1], 2.0, 3.0, variant="AP"),
    ]
    figure = drawn(Panel("a", lines), Panel("b", lines[:1]))
    first, second = figure.axes
    up, down, variant = (line for line in first.lines if line.get_linestyle() in ("-", "--"))
    assert up.get_color() == variant.get_color() == second.lines[0].get_color()
    assert up.get_color() != down.get_color()
    assert (up.get_linestyle(), variant.get_linestyle()) == ("-", "--")
    looks = ["model", "simulation", "model, AP", "simulation, AP", "95 %"]
    assert legend(figure) == ["up", "down", *looks]


def test_points_show_means_and_lines_predictions():
    [axes] = drawn(Panel("y", [line("up", [0, 1], 1.0, 2.0)])).axes
    model, points = axes.lines[:2]
    assert list(model.get_ydata()) == [1.0, 2.0]
    assert list(points.get_ydata()) == pytest.approx([1.0, 2.0])


def test_without_a_prediction_there_is_no_line_and_no_key_for_it():
    lines = [line("loss 5 %", [0, 1], 1.0, 2.0, predicted=False)]
    panel = Panel("y", lines, levels={"model": 2.5}, stated=[(0, 1.0)])
    assert legend(drawn(panel)) == ["loss 5 %", "simulation", "95 %", "model", "paper"]


def test_many_members_have_colours_of_their_own():
    lines = [line(f"AP {k}", [0], float(k)) for k in range(9)]
    figure = drawn(Panel("y", lines), ticks={0.0: "three"})
    points = [container.lines[0] for container in figure.axes[0].containers]
    assert len({line.get_color() for line in points}) == 9
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["three"]


def test_the_legend_stays_inside_the_picture():
    for labels in (["up", "down"], ["a label of many words", "another one of this kind"]):
        lines = [line(label, [0, 1], 1.0, 2.0, variant="RTO from 200 ms") for label in labels]
        figure = drawn(Panel("y", lines, levels={"without either": 1.0}))
        figure.canvas.draw()
        box, page = figure.legends[0].get_window_extent(), figure.bbox
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert page.y0 <= box.y0


def test_a_panel_may_have_an_abscissa_of_its_own():
    def panel(x: list[float], **options: str) -> Panel:
        return Panel("y", [line("up", x, 1.0, 2.0)], **options)

    panels = [panel([10, 200]), panel([10, 150]), panel([0.1, 1.0], x_label="width [s]")]
    first, second, third = drawn(*panels).axes
    assert [axes.get_xlabel() for axes in (first, second, third)] == ["", "x", "width [s]"]
    assert first.get_xlim() == second.get_xlim()
    assert first.get_xlim()[1] > 200
    assert third.get_xlim()[1] < 2


def test_values_of_the_abscissa_are_at_their_positions_with_their_labels():
    abscissa = {"places": evenly((3, 255)), "ticks": (3, 255)}
    panel = Panel("y", [line("up", (3, 255), 1.0, 2.0)], stated=[(255, 1.5)])
    [axes] = drawn(panel, **abscissa).axes
    assert list(axes.lines[0].get_xdata()) == [0.0, 1.0]
    assert list(axes.lines[-1].get_xdata()) == [1.0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["3", "255"]


def test_labels_may_be_side_by_side_on_a_logarithmic_ordinate():
    lines = [line(name, [0, 1], 0.2, 2.0, predicted=False) for name in ("up", "down")]
    [axes] = drawn(Panel("y", lines, log_from=0.05), offset=0.2).axes
    up, down = (container.lines[0] for container in axes.containers)
    assert list(up.get_xdata()) == pytest.approx([-0.1, 0.9])
    assert list(down.get_xdata()) == pytest.approx([0.1, 1.1])
    assert axes.get_yscale() == "log"
    assert axes.get_ylim()[0] == pytest.approx(0.05)
    assert axes.yaxis.get_major_formatter()(0.1) == "0.1"
