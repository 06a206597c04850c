"""Groups of candidates: families, equal settings, and candidates for TXOP limits."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from math import isclose
from typing import Any, TypeVar

from lasthop.tuning.candidates import Candidate
from lasthop.tuning.measures import Values
from lasthop.tuning.trial import LeftOut, Trial

T = TypeVar("T")

BURST_BASES = 3
"""Number of candidates per access method (backoff or PIFS) for which TXOP limits are tried."""

ALIKE = 3e-3
"""Relative difference up to which the values of two short simulations are considered equal. [-]"""


def grouped(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Return one list of trials per family, each list in the given order. The present setting is
    left out.
    """
    families = grouped_by(trials, lambda trial: trial.candidate and trial.candidate.family)
    return [family for key, family in families.items() if key is not None]


def grouped_by(things: Iterable[T], key: Callable[[T], Any]) -> dict[Any, list[T]]:
    """Return the items grouped by the value of `key`, each group in the given order."""
    groups: dict[Any, list[T]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups


def alike(ours: Values, theirs: Values) -> bool:
    """Return whether all measured values of two settings are equal within `ALIKE`."""
    return ours.keys() == theirs.keys() and all(
        isclose(value, theirs[name], rel_tol=ALIKE) for name, value in ours.items()
    )


def bases(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the first `BURST_BASES` candidates of each access method, for which TXOP limits are
    tried.
    """
    ways = grouped_by(candidates, lambda candidate: candidate.access)
    return list(chain.from_iterable(ways[way][:BURST_BASES] for way in sorted(ways)))


def refusals(refused: Sequence[tuple[Candidate, str]]) -> list[LeftOut]:
    """Return the candidates whose scenario is invalid, as one `LeftOut` per family. The reason in a
    `LeftOut` is the reason of the family's first candidate.
    """
    return [
        LeftOut(some(candidate.name for candidate, _ in family), family[0][1])
        for family in grouped_by(refused, lambda each: each[0].family).values()
    ]


def some(names: Iterable[str]) -> str:
    """Return a short text with the first name and the number of further names."""
    first, *rest = names
    return f"{first} and {len(rest)} more" if rest else first
