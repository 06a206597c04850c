"""Record of a simulation: all data except its summary, for pickling, saving and loading."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import compress
from math import inf
from typing import Any, Protocol

from lasthop.errors import UserError
from lasthop.scenario.scenario import Scenario

__all__ = ["KIND", "Output", "StoredOutput", "SummaryAlone", "record_text", "seal_of"]

KIND = "record"
"""Value of ``kind`` in the JSON of `record_text`."""


class Output(Protocol):
    """Interface to the results of a simulation as JSON texts; `_core.SimulationOutput` implements
    it.
    """

    @property
    def summary_json(self) -> str:
        """Return the summary as the JSON text of ``--json``."""

    @property
    def samples_json(self) -> str:
        """Return the value of every quantity in every finished replication, as JSON."""

    @property
    def halves_json(self) -> str:
        """Return the goodputs in both halves of the measured time, by direction, with intervals."""

    @property
    def series_json(self) -> str:
        """Return the time series of the first replication, as JSON."""

    @property
    def distributions_json(self) -> str:
        """Return the distributions of quantities over all finished replications, as JSON."""

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before all replications finished."""

    @property
    def frame_count(self) -> int:
        """Number of recorded frames; each MPDU of an aggregate counts as a frame."""

    @property
    def frames_full(self) -> bool:
        """Whether the maximum number of recorded frames was reached."""

    def frames_json(self, from_s: float = 0.0, to_s: float = inf) -> str:
        """Return the recorded frames that begin in a time interval, as JSON columns."""

    def write_pcapng(self, write: Callable[[bytes], object]) -> None:
        """Call `write` with the bytes of a packet capture of the recorded frames."""


@dataclass(frozen=True)
class StoredOutput:
    """Saved results that do not need the engine: JSON texts, and the bytes of a capture."""

    summary_json: str
    samples_json: str
    halves_json: str
    series_json: str
    interrupted: bool
    frame_count: int = 0
    frames_full: bool = False
    capture: bytes | None = None
    """Bytes of the capture; None if no capture was requested, or if it was not saved."""
    frames: str | None = None
    """All frames as JSON columns; None if no capture was requested, or if it was not saved."""
    distributions_json: str = "[]"

    @classmethod
    def of(cls, output: Output, *, has_capture: bool) -> "StoredOutput":
        """Return a copy of an output, including the bytes of its capture if it has one."""
        pieces: list[bytes] = []
        if has_capture:
            output.write_pcapng(pieces.append)
        return cls(
            output.summary_json,
            output.samples_json,
            output.halves_json,
            output.series_json,
            output.interrupted,
            output.frame_count,
            output.frames_full,
            b"".join(pieces) if has_capture else None,
            output.frames_json() if has_capture else None,
            output.distributions_json,
        )

    @classmethod
    def of_record(cls, summary_json: str, record: Mapping[str, Any]) -> "StoredOutput":
        """Return the output from a record that `record_text` wrote. There is no capture."""
        samples, halves, series = (
            json.dumps(record[part]) for part in ("samples", "halves", "series")
        )
        distributions = json.dumps(record.get("distributions", []))
        interrupted = bool(record["interrupted"])
        return cls(
            summary_json, samples, halves, series, interrupted, distributions_json=distributions
        )

    def frames_json(self, from_s: float = 0.0, to_s: float = inf) -> str:
        """Return the recorded frames that begin in a time interval, as JSON columns.

        Raises
        ------
        UserError
            If no frames were saved.
        """
        if self.frames is None:
            raise self._no_frames()
        columns: dict[str, list[Any]] = json.loads(self.frames)
        inside = [from_s <= float(start_s) < to_s for start_s in columns["start_s"]]
        remaining = {name: list(compress(column, inside)) for name, column in columns.items()}
        return json.dumps(remaining)

    def write_pcapng(self, write: Callable[[bytes], object]) -> None:
        """Call `write` with the bytes of the packet capture.

        Raises
        ------
        UserError
            If there is no capture.
        """
        if self.capture is None:
            raise self._no_frames()
        write(self.capture)

    def _no_frames(self) -> UserError:
        return UserError(
            "the frames were not saved with the result",
            "call save_capture of the result that simulate returns",
        )


@dataclass(frozen=True)
class SummaryAlone:
    """Summary that was read from a file. Access to samples, series or frames raises an error."""

    summary_json: str
    origin: str
    """Path of the file with the summary."""
    why: str
    """Reason why samples, series and frames are missing."""

    @property
    def samples_json(self) -> str:
        """Raise an error, because a summary has no samples."""
        raise self._lacks("samples")

    @property
    def halves_json(self) -> str:
        """Raise an error, because a summary has no goodputs of the two halves."""
        raise self._lacks("halves")

    @property
    def series_json(self) -> str:
        """Raise an error, because a summary has no time series."""
        raise self._lacks("series")

    @property
    def distributions_json(self) -> str:
        """Raise an error, because a summary has no distributions."""
        raise self._lacks("distributions")

    @property
    def interrupted(self) -> bool:
        """Raise an error, because a summary does not say whether the run was interrupted."""
        raise self._lacks("word of whether it was interrupted")

    @property
    def frame_count(self) -> int:
        """Number of recorded frames: 0, because a summary has no frames."""
        return 0

    @property
    def frames_full(self) -> bool:
        """Whether the limit of recorded frames was reached: False, as there are no frames."""
        return False

    def frames_json(self, from_s: float = 0.0, to_s: float = inf) -> str:
        """Raise an error, because a summary has no frames."""
        raise self._lacks("frames")

    def write_pcapng(self, write: Callable[[bytes], object]) -> None:
        """Raise an error, because a summary has no frames."""
        raise self._lacks("frames")

    def _lacks(self, what: str) -> UserError:
        return lacking(self.origin, what, self.why)


def lacking(origin: str, what: str, why: str) -> UserError:
    """Return the error for access to data that the file of a result does not contain."""
    return UserError(f"{origin}: has no {what}: {why}")


def record_text(output: Output, scenario: Scenario, summary: Mapping[str, Any]) -> str:
    """Return the text of ``record.json``, which contains all of a result except its summary.

    The text is one JSON object. It contains scenario (text, settings, files), samples, halves and
    series. It also contains distributions if there are any, and the fingerprint of the matching
    ``result.json``.
    """
    from lasthop.scenario.origin import origin_of

    head = {
        "kind": KIND,
        "scenario": summary["scenario"],
        "version": summary["version"],
        "format": summary.get("format", 1),
        "result": seal_of(output.summary_json),
        "interrupted": output.interrupted,
        "origin": origin_of(scenario),
    }
    parts = [json.dumps(head, ensure_ascii=False)[1:-1]]
    parts += [
        f'"samples": {output.samples_json}',
        f'"halves": {output.halves_json}',
        f'"series": {output.series_json}',
    ]
    if (distributions := output.distributions_json) != "[]":
        parts.append(f'"distributions": {distributions}')
    return f"{{{', '.join(parts)}}}\n"


def seal_of(text: str) -> str:
    """Return the fingerprint of the text of ``result.json``."""
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()
