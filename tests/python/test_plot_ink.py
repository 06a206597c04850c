"""Pictures without a background are legible on light and on dark pages. Saving does not change the
figure.
"""

import io
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

import lasthop as lh
from lasthop.plot.figure import EMULATION, MEASUREMENT, MODEL, SIMULATION
from lasthop.plot.ink import INK, legible_anywhere

from .test_plot_answers import GROUPS

DARK_PAGE = (0.07, 0.08, 0.09)


def luminance(color: object) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return float(np.dot((0.2126, 0.7152, 0.0722), parts))


def contrast(first: object, other: object) -> float:
    low, high = sorted((luminance(first), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def texts(figure: Figure) -> list[Text]:
    return [each for each in figure.findobj(Text) if each.get_text() and each.get_visible()]


@pytest.fixture(scope="module")
def comparison() -> lh.Comparison:
    return lh.compare(GROUPS)


@pytest.mark.parametrize("color", [INK, SIMULATION, MODEL, EMULATION, MEASUREMENT])
def test_every_ink_stands_out_from_dark_and_from_white_as_far_as_its_use_asks(
    color: object,
) -> None:
    least = 2.0 if color == SIMULATION else 3.6  # bars may be paler than letters
    assert contrast(color, "white") > least
    assert contrast(color, DARK_PAGE) > 3.6


def test_all_text_is_legible_on_dark_and_white_pages(comparison: lh.Comparison) -> None:
    figure = comparison.plot()
    black = [text.get_text() for text in texts(figure) if luminance(text.get_color()) < 0.01]
    assert len(black) > 20
    with legible_anywhere(figure):
        for text in texts(figure):
            assert contrast(text.get_color(), "white") > 3.6, text.get_text()
            assert contrast(text.get_color(), DARK_PAGE) > 3.6, text.get_text()
        for line in figure.findobj(Line2D):
            if line.get_alpha() is None and line.get_linestyle() not in ("", "None"):
                assert contrast(line.get_color(), DARK_PAGE) > 2.0


def test_a_figure_is_restored_afterwards(comparison: lh.Comparison) -> None:
    figure = comparison.plot()

    def look() -> list[object]:
        return [
            *(text.get_color() for text in figure.findobj(Text)),
            *((line.get_color(), line.get_alpha()) for line in figure.findobj(Line2D)),
            *(patch.get_facecolor() for patch in figure.findobj(Patch)),
            *(patch.get_edgecolor() for patch in figure.findobj(Patch)),
        ]

    figure.draw_without_rendering()
    before = look()
    figure.savefig(io.BytesIO(), format="png", transparent=True)
    assert look() == before
    with pytest.raises(ZeroDivisionError), legible_anywhere(figure):
        _ = 1 / 0
    assert look() == before


def test_white_means_nothing_without_a_page() -> None:
    figure = Figure()
    known = [Patch(color="#D5ECE3"), Patch(facecolor="white", edgecolor="#999999")]
    stable, unstable = figure.legend(known, ["stable", "unstable"]).legend_handles
    with legible_anywhere(figure):
        assert unstable.get_facecolor()[3] == 0.0
        assert stable.get_facecolor()[3] == 1.0
    assert unstable.get_facecolor() == (1.0, 1.0, 1.0, 1.0)


def test_a_picture_with_a_background_stays_black(comparison: lh.Comparison, tmp_path: Path) -> None:
    figure = comparison.plot()
    figure.savefig(tmp_path / "a.svg")
    figure.savefig(tmp_path / "b.svg", transparent=True)
    opaque, clear = ((tmp_path / name).read_text() for name in ("a.svg", "b.svg"))
    assert "#7a7a7a" in clear
    assert "#7a7a7a" not in opaque


@pytest.mark.smoke(1)
@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_the_same_picture_is_the_same_file_and_names_lasthop(
    comparison: lh.Comparison, tmp_path: Path, kind: str
) -> None:
    from lasthop.answers.overwrite import is_ours

    for name in ("a", "b"):
        comparison.plot().savefig(tmp_path / f"{name}.{kind}")
    assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    assert is_ours(tmp_path / f"a.{kind}")
    (tmp_path / f"c.{kind}").write_bytes(b"somebody else's")
    assert not is_ours(tmp_path / f"c.{kind}")
