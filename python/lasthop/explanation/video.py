"""The objective ``video`` of `explain`: adaptive video without stalls, and at a high bitrate."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from lasthop.errors import UserError
from lasthop.explanation.objective import Column, Objective, PrintedQuantity
from lasthop.explanation.traffic import flows_of, is_video
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import TcpFlow
from lasthop.simulation.result import Result

__all__ = ["video", "video_verdicts"]

BITRATE_WEIGHT = 0.01
"""Weight of the bitrate in the number of the objective: the difference between the highest bitrate
and 0 counts like a hundredth of the time stalled. [-]
"""

FEW_STALLS = 0.001
"""Largest fraction of time stalled that counts as no stall. [-]"""

HIGH_BITRATE = 0.9
"""Smallest mean bitrate that counts as high, as a fraction of the highest bitrate. [-]"""


@dataclass(frozen=True)
class Watched:
    """Playback of one stream in one replication."""

    stalled: float
    """Fraction of time stalled; 1 if the video never started to play. [-]"""
    bitrate_bps: float
    """Mean bitrate of the chunks that arrived. [bit/s]"""
    highest_bps: float
    """Highest bitrate of the stream. [bit/s]"""
    plays: bool
    """Whether the video started to play."""

    @property
    def missing(self) -> float:
        """Part of the highest bitrate that is missing. [-]"""
        return max(1.0 - self.bitrate_bps / self.highest_bps, 0.0)

    @property
    def is_good(self) -> bool:
        """Whether the video does not stall and its bitrate is high."""
        return self.stalled <= FEW_STALLS and self.missing <= 1.0 - HIGH_BITRATE


def streams_of(scenario: Scenario, target: str | None) -> list[TcpFlow]:
    """Return the streams of adaptive video of the target, or of all without a target."""
    flows = flows_of(scenario, target)
    return [flow for flow in flows if isinstance(flow, TcpFlow) and is_video(flow)]


def watched(result: Result, flow: TcpFlow) -> list[Watched | None]:
    """Return how a stream played in each replication; None if it has no measured time, or if no
    chunk arrived while it played from its buffer.
    """
    stream = flow.stream
    if stream is None:
        return [None] * result.replications

    def sampled(quantity: str) -> Sequence[float | None]:
        return result.sampled("flows", flow.name, quantity) or [None] * result.replications

    each = zip(
        sampled("stalled_fraction"), sampled("video_bitrate_bps"), sampled("startup_s"), strict=True
    )
    return [
        None
        if stalled is None or bitrate_bps is None
        else Watched(stalled, bitrate_bps, stream.bitrates_bps[-1], startup_s is not None)
        for stalled, bitrate_bps, startup_s in each
    ]


def video(scenario: Scenario, target: str | None) -> Objective:
    """Return the objective ``video``: no stalls, then a high bitrate.

    Raises
    ------
    UserError
        If the scenario, or the target, has no adaptive video, or if all of it stops in the warm-up.
    """
    streams = streams_of(scenario, target)
    if not streams:
        raise UserError(
            'objective="video": there is no adaptive video; expected a station with `stream`',
            "write `stream = 1` in a station's table, or choose another objective",
        )
    warmup_s = scenario.typed.warmup_s
    if all(flow.stop_s is not None and flow.stop_s <= warmup_s for flow in streams):
        raise UserError(
            f'objective="video": {streams[0].name} stops before the warm-up ends at '
            f"{warmup_s:g} s; expected a video that is measured",
            "set a later `stop`, a shorter `warmup`, or choose another objective",
        )

    def rows(result: Result) -> list[list[Watched]]:
        """Return the streams that were watched in each replication."""
        each = [watched(result, flow) for flow in streams_of(result.scenario, target)]
        return [[own for own in row if own is not None] for row in zip(*each, strict=True)]

    def stalled(result: Result) -> Column:
        return [max((own.stalled for own in row), default=0.0) for row in rows(result)]

    def bitrate_bps(result: Result) -> Column:
        return [min((own.bitrate_bps for own in row), default=0.0) for row in rows(result)]

    def values(result: Result) -> Column:
        missing = [max((own.missing for own in row), default=0.0) for row in rows(result)]
        return [
            share + BITRATE_WEIGHT * part
            for share, part in zip(stalled(result), missing, strict=True)
        ]

    lowest = "lowest bitrate" if len(streams) > 1 else "bitrate"
    return Objective(
        "video",
        target,
        -1,
        values,
        (
            PrintedQuantity("stalled", "% of the time", 1e2, stalled, is_noticed=True),
            PrintedQuantity(lowest, "Mb/s", 1e-6, bitrate_bps, direction=1, is_noticed=True),
        ),
        lambda result: all(own.is_good for row in rows(result) for own in row),
        f"in every run, each video stalls for at most {100 * FEW_STALLS:g} % of the time, and has "
        f"at least {100 * HIGH_BITRATE:g} % of its highest bitrate",
    )


def video_verdicts(result: Result, target: str | None = None) -> list[str]:
    """Return a line with a verdict for each stream of adaptive video: ``good``, ``low bitrate``,
    ``stalls`` or ``never plays``.
    """
    lines = []
    for flow in streams_of(result.scenario, target):
        runs = [own for own in watched(result, flow) if own is not None]
        if not runs:
            lines.append(f"{flow.name}: not measured: no chunk arrived after the warm-up")
            continue
        never = sum(not own.plays for own in runs)
        bitrate = f"{fmean(own.bitrate_bps for own in runs) / 1e6:.3g} Mb/s"
        highest = f"of {runs[0].highest_bps / 1e6:g} Mb/s"
        if never:
            verdict = f"never plays: it does not start in {never} of {len(runs)} runs"
        elif (stalled := fmean(own.stalled for own in runs)) > FEW_STALLS:
            verdict = (
                f"stalls: for {100 * stalled:.2g} % of the time, with a bitrate of {bitrate} "
                f"{highest}"
            )
        elif all(own.is_good for own in runs):
            verdict = f"good: no stalls, and a bitrate of {bitrate} {highest}"
        else:
            verdict = f"low bitrate: {bitrate} {highest}, without stalls"
        lines.append(f"{flow.name}: {verdict}")
    return lines
