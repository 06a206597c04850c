"""Pictures of stability analyses: branches of cycles begin at their Hopf points."""

import numpy as np
import pytest
from matplotlib.lines import Line2D

from lasthop.plot.figure import MODEL
from lasthop.plot.stability import branch_figure, draw_branch, hopf_figure, near_hopf
from lasthop.stability import Branch, Case, branch, hopf_points
from lasthop.stability.axis import axis_of
from lasthop.stability.hopf import scan


@pytest.fixture(scope="module")
def traced() -> Branch:
    [point] = hopf_points(Case.of("threshold"), "q_th", 30.0, 60.0)
    return branch(point, 30.0, 60.0, cycles=3)


def along(lines: list[Line2D]) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions and heights of the lines that show limit cycles."""
    drawn = [line for line in lines if line.get_color() == MODEL and line.get_marker() == "None"]
    return (
        np.concatenate([line.get_xdata() for line in drawn]),
        np.concatenate([line.get_ydata() for line in drawn]),
    )


def test_amplitudes_grow_from_the_hopf_point_as_a_square_root(traced: Branch) -> None:
    swing, period = branch_figure([traced]).axes
    point = traced.form.point
    x, height = along(list(swing.lines))
    assert (x[0], height[0]) == (pytest.approx(point.value), 0.0)
    first = x < traced.values[0]
    part = (x[first] - point.value) / (traced.values[0] - point.value)
    assert len(part) > 50
    assert (height[first] / traced.cycles[0].amplitude) ** 2 == pytest.approx(part, abs=1e-9)
    x, height = along(list(period.lines))
    assert (x[0], height[0]) == (pytest.approx(point.value), pytest.approx(point.period))
    grown = (height[first] - point.period) / (traced.cycles[0].period - point.period)
    assert grown == pytest.approx(part, abs=1e-9)


def test_the_square_root_is_that_of_the_normal_form_where_the_first_cycle_is_small(
    traced: Branch,
) -> None:
    theory = traced.form.amplitude(float(traced.values[0]))
    # At this amplitude of 1.7 packets, the term that the normal form neglects is 2 %.
    assert traced.cycles[0].amplitude == pytest.approx(theory, rel=0.03)


def test_hopf_points_are_marked_and_labelled(traced: Branch) -> None:
    figure = branch_figure([traced], "a case", "q=3")
    marks = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert [float(line.get_xdata()[0]) for line in marks] == [traced.form.point.value]
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "stable cycle",
        "normal form",
        "Hopf point",
    ]
    assert figure.get_suptitle().strip() == "a case"


def test_a_branch_without_a_hopf_point_begins_at_its_first_cycle(traced: Branch) -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    draw_branch(axes, traced, [cycle.amplitude for cycle in traced.cycles])
    assert min(line.get_xdata()[0] for line in axes.lines) == traced.values[0]


def test_places_are_close_together_at_the_hopf_point() -> None:
    places = near_hopf(10.0, [9.0, 6.0, 7.0])
    assert (places[0], places[-1]) == (10.0, 6.0)
    steps = np.abs(np.diff(places))
    assert np.all(np.diff(steps) > 0.0)


def test_a_hopf_point_is_marked_where_the_growth_rate_is_zero() -> None:
    result = scan(Case.of("threshold"), axis_of(Case.of("threshold"), "q_th", 30.0, 60.0))
    [axes] = hopf_figure(result, "a case").axes
    [point] = result.edges
    [mark] = [line for line in axes.lines if line.get_marker() == "o"]
    assert list(mark.get_xdata()) == [point.value]
    [text] = [text.get_text() for text in axes.texts]
    assert text.startswith(f"{point.value:.4g}, period ")
    shaded = axes.collections[0].get_paths()[0].get_extents()
    assert shaded.x0 == pytest.approx(30.0)
    assert shaded.x1 == pytest.approx(point.value), "stable below the point"
