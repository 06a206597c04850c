"""Idle intervals of the channel, and the slots in which a sender counted down its backoff."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lasthop.models.aggregates.durations import expected_response_ns
from lasthop.models.dcf.airtime import aifs_s, eifs_lead_s
from lasthop.plot.frames import Frame
from lasthop.scenario.typed import AggregatingCell, Cell, CellScenario

FAILED = ("collided", "corrupted")
"""Fates of frames that were not received."""

ROUNDING_S = 1e-7
"""Largest difference of two times that count as equal. [s]"""


@dataclass(frozen=True)
class Gap:
    """Interval between two frames in which no station transmits.

    Parameters
    ----------
    start_s, end_s : float
        End of the previous frame, and start of the next frame. [s]
    last : tuple[Frame, ...]
        Frames that ended at the start of the interval.
    """

    start_s: float
    end_s: float
    last: tuple[Frame, ...]


def gaps_of(frames: Sequence[Frame]) -> list[Gap]:
    """Return the idle intervals of the channel, in order. A SIFS within an exchange is also an idle
    interval.
    """
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
    """Return the time by which a station waits longer than AIFS in an idle interval. It is EIFS
    less AIFS if a frame before the interval was not received, or else 0. [s]
    """
    failed = [frame for frame in gap.last if frame.fate in FAILED]
    if not failed:
        return 0.0
    if not isinstance(cell, AggregatingCell) or cell.eifs != "expected":
        return eifs_lead_s(cell)
    return cell.sifs_s + max(expected_response_s(frame) for frame in failed)


def expected_response_s(frame: Frame) -> float:
    """Return the duration of the response that a frame requests, if no station received the frame.
    [s]
    """
    rate_mbps = (frame.rate_bps or 0.0) / 1e6
    return 1e-9 * expected_response_ns(mcs=frame.mcs, rate_mbps=rate_mbps)


def counted_down(
    frame: Frame, gaps: Sequence[Gap], known: CellScenario
) -> Iterator[tuple[float, float]]:
    """Yield the intervals in which the sender counted down its backoff before a frame, the latest
    first.
    """
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
        # In EDCA, the slot in which another station begins to transmit is counted, too.
        others_begin = not is_last and gap.end_s > begin_s - ROUNDING_S
        left -= counted + (cell.countdown == "edca" and others_begin)
        at, is_last = at - 1, False
