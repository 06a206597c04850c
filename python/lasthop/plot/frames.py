"""Recorded frames in the form that the picture of frames needs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Frame:
    """A recorded frame. The fields are derived from the columns of `Result.frames`."""

    start_s: float
    end_s: float
    sender: str
    kind: str
    fate: str
    discarded: bool
    slots: int | None
    """Number of backoff slots that the sender counted down; None without contention."""
    rate_bps: float
    mcs: int | None
    """MCS; None for a modulation before 802.11n."""
    mpdus: int | None
    """Number of MPDUs in the PPDU; None for a control frame."""
    lost: tuple[int, ...]
    """Indices of the lost MPDUs in a PPDU of which some MPDUs were received."""


class Row(NamedTuple):
    """One row of the columns of `Result.frames`."""

    start_s: float
    duration_s: float
    sender: str
    kind: str
    packet: str | None
    fate: str
    discarded: bool
    backoff_slots: int | None
    rate_bps: float
    mcs: int | None
    mpdus: int | None
    sequence: Sequence[int] | None
    lost: Sequence[int] | None


def rows(columns: Mapping[str, Sequence[Any]]) -> Iterator[Frame]:
    """Convert the columns of `Result.frames` to frames, and yield them in the order of their
    start.
    """
    every = [Row(*values) for values in zip(*map(columns.__getitem__, Row._fields), strict=True)]
    for row in sorted(every, key=lambda row: row.start_s):
        lost = set(row.lost or ()) if row.fate == "delivered" else set()
        yield Frame(
            start_s=row.start_s,
            end_s=row.start_s + row.duration_s,
            sender=row.sender,
            kind=kind_of(row.kind, row.packet),
            fate=row.fate,
            discarded=row.discarded,
            slots=row.backoff_slots,
            rate_bps=row.rate_bps,
            mcs=row.mcs,
            mpdus=row.mpdus,
            lost=tuple(place for place, number in enumerate(row.sequence or ()) if number in lost),
        )


def kind_of(kind: str, packet: str | None) -> str:
    """Return the kind of a frame, which is a key of `KINDS` in the module `air`."""
    if kind == "data":
        return "ack" if packet == "ack" else "segment"
    return {"ack": "mac-ack", "cts": "rts"}.get(kind, kind)


def lost_in(frame: Frame, thinnest_s: float) -> Iterator[tuple[float, float]]:
    """Yield the intervals of the lost MPDUs in an aggregate, each at least `thinnest_s` long."""
    if not frame.lost or not frame.mpdus:
        return
    each_s = (frame.end_s - frame.start_s) / frame.mpdus
    length_s = min(max(each_s, thinnest_s), frame.end_s - frame.start_s)
    for place in frame.lost:
        start_s = min(frame.start_s + place * each_s, frame.end_s - length_s)
        yield start_s, start_s + length_s
