"""Table cells with values of the stored run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import beside
import claims

from lasthop.answers.digits import estimate, plain
from lasthop.studies import kept, ledger
from lasthop.studies.rules import Measured, Number


@cache
def _values() -> Mapping[str, Mapping[str, Measured]]:
    values = kept.values_of(claims.load())
    for subject, some in kept.values_of(beside.read()).items():
        values[subject] |= some
    return values


@cache
def _stated() -> Mapping[tuple[str, str], float]:
    return {
        (claim.subject, check.rule.value): check.rule.span[0]
        for claim in ledger.load().claims
        for check in claim.checks
        if isinstance(check.rule, Number)
        and check.rule.span is not None
        and len(set(check.rule.span)) == 1
    }


class Values:
    """Values measured by the studies of one paper."""

    def __init__(self, subject: str) -> None:
        self.subject = subject

    def of(self, name: str) -> Measured:
        """Return the value with this name."""
        return _values()[self.subject][name]

    def simulated(self, name: str, factor: float = 1.0) -> str:
        """Return the simulated mean and half width, multiplied by a factor."""
        value = self.of(name)
        if value.simulated is None:
            return "-"
        half = None if value.ci95 is None else value.ci95 * factor
        return estimate(value.simulated * factor, half)

    def predicted(self, name: str, factor: float = 1.0) -> str:
        """Return the model's value, multiplied by a factor, or a dash if the model refuses the
        case.
        """
        value = self.of(name).predicted
        return "-" if value is None else plain(value * factor)

    def over(self, name: str) -> str:
        """Return the relative difference of the simulated mean from the model's value. [%]"""
        value = self.of(name)
        if value.simulated is None or not value.predicted:
            return "-"
        return f"{100.0 * (value.simulated / value.predicted - 1.0):+.1f} %"

    def stated(self, name: str) -> str:
        """Return the number that the paper states for the value."""
        value = _stated().get((self.subject, name))
        return "-" if value is None else f"{value:g}"


def listed(cells: Iterable[str]) -> str:
    """Return several values as one table cell, separated by commas."""
    return ", ".join(cells)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        assert len(row) == len(head), (head, row)
        yield f"| {' | '.join(row)} |"
