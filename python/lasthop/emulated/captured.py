"""Result of a capture of frames in an emulation."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Captured:
    """Result of a capture of frames."""

    path: Path
    frames: int
    is_whole: bool
    """Whether all frames were recorded. False if the limit of the number of frames was reached."""
    error: str | None
    """Reason why the file could not be written; None if it was written. After an error, an earlier
    file with the same name is unchanged."""
