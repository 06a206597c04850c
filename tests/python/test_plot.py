import pytest

import lasthop as lh
from lasthop.plot.figure import COLUMN_INCHES

from .conftest import SMALL


def labels(figure: object) -> list[str]:
    axes = figure.axes  # type: ignore[attr-defined]
    return [text for ax in axes for text in (ax.get_xlabel(), ax.get_ylabel()) if text]


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


def test_one_replication_is_drawn_without_intervals() -> None:
    figure = lh.compare(SMALL, replications=1).figure()
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_thousand_stations_have_few_names() -> None:
    many = SMALL.replace("[station.near]", "[station.near]\ncount = 300").replace("4 s", "0.5 s")
    many = many.replace('warmup = "1 s"', 'warmup = "0 s"')
    figure = lh.simulate(many, replications=1).plot.goodput()
    assert len(figure.axes[0].get_yticks()) <= 16


def test_series_not_recorded_is_refused_with_those_that_are(small_result: lh.Result) -> None:
    with pytest.raises(lh.UserError, match="no series of mood") as caught:
        small_result.plot.series("mood")
    assert "occupancy_packets" in (caught.value.hint or "")
