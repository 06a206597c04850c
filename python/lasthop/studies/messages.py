"""Messages of the papers: whether the runs show them, and how close the numbers are.

The rows of the table are computed from the output of `lasthop reproduce --json`. Therefore the
command, its report and the documentation show the same table.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lasthop.scenario.from_json import Table, read_as
from lasthop.studies.rules import Judge, Number, Rules, Shape, Values, Verdict, worst

Tree = Mapping[str, Any]


class CheckRow(Table):
    """Values of a check that the table of messages uses."""

    what: str
    series: str
    inequality: bool
    value: str | None
    paper: Any
    off: float | None
    verdict: str
    verdict_with_margin: str

    @property
    def holds(self) -> bool:
        """Whether the check holds. A violation of the paper's bounds by at most 5 % is accepted."""
        return self.verdict_with_margin == REPRODUCED


class DifferenceRow(Table):
    """Cause of a difference from the paper, and the checks with this cause."""

    checks: tuple[str, ...]
    because: str


class ClaimRow(Table):
    """Values of a claim that the table of messages uses."""

    id: str
    checks: tuple[CheckRow, ...]
    differences: tuple[DifferenceRow, ...]

    @staticmethod
    def all_of(claims: Iterable[Tree]) -> "list[ClaimRow]":
        """Return the claims in the output of ``reproduce --json``."""
        return [read_as(ClaimRow, claim) for claim in claims]

    def cause(self, check: CheckRow) -> str:
        """Return the cause for which a check is not reproduced, or `UNKNOWN` if the ledger has no
        cause.
        """
        causes = (
            each.because
            for each in self.differences
            if check.what in each.checks or check.series in each.checks
        )
        return next(causes, UNKNOWN)


class MessageRow(Table):
    """Values of a message that the table of messages uses."""

    subject: str
    text: str
    condition: str
    claims: tuple[str, ...]
    verdict: str


UNKNOWN = "not classified"

REPRODUCED = Verdict.REPRODUCED.value

BANDS = (0.05, 0.15, 0.25)
"""Largest relative distances between a result and the paper's number. The table counts the results
within each distance. [-]
"""


@dataclass(frozen=True)
class Message:
    """A message of a paper.

    Parameters
    ----------
    subject : str
        Subject of the paper.
    text, condition : str
        Message, and the condition under which runs show it (or an empty text).
    claims : tuple of str
        Claims that support the message.
    holds : tuple of Shape
        Conditions on values that the studies of the subject measure.
    agrees : tuple of str
        Values that must agree with the model within the band that the rules define for "about".
    by_model : bool
        Whether the message is about the model. If so, the predictions of the model are judged.
    """

    subject: str
    text: str
    condition: str
    claims: tuple[str, ...]
    holds: tuple[Shape, ...]
    agrees: tuple[str, ...] = ()
    by_model: bool = False

    def studies(self) -> set[str]:
        """Return the names of the studies that measure the values of this message."""
        read = {key for shape in self.holds for key in shape.reads()} | set(self.agrees)
        return {key.split(".")[0] for key in read}

    def to_json(self, values: Values, rules: Rules, *, quick: bool = False) -> dict[str, Any]:
        """Return the message, and whether it holds, in the form in which ``reproduce --json``
        prints it.
        """
        judge = Judge(values, model=self.by_model, quick=quick, rules=rules)
        every: list[Shape | Number] = [*self.holds]
        every += [Number(value, None, about=True) for value in self.agrees]
        judged = [rule.judge(judge) for rule in every]
        verdict = worst(each.verdict for each in judged)
        return {
            "subject": self.subject,
            "text": self.text,
            "condition": self.condition,
            "claims": list(self.claims),
            "rule": [*(shape.text for shape in self.holds), *self.agrees],
            "verdict": verdict.value,
            "detail": next(each.detail for each in judged if each.verdict is verdict),
        }


@dataclass(frozen=True)
class Count:
    """Number of items that agree, out of a total."""

    count: int
    total: int

    def __str__(self) -> str:
        return f"{self.count} of {self.total}" if self.total else "-"

    @property
    def percent(self) -> str:
        """Fraction as a percentage. [%]"""
        return f"{100 * self.count / self.total:.0f} %" if self.total else "-"


@dataclass(frozen=True)
class Closeness:
    """Agreement of claims with their paper.

    Attributes
    ----------
    orders : Count
        Number of orders and shapes that hold. Violations of the paper's bounds by at most 5 % are
        accepted.
    orders_exact : Count
        Number of orders and shapes that hold exactly: no violation of a bound is accepted.
    numbers : tuple of Count
        Number of the paper's numbers that are reproduced within each of `BANDS`.
    causes : Counter
        Number of checks that are not reproduced, by cause.
    """

    orders: Count
    orders_exact: Count
    numbers: tuple[Count, ...]
    causes: Counter[str]


def closeness(claims: Iterable[Tree]) -> Closeness:
    """Return the agreement of claims with their paper. A number that several claims share is
    counted once.
    """
    every = [(claim, check) for claim in ClaimRow.all_of(claims) for check in claim.checks]
    orders = [check for _, check in every if check.inequality]
    offs = {
        (claim.id.rpartition("-")[0], check.value, str(check.paper)): abs(check.off)
        for claim, check in every
        if check.off is not None
    }
    causes = Counter(claim.cause(check) for claim, check in every if not check.holds)
    exact = sum(check.verdict == REPRODUCED for check in orders)
    return Closeness(
        Count(sum(check.holds for check in orders), len(orders)),
        Count(exact, len(orders)),
        tuple(Count(sum(off <= band for off in offs.values()), len(offs)) for band in BANDS),
        causes,
    )


def closeness_of(message: MessageRow, claims: Sequence[Tree]) -> Closeness:
    """Return the agreement of the claims that support a message."""
    rows = zip(claims, ClaimRow.all_of(claims), strict=True)
    return closeness(claim for claim, row in rows if row.id in message.claims)


HEADER = (
    "paper",
    "message",
    "holds",
    "orders and shapes",
    *(f"numbers within {100 * band:.0f} %" for band in BANDS),
    "claims not reproduced, by cause",
)


def rows(messages: Sequence[Tree], claims: Sequence[Tree]) -> list[tuple[str, ...]]:
    """Return the rows of the table of messages, with the columns of `HEADER`."""
    results = []
    for tree in messages:
        message = read_as(MessageRow, tree)
        count = closeness_of(message, claims)
        numbers = [str(each) for each in count.numbers]
        cells = (message.subject, message.text, holds_text(message), str(count.orders))
        results.append((*cells, *numbers, claims_by_cause(message, claims)))
    return results


def holds_text(message: MessageRow) -> str:
    """Return a text on whether a message holds, with the condition of the message if it has one."""
    words = {"reproduced": "yes", "deviates": "no", "open": "open"}[message.verdict]
    return f"{words}: {message.condition}" if message.condition else words


def claims_by_cause(message: MessageRow, claims: Sequence[Tree]) -> str:
    """Return as text the causes for which a message's claims are not reproduced, with the
    claims.
    """
    places: dict[str, list[str]] = {}
    for claim in ClaimRow.all_of(claims):
        if claim.id in message.claims:
            missed = [check for check in claim.checks if not check.holds]
            for because in dict.fromkeys(map(claim.cause, missed)):
                places.setdefault(because, []).append(claim.id)
    return "; ".join(f"{because}: {', '.join(names)}" for because, names in places.items())


def summary(messages: Sequence[Tree], claims: Sequence[Tree], causes: Mapping[str, str]) -> str:
    """Return sentences on the totals of the table, and on why checks are not reproduced.

    Parameters
    ----------
    messages, claims : sequence of mapping
        Messages and claims in the form of ``reproduce --json``.
    causes : mapping
        Text of each cause.
    """
    total = closeness(claims)
    read = [read_as(MessageRow, each) for each in messages]
    holding = [message for message in read if message.verdict == REPRODUCED]
    under = sum(bool(message.condition) for message in holding)
    within = ", ".join(
        f"{count.count} ({count.percent}) within {100 * band:.0f} %"
        for count, band in zip(total.numbers, BANDS, strict=True)
    )
    why = " ".join(
        f"In {count}, {causes.get(name, 'the cause is ' + name)}."
        for name, count in total.causes.most_common()
    )
    exact = total.orders_exact.count
    margin = f" ({exact} without the margin of 5 % on bounds that papers state)"
    checks = sum(len(claim.checks) for claim in ClaimRow.all_of(claims))
    lines = []
    if messages:
        lines.append(
            f"{len(holding)} of {len(messages)} messages hold, {under} of them under a stated "
            "condition."
        )
    if total.orders.total:
        lines.append(
            f"{total.orders} checks of an order or a shape hold"
            f"{'' if exact == total.orders.count else margin}."
        )
    if numbers := total.numbers[0].total:
        lines.append(f"lasthop reproduces the following of the {numbers} stated numbers: {within}.")
    if why:
        lines.append(f"{total.causes.total()} of {checks} checks are not reproduced. {why}")
    return " ".join(lines)
