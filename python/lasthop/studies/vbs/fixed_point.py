"""Section IV-D and appendix: fixed points of the model from many starting points."""

from collections.abc import Iterator
from functools import cache

import numpy as np

from lasthop.models.vbs import PAPER, Options
from lasthop.scenario.scenario import Scenario
from lasthop.studies.study import Quantity, Runs, Study, about, theory
from lasthop.studies.vbs import cell

SCATTERED = 4
"""Number of random starting points, in addition to the starting points of the model."""

READINGS = {"the engine's": Options(), "the corrected paper's": PAPER}


def trees() -> Iterator[dict[str, object]]:
    """Yield cells of figure 11 with four attempts per frame and with eight, and a cell with a delay
    of the wire.
    """
    for attempts in (cell.ATTEMPTS, cell.STATED_ATTEMPTS):
        for error in cell.ERRORS:
            yield cell.scenario("fixed point", cell.classes(error), attempts=attempts)
    yield cell.scenario("with a wire", cell.classes(0.3), delay_ms=35)


def shared_trees() -> Iterator[dict[str, object]]:
    """Yield cells with virtual buffer sharing."""
    for algorithm in cell.ALGORITHMS.values():
        yield cell.scenario("shared", cell.classes(0.3), queue=cell.shares(0.526, **algorithm))


def spread(tree: dict[str, object], options: Options) -> tuple[float, int]:
    """Return the largest relative distance between the first fixed point and the fixed points from
    other starting points. Also return the number of starting points.

    The distance is the maximum over goodputs, losses at the queue, and queue length.
    """
    from lasthop.models.cells import cell_scenario
    from lasthop.models.vbs import fixed_point
    from lasthop.models.vbs.picture import picture_of

    picture = picture_of(cell_scenario(Scenario(tree).typed)).cell
    points = [*fixed_point.starts(picture), *fixed_point.scattered(picture, SCATTERED)]
    results = [fixed_point.solve_from(picture, options, point) for point in points]
    first, *others = (
        np.concatenate([each.goodput, each.overflow, [each.occupancy]]) for each in results
    )
    return max(float(np.abs(other / first - 1.0).max()) for other in others), len(points)


@cache
def spreads() -> tuple[tuple[float, int], ...]:
    """Return the result of `spread` for all cells. Cells without buffer sharing are computed with
    the default model and with the corrected model of the paper.
    """
    plain = [spread(tree, options) for options in READINGS.values() for tree in trees()]
    return (*plain, *(spread(tree, Options()) for tree in shared_trees()))


def measure(_: Runs) -> dict[str, Quantity]:
    """Return the largest relative distance between fixed points, over all cells."""
    return {"spread": theory(max(distance for distance, _ in spreads()))}


def finding(_: Runs) -> str:
    """Return a text on the number of cells and starting points."""
    starts = sum(count for _, count in spreads())
    return (
        f"{len(spreads())} systems were solved from {starts} starting points in all. They are "
        f"{' and '.join(READINGS)} reading of figure 11, with {cell.ATTEMPTS} and "
        f"{cell.STATED_ATTEMPTS} attempts and p_w = {cell.ERRORS_STATED}, with 70 ms of wire, and "
        "with shares. This is no proof, since Brouwer's theorem gives only existence"
    )


STUDY = Study(
    key="vbs-fixed_point",
    title="Section IV-D: the fixed point from many starting points",
    measure=measure,
    findings=about("vbs-17", finding),
)
