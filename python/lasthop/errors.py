"""What can be wrong with what a user gave, and how it is said."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

__all__ = [
    "ConvergenceError",
    "EngineError",
    "ModelError",
    "Problem",
    "ScenarioError",
    "Stopped",
    "TooCostlyError",
    "UserError",
    "shortcoming",
    "where_told",
]


MOST_NAMED = 3
"""Names that a line lists, or one more."""

NEAR = 0.4
"""Least likeness of names that are told first of those that there are, as `difflib` has it. [-]"""


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
    setting: str | None = None
    """Path of the setting that brought the value in; None for a value of the file."""

    def __str__(self) -> str:
        where = self.source if self.line is None else f"{self.source}:{self.line}"
        return (
            f"{where}: `{self.path}`: {self.message}" if self.path else f"{where}: {self.message}"
        )


class UserError(Exception):
    """Something the user can put right; `hint` says how, where that is known.

    A traceback shows the hint as a note below the message.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        if hint:
            self.add_note(f"hint: {hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.hint)


class ScenarioError(UserError, ValueError):
    """A scenario that was refused, with everything found wrong with it in `problems`."""

    def __init__(self, problems: Iterable[tuple[Any, ...]]) -> None:
        self.problems = [Problem(*problem) for problem in problems]
        super().__init__("scenario refused")
        hints = dict.fromkeys(problem.hint for problem in self.problems if problem.hint)
        for hint in list(hints)[:MOST_NAMED]:
            self.add_note(f"hint: {hint}")

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,)


class ModelError(UserError):
    """A scenario outside what a model can answer; `reasons` has every assumption it breaks.

    Parameters
    ----------
    assumption : str
        The assumption that the scenario breaks, by the paper's own number where it has one
        (``"a7"``), else by where the paper states it (``"section 3"``).
    message : str
        What in the scenario breaks it.
    more : sequence of (str, str)
        Further assumptions and messages.
    model : str, optional
        Name of the model.
    words : mapping of str to str, optional
        What the model assumes, by number: what follows on "the assumption".
    """

    def __init__(
        self,
        assumption: str,
        message: str,
        more: Sequence[tuple[str, str]] = (),
        *,
        model: str = "",
        words: Mapping[str, str] | None = None,
    ) -> None:
        self.assumption = assumption
        self.message = message
        self.reasons = ((assumption, message), *more)
        self.model, self.words = model, dict(words or {})
        super().__init__("; ".join(self.folded))

    def in_words(self, model: str, words: Mapping[str, str]) -> "ModelError":
        """The same, with what this model assumes in words."""
        return ModelError(self.assumption, self.message, self.reasons[1:], model=model, words=words)

    @property
    def folded(self) -> list[str]:
        """A sentence for each reason; those that differ in names and values alone share one."""
        alike: dict[tuple[str, str], list[str]] = {}
        for which, what in self.reasons:
            alike.setdefault((which, re.sub(r"`[^`]*`( = \S+)?", "", what)), []).append(what)
        return [
            f"breaks {self._assumed(which)}: {what[0]}{likewise(what[1:])}"
            f"{where_told(which, self.model)}"
            for (which, _), what in alike.items()
        ]

    def _assumed(self, which: str) -> str:
        words = self.words.get(which)
        return (
            f"the assumption {words}"
            if words
            else f"assumption {which.removeprefix('assumption ')}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        state = {"model": self.model, "words": self.words}
        return _model_error, (self.assumption, self.message, self.reasons[1:], state)


def _model_error(*args: Any) -> ModelError:
    """A refusal that was pickled."""
    *reasons, state = args
    return ModelError(*reasons, **state)


def where_told(number: str, model: str) -> str:
    """Return the number of an assumption of a model in parentheses; nothing if it has none."""
    return f" ({number} of model {model})" if model and number != "cell" else ""


def likewise(more: Sequence[str]) -> str:
    """What else a sentence is true of: the first key that each of its variants names."""
    names = [found[0] for found in (re.findall(r"`[^`]*`", what) for what in more) if found]
    if not names:
        return ""
    return f"; likewise {listed(names)}"


def listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """The first few names and how many more there are, which is never one."""
    if len(names) <= most + 1:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def nearest(asked: str, names: Iterable[str], most: int = MOST_NAMED) -> list[str]:
    """The names that are most like what was asked for, the first few of all if none is."""
    known = list(names)
    return get_close_matches(asked, known, n=most, cutoff=NEAR) or known[:most]


class ConvergenceError(UserError):
    """A solver met its limit of steps before its tolerance."""


class TooCostlyError(UserError):
    """An answer that would take more time or memory than is allowed; see `lasthop.allowance`."""


def shortcoming(error: ModelError | ConvergenceError | TooCostlyError) -> str:
    """What a scenario does to a model, to follow its name: ``breaks the assumption ...``."""
    if isinstance(error, ModelError):
        return str(error)
    if isinstance(error, TooCostlyError):
        return f"has not answered: {error}"
    return f"has no solution that the model finds: {error}"


class Stopped(Exception):
    """A run that its own `progress` stopped by returning False, before there was an answer.

    Parameters
    ----------
    message : str
        What is kept.
    finished : object, optional
        What was finished by then: a `Tuning`, a `Sweep`; None if nothing was.
    """

    def __init__(self, message: str, finished: Any = None) -> None:
        super().__init__(message)
        self.finished = finished

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.finished)


class EngineError(RuntimeError):
    """A run that broke one of the engine's own laws: a defect of lasthop, not of the scenario."""
