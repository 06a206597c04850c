"""Explanations of the results of studies, each with the runs from which it was read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lasthop.studies.study import BY_MODEL, Run, Study

GUESS = "guess: "
"""Prefix of a finding that states a cause which no run isolates."""

SHOWN = 6
"""Largest number of runs that a text names. If there are more runs, the text gives their number."""


@dataclass(frozen=True)
class Finding:
    """A sentence with numbers, and the runs from which the numbers are read.

    Parameters
    ----------
    text : str
        Sentence of the finding; it begins with "guess: " if no run isolates the cause.
    study : str
        Key of the study.
    points : tuple of str
        Points of the study whose runs are read; empty if only a model was used.
    basis : str
        Text that names the source of the numbers, such as "by the model only". It is shown only if
        `points` is empty.
    """

    text: str
    study: str
    points: tuple[str, ...] = ()
    basis: str = BY_MODEL

    def __str__(self) -> str:
        return self.text if self.text.startswith(GUESS) else f"{self.text} ({self.source})"

    @property
    def source(self) -> str:
        """Text that names the runs of the finding."""
        if not self.points:
            return f"study {self.study}, {self.basis}"
        if len(self.points) > SHOWN:
            return f"study {self.study}, {len(self.points)} runs"
        noun = "run" if len(self.points) == 1 else "runs"
        return f"study {self.study}, {noun} {', '.join(self.points)}"


class _Watched(Mapping[str, Run]):
    """Mapping of runs that records the names of the runs that were read, in order."""

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
    """Return the findings of a study, by the claim that they concern."""
    watched = _Watched(runs)
    texts = study.findings(watched)
    return {
        claim: Finding(text, study.key, tuple(watched.seen), study.basis)
        for claim, text in texts.items()
    }
