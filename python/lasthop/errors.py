"""Errors that a user can correct, and their messages."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

__all__ = [
    "AS_ROOT",
    "ConvergenceError",
    "EngineError",
    "ModelError",
    "Problem",
    "ScenarioError",
    "Stopped",
    "TooCostlyError",
    "UserError",
    "shortcoming",
    "similar_names",
    "where_told",
]


MAX_NAMED = 3
"""Maximum number of names in a message. If only one name would be left out, this name is also
listed.
"""

NEAR = 0.4
"""Smallest similarity between a misspelt name and a proposed name, as measured by `difflib`. [-]"""


AS_ROOT = "run it as root, for example with sudo"
"""Remedy for a process without the rights of root."""


class Problem(NamedTuple):
    """An error in a scenario."""

    source: str
    """Name of the file, or of the object that the scenario came from."""
    line: int | None
    """Line number in the file, starting at 1."""
    path: str
    """Key path, such as ``cell.ap.cwmin``; empty for an error of the whole file."""
    message: str
    """Message with the error and the accepted values."""
    hint: str | None
    """Remedy, such as the most similar valid name."""
    setting: str | None = None
    """Path of the setting that caused the error. Settings are given on the command line or in a
    call. None if a value of the file caused the error.
    """

    def __str__(self) -> str:
        where = self.source if self.line is None else f"{self.source}:{self.line}"
        return (
            f"{where}: `{self.path}`: {self.message}" if self.path else f"{where}: {self.message}"
        )


class UserError(Exception):
    """An error that the user can correct; `hint` is the remedy, if a remedy is known.

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
    """A refusal of a scenario, with all its errors in `problems`."""

    def __init__(self, problems: Iterable[tuple[Any, ...]]) -> None:
        self.problems = [Problem(*problem) for problem in problems]
        super().__init__("scenario refused")
        hints = dict.fromkeys(problem.hint for problem in self.problems if problem.hint)
        for hint in list(hints)[:MAX_NAMED]:
            self.add_note(f"hint: {hint}")

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,)


class ModelError(UserError):
    """A refusal of a scenario by a model; `reasons` lists every broken assumption.

    Parameters
    ----------
    assumption : str
        Assumption that the scenario breaks, by the paper's number if there is one (``"a7"``), or by
        the section of the paper (``"section 3"``).
    message : str
        Part of the scenario that breaks the assumption.
    more : sequence of (str, str)
        Further assumptions and messages.
    model : str, optional
        Name of the model.
    words : mapping of str to str, optional
        Assumptions of the model by number, as the words after "the assumption".
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
        """Return a copy of this error whose message describes the model's assumptions in words."""
        return ModelError(self.assumption, self.message, self.reasons[1:], model=model, words=words)

    @property
    def folded(self) -> list[str]:
        """Sentences about the broken assumptions. Reasons that differ only in names and values
        share one sentence."""
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
    """Create a `ModelError` from its pickled arguments."""
    *reasons, state = args
    return ModelError(*reasons, **state)


def where_told(number: str, model: str) -> str:
    """Return the number of a model's assumption, in parentheses, for the end of a message."""
    return f" ({number} of model {model})" if model and number != "cell" else ""


def likewise(more: Sequence[str]) -> str:
    """Return the end of a message: a list of further keys to which the message also applies."""
    names = [result[0] for result in (re.findall(r"`[^`]*`", what) for what in more) if result]
    if not names:
        return ""
    return f"; the same holds for {listed(names)}"


def listed(names: Sequence[str], most: int = MAX_NAMED) -> str:
    """Return at most `most` names, and the number of omitted names. If only one name would be
    omitted, it is returned, too."""
    if len(names) <= most + 1:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def nearest(asked: str, names: Iterable[str], most: int = MAX_NAMED) -> list[str]:
    """Return the valid names that are most similar to an unknown name; if none is similar, the
    first valid names.
    """
    known = list(names)
    return similar_names(asked, known, most) or known[:most]


def similar_names(
    asked: str, names: Iterable[str], most: int = MAX_NAMED, *, cutoff: float = NEAR
) -> list[str]:
    """Return the valid names that are most similar to an unknown name; empty if none is similar."""
    from difflib import get_close_matches

    return get_close_matches(asked, list(names), n=most, cutoff=cutoff)


class ConvergenceError(UserError):
    """Error of a solver that did not reach its tolerance within its maximum number of steps."""


class TooCostlyError(UserError):
    """Error of a computation that would exceed its limit of time or memory."""


def shortcoming(error: ModelError | ConvergenceError | TooCostlyError) -> str:
    """Return the reason why a model has no result, as a clause whose subject is the scenario."""
    if isinstance(error, ModelError):
        return str(error)
    if isinstance(error, TooCostlyError):
        return f"has not answered: {error}"
    return f"has no solution in the model: {error}"


class Stopped(Exception):
    """Exception of a run that stopped because `progress` returned False before the end.

    Parameters
    ----------
    message : str
        Message about the results that were saved.
    finished : object, optional
        Incomplete `Tuning`, `Sweep` or `ArrayResult` with the finished results; None if nothing was
        finished.
    """

    def __init__(self, message: str, finished: Any = None) -> None:
        super().__init__(message)
        self.finished = finished

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.finished)


class EngineError(RuntimeError):
    """A violated invariant of the engine: a defect of lasthop, not of the scenario."""
