"""Findings of studies in addition to the values of claims, each with the runs that show it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lasthop.studies.study import BY_MODEL, Run, Study

GUESS = "guess: "
"""How a cause begins that no run isolates."""

SHOWN = 6
"""Largest number of runs that are named; if there are more, their number is printed."""


@dataclass(frozen=True)
class Finding:
    """A sentence with figures, and the runs that they are read from.

    Parameters
    ----------
    text : str
        The sentence; it begins with "guess: " where no run isolates what it says.
    study : str
        Key of the study that found it.
    points : tuple of str
        Points of the study whose runs it reads; none if only a model was used.
    basis : str
        Basis of the finding if there are no points.
    """

    text: str
    study: str
    points: tuple[str, ...] = ()
    basis: str = BY_MODEL

    def __str__(self) -> str:
        return self.text if self.text.startswith(GUESS) else f"{self.text} ({self.source})"

    @property
    def source(self) -> str:
        """The runs, in words."""
        if not self.points:
            return f"study {self.study}, {self.basis}"
        if len(self.points) > SHOWN:
            return f"study {self.study}, {len(self.points)} runs"
        noun = "run" if len(self.points) == 1 else "runs"
        return f"study {self.study}, {noun} {', '.join(self.points)}"


class _Watched(Mapping[str, Run]):
    """Runs that remember which of them were looked at, in order."""

    def __init__(self, runs: Mapping[str, Run]) -> None:
        self._runs = runs
        self.seen: dict[str, None] = {}

    def __getitem__(self, point: str) -> Run:
        self.seen[point] = None
        return self._runs[point]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)


def of(study: Study, runs: Mapping[str, Run]) -> dict[str, Finding]:
    """Return what a study found, by the claim that it bears on."""
    watched = _Watched(runs)
    texts = study.findings(watched)
    return {
        claim: Finding(text, study.key, tuple(watched.seen), study.basis)
        for claim, text in texts.items()
    }
