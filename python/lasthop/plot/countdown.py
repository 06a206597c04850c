"""When the medium was idle, and in which slots a sender counted down."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lasthop.models.aggregates.durations import expected_response_ns
from lasthop.models.dcf.airtime import aifs_s, eifs_lead_s
from lasthop.plot.frames import Frame
from lasthop.scenario.typed import AggregatingCell, Cell, CellScenario

FAILED = ("collided", "corrupted")
"""Fates of frames that nobody received."""

ROUNDING_S = 1e-7
"""Two instants that lie closer are one. [s]"""


@dataclass(frozen=True)
class Gap:
    """Time in which nobody sends, between exchanges.

    Parameters
    ----------
    start_s, end_s : float
        When the exchange before ends, and the next begins. [s]
    last : tuple[Frame, ...]
        The frames that ended last before it.
    """

    start_s: float
    end_s: float
    last: tuple[Frame, ...]


def gaps_of(frames: Sequence[Frame]) -> list[Gap]:
    """When the medium is idle, in order; SIFS between frames of an exchange are gaps too."""
    gaps: list[Gap] = []
    last: list[Frame] = []
    for frame in frames:
        end_s = last[0].end_s if last else None
        if end_s is not None and frame.start_s > end_s + ROUNDING_S:
            gaps.append(Gap(end_s, frame.start_s, tuple(last)))
        if end_s is None or frame.end_s > end_s + ROUNDING_S:
            last = [frame]
        elif frame.end_s > end_s - ROUNDING_S:
            last.append(frame)
    return gaps


def wait_after(gap: Gap, cell: Cell) -> float:
    """What everybody waits more than AIFS after the frames that ended before a gap. [s]"""
    failed = [frame for frame in gap.last if frame.fate in FAILED]
    if not failed:
        return 0.0
    if not isinstance(cell, AggregatingCell) or cell.eifs != "expected":
        return eifs_lead_s(cell)
    return cell.sifs_s + max(expected_response_s(frame) for frame in failed)


def expected_response_s(frame: Frame) -> float:
    """Length of the response that is expected to a frame that nobody understood. [s]"""
    rate_mbps = (frame.rate_bps or 0.0) / 1e6
    return 1e-9 * expected_response_ns(mcs=frame.mcs, rate_mbps=rate_mbps)


def counted_down(
    frame: Frame, gaps: Sequence[Gap], known: CellScenario
) -> Iterator[tuple[float, float]]:
    """Stretches of time in which the sender of a frame counted down before it, the last first."""
    left = frame.slots or 0
    cell = known.cell
    node = cell.ap if frame.sender == "ap" else known.station[frame.sender]
    wait_s = aifs_s(cell, node.aifsn)
    at = bisect_right(gaps, frame.start_s + ROUNDING_S, key=lambda gap: gap.end_s) - 1
    is_last = True
    while left > 0 and at >= 0:
        gap = gaps[at]
        begin_s = gap.start_s + wait_s + wait_after(gap, cell)
        slots = int((gap.end_s - begin_s + ROUNDING_S) / cell.slot_s) if gap.end_s > begin_s else 0
        counted = min(slots, left)
        if counted:
            yield gap.end_s - counted * cell.slot_s, gap.end_s
        # by EDCA a slot in which another begins to send counts as well
        others_begin = not is_last and gap.end_s > begin_s - ROUNDING_S
        left -= counted + (cell.countdown == "edca" and others_begin)
        at, is_last = at - 1, False
