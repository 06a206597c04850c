"""Families of curves: one colour a label, what differs hollow and dashed, a legend that fits."""

import numpy as np
import pytest

from lasthop.plot.family import FamilyPanel, Member, family_figure
from lasthop.studies.study import Quantity


def curve(*values: float, predicted: bool = True) -> list[Quantity]:
    """Return quantities of two replications around each value."""
    return [Quantity(np.array([v - 0.1, v + 0.1]), v if predicted else None) for v in values]


def legend(figure) -> list[str]:
    [only] = figure.legends
    return [text.get_text() for text in only.get_texts()]


def test_a_label_has_one_colour_in_all_panels_and_variants():
    members = [
        Member("up", [0, 1], curve(1.0, 2.0)),
        Member("down", [0, 1], curve(3.0, 4.0)),
        Member("up", [0, 1], curve(2.0, 3.0), "AP"),
    ]
    figure = family_figure("x", [FamilyPanel("a", members), FamilyPanel("b", members[:1])])
    first, second = figure.axes
    up, down, variant = (line for line in first.lines if line.get_linestyle() in ("-", "--"))
    assert up.get_color() == variant.get_color() == second.lines[0].get_color()
    assert up.get_color() != down.get_color()
    assert (up.get_linestyle(), variant.get_linestyle()) == ("-", "--")
    assert legend(figure) == ["up", "down", "model", "simulation", "model, AP", "simulation, AP"]


def test_points_show_means_and_lines_predictions():
    figure = family_figure("x", [FamilyPanel("y", [Member("up", [0, 1], curve(1.0, 2.0))])])
    [axes] = figure.axes
    line, points = axes.lines[:2]
    assert list(line.get_ydata()) == [1.0, 2.0]
    assert list(points.get_ydata()) == pytest.approx([1.0, 2.0])


def test_without_a_prediction_there_is_no_line_and_no_key_for_it():
    member = Member("loss 5 %", [0, 1], curve(1.0, 2.0, predicted=False))
    panel = FamilyPanel("y", [member], levels={"model": 2.5}, stated=[(0, 1.0)])
    assert legend(family_figure("x", [panel])) == ["loss 5 %", "simulation", "model", "paper"]


def test_many_members_have_colours_of_their_own():
    members = [Member(f"AP {k}", [0], curve(float(k))) for k in range(9)]
    figure = family_figure("x", [FamilyPanel("y", members)], ticks={0.0: "three"})
    points = [container.lines[0] for container in figure.axes[0].containers]
    assert len({line.get_color() for line in points}) == 9
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["three"]


def test_the_legend_stays_inside_the_picture():
    for labels in (["up", "down"], ["a label of many words", "another one of this kind"]):
        members = [Member(label, [0, 1], curve(1.0, 2.0), "RTO from 200 ms") for label in labels]
        figure = family_figure("x", [FamilyPanel("y", members, levels={"without either": 1.0})])
        figure.canvas.draw()
        box, page = figure.legends[0].get_window_extent(), figure.bbox
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert page.y0 <= box.y0


def test_a_panel_may_have_an_abscissa_of_its_own():
    def panel(x: list[float], **options: str) -> FamilyPanel:
        return FamilyPanel("y", [Member("up", x, curve(1.0, 2.0))], **options)

    panels = [panel([10, 200]), panel([10, 150]), panel([0.1, 1.0], x_label="width [s]")]
    first, second, third = family_figure("RTT [ms]", panels).axes
    assert [axes.get_xlabel() for axes in (first, second, third)] == ["", "RTT [ms]", "width [s]"]
    assert first.get_xlim() == second.get_xlim()
    assert first.get_xlim()[1] > 200
    assert third.get_xlim()[1] < 2
