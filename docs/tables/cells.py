"""Values of the kept run as cells of tables have them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import beside
import claims

from lasthop.digits import estimate, plain
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
    """What studies of one paper measured.

    Parameters
    ----------
    subject : str
        The paper.
    """

    def __init__(self, subject: str) -> None:
        self.subject = subject

    def of(self, name: str) -> Measured:
        """A value."""
        return _values()[self.subject][name]

    def simulated(self, name: str, factor: float = 1.0) -> str:
        """Mean and half width, times a factor."""
        found = self.of(name)
        if found.simulated is None:
            return "-"
        half = None if found.ci95 is None else found.ci95 * factor
        return estimate(found.simulated * factor, half)

    def predicted(self, name: str, factor: float = 1.0) -> str:
        """What the model says, times a factor; a dash where it refuses."""
        found = self.of(name).predicted
        return "-" if found is None else plain(found * factor)

    def over(self, name: str) -> str:
        """By how much the simulated mean is over what the model says. [%]"""
        found = self.of(name)
        if found.simulated is None or not found.predicted:
            return "-"
        return f"{100.0 * (found.simulated / found.predicted - 1.0):+.1f} %"

    def stated(self, name: str) -> str:
        """The paper's number, as the rule on the value has it."""
        found = _stated().get((self.subject, name))
        return "-" if found is None else f"{found:g}"


def listed(cells: Iterable[str]) -> str:
    """Cells in a row as one."""
    return ", ".join(cells)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Lines of a table."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        assert len(row) == len(head), (head, row)
        yield f"| {' | '.join(row)} |"
