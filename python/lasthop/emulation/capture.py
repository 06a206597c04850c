"""File for Wireshark with the frames of a cell on the air, including the packets that Linux
sent."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lasthop.answers.saving import MAX_FRAMES, in_place_of, naming
from lasthop.emulated.captured import Captured
from lasthop.errors import UserError
from lasthop.scenario.from_json import read_as
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import CellScenario


@dataclass(frozen=True)
class CaptureReport:
    """Report of the engine's network about a capture."""

    frames: int
    full: bool
    """Whether the limit of the number of frames was reached, so that further frames were not
    recorded."""
    error: str | None


@dataclass
class CaptureFile:
    """File to which frames are captured, if a capture is requested."""

    path: Path | None = None
    partial: Path | None = None
    descriptor: int | None = None

    def ended(self, tree: Mapping[str, Any] | None) -> Captured | None:
        """Return the result of a capture; None if no capture was requested. `tree` is the report of
        the network. A failed capture does not replace an earlier file.
        """
        if tree is None or self.path is None or self.partial is None:
            return None
        report = read_as(CaptureReport, tree)
        if report.error is not None and self.partial != self.path:
            self.partial.unlink(missing_ok=True)
        return Captured(self.path, report.frames, not report.full, report.error)


def capturing(scenario: Scenario, name: str) -> dict[str, int]:
    """Return the settings that make the engine's network record the frames of a cell.

    Raises
    ------
    UserError
        If the scenario has no cell.
    """
    if not isinstance(scenario.typed, CellScenario):
        raise UserError(f"{name} has no cell, and therefore no frames to capture")
    return {"record.frames": scenario.typed.record.frames or MAX_FRAMES}


@contextmanager
def capture_file(path: str | os.PathLike[str] | None) -> Iterator[CaptureFile]:
    """Yield a temporary file for frames. When the capture is complete, the temporary file replaces
    the file `path`."""
    if path is None:
        yield CaptureFile()
        return
    place = Path(path)
    with in_place_of(place) as partial:
        with naming(place):
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            yield CaptureFile(place, partial, descriptor)
        finally:
            os.close(descriptor)
