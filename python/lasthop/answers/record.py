"""Record of a simulation, in addition to its summary: it is pickled, saved and loaded."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import compress
from math import inf
from typing import Any, Protocol

from lasthop.errors import UserError
from lasthop.scenario.origin import origin_of
from lasthop.scenario.scenario import Scenario

__all__ = ["KIND", "Output", "StoredOutput", "SummaryAlone", "record_text", "seal_of"]

KIND = "record"
"""Value of ``kind`` in the text of `record_text`."""


class Output(Protocol):
    """Parts of a result as JSON texts, such as `_core.SimulationOutput`."""

    @property
    def summary_json(self) -> str:
        """The result object of ``--json``."""

    @property
    def samples_json(self) -> str:
        """Every quantity's value in every finished replication."""

    @property
    def halves_json(self) -> str:
        """Goodputs in the two halves of the measured time, by direction, with intervals."""

    @property
    def series_json(self) -> str:
        """Time series of the first replication."""

    @property
    def distributions_json(self) -> str:
        """Distributions of what means hide, over all finished replications."""

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before all replications finished."""

    @property
    def frame_count(self) -> int:
        """Number of recorded frames; an aggregate has as many as MPDUs."""

    @property
    def frames_full(self) -> bool:
        """Whether there was no room for more frames."""

    def frames_json(self, from_s: float = 0.0, to_s: float = inf) -> str:
        """Recorded frames that begin in a stretch of time, as JSON columns."""

    def write_pcapng(self, write: Callable[[bytes], object]) -> None:
        """Call `write` with the bytes of a packet capture of the recorded frames."""


@dataclass(frozen=True)
class StoredOutput:
    """Parts of a result without the engine: texts, and the bytes of a capture."""

    summary_json: str
    samples_json: str
    halves_json: str
    series_json: str
    interrupted: bool
    frame_count: int = 0
    frames_full: bool = False
    capture: bytes | None = None
    """None where nothing was to be captured, or the capture was not saved."""
    frames: str | None = None
    """All frames as JSON columns; None likewise."""
    distributions_json: str = "[]"

    @classmethod
    def of(cls, output: Output, *, has_capture: bool) -> "StoredOutput":
        """Take everything out of an output, and make the bytes of its capture if it has one."""
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
        """Return the parts that `record_text` wrote, without a capture."""
        samples, halves, series = (
            json.dumps(record[part]) for part in ("samples", "halves", "series")
        )
        distributions = json.dumps(record.get("distributions", []))
        interrupted = bool(record["interrupted"])
        return cls(
            summary_json, samples, halves, series, interrupted, distributions_json=distributions
        )

    def frames_json(self, from_s: float = 0.0, to_s: float = inf) -> str:
        """Return the frames that begin in a time interval.

        Raises
        ------
        UserError
            There are none.
        """
        if self.frames is None:
            raise self._no_frames()
        columns: dict[str, list[Any]] = json.loads(self.frames)
        inside = [from_s <= float(start_s) < to_s for start_s in columns["start_s"]]
        remaining = {name: list(compress(column, inside)) for name, column in columns.items()}
        return json.dumps(remaining)

    def write_pcapng(self, write: Callable[[bytes], object]) -> None:
        """Call `write` with the capture.

        Raises
        ------
        UserError
            There is none.
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
    """A summary that was read from a file; anything else is refused."""

    summary_json: str
    origin: str
    """The file."""
    why: str
    """Why there is no more."""

    @property
    def samples_json(self) -> str:
        """There are none."""
        raise self._lacks("samples")

    @property
    def halves_json(self) -> str:
        """There are none."""
        raise self._lacks("halves")

    @property
    def series_json(self) -> str:
        """There are none."""
        raise self._lacks("series")

    @property
    def distributions_json(self) -> str:
        """There are none."""
        raise self._lacks("distributions")

    @property
    def interrupted(self) -> bool:
        """Nobody knows."""
        raise self._lacks("word of whether it was interrupted")

    @property
    def frame_count(self) -> int:
        """There are none."""
        return 0

    @property
    def frames_full(self) -> bool:
        """There are none."""
        return False

    def frames_json(self, from_s: float = 0.0, to_s: float = inf) -> str:
        """There are no frames."""
        raise self._lacks("frames")

    def write_pcapng(self, write: Callable[[bytes], object]) -> None:
        """There are no frames."""
        raise self._lacks("frames")

    def _lacks(self, what: str) -> UserError:
        return lacking(self.origin, what, self.why)


def lacking(origin: str, what: str, why: str) -> UserError:
    """Return the error for an answer from a file that lacks something."""
    return UserError(f"{origin}: has no {what}: {why}")


def record_text(output: Output, scenario: Scenario, summary: Mapping[str, Any]) -> str:
    """Return the text of ``record.json``: all of a result except its summary in ``result.json``.

    It is one JSON object: scenario (text, settings, files), samples, halves, series, distributions
    where there are some, and the fingerprint of the ``result.json`` that it belongs to.
    """
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
    """Fingerprint of a result's JSON."""
    return hashlib.sha256(text.encode()).hexdigest()
