"""Recorded frames, prepared for a timeline."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Frame:
    """A recorded frame, with the values of `Result.frames`."""

    start_s: float
    end_s: float
    sender: str
    kind: str
    fate: str
    discarded: bool
    slots: int | None
    """Number of idle slots that the sender counted down before the frame."""
    rate_bps: float
    mcs: int | None
    """MCS; None if the frame is not modulated by 802.11n, ac or ax."""
    mpdus: int | None
    """Number of MPDUs; None for a control frame."""
    lost: tuple[int, ...]
    """Indices of the lost MPDUs if only some MPDUs were lost."""


class Row(NamedTuple):
    """A recorded frame as a row of the columns."""

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
    """Yield the frames of the columns, in the order of their start times."""
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
    """Return the kind of a frame, a key of `KINDS`."""
    if kind == "data":
        return "ack" if packet == "ack" else "segment"
    return {"ack": "mac-ack", "cts": "rts"}.get(kind, kind)


def lost_in(frame: Frame, thinnest_s: float) -> Iterator[tuple[float, float]]:
    """Yield the time intervals of the lost MPDUs in an aggregate, each wide enough to be
    visible."""
    if not frame.lost or not frame.mpdus:
        return
    each_s = (frame.end_s - frame.start_s) / frame.mpdus
    length_s = min(max(each_s, thinnest_s), frame.end_s - frame.start_s)
    for place in frame.lost:
        start_s = min(frame.start_s + place * each_s, frame.end_s - length_s)
        yield start_s, start_s + length_s
