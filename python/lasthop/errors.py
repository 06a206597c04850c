"""What can be wrong with what a user gave, and how it is said."""

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["EngineError", "Problem", "ScenarioError", "UserError"]


class Problem(NamedTuple):
    """One thing that is wrong with a scenario."""

    source: str
    """File name, or what stands for it."""
    line: int | None
    """Line in the file, from 1."""
    path: str
    """Key path, ``cell.ap.cwmin``; empty where the whole file is meant."""
    message: str
    """What is wrong and what is allowed."""
    hint: str | None
    """A remedy, such as the nearest valid name."""

    def __str__(self) -> str:
        where = self.source if self.line is None else f"{self.source}:{self.line}"
        return (
            f"{where}: `{self.path}`: {self.message}" if self.path else f"{where}: {self.message}"
        )


class UserError(Exception):
    """Something the user can put right; `hint` says how, where that is known."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class ScenarioError(ValueError):
    """A scenario that was refused, with everything found wrong with it in `problems`."""

    def __init__(self, problems: Iterable[tuple[str, int | None, str, str, str | None]]) -> None:
        self.problems = [Problem(*problem) for problem in problems]
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class EngineError(RuntimeError):
    """A run that broke one of the engine's own laws: a defect of lasthop, not of the scenario."""
