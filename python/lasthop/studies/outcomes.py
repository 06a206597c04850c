"""Outcomes of checks, and the status of a claim that follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from lasthop.studies.rules import Verdict


@dataclass(frozen=True)
class CheckResult:
    """Verdict of one check in the form of ``reproduce --json``, with the values that decide it."""

    what: str
    paper: float | str | None
    predicted: float | None
    simulated: float | None
    ci95: float | None
    rule: str
    verdict: Verdict
    detail: str
    unit: str
    inequality: bool
    model_verdict: Verdict | None
    words: str
    softer: str
    reading: str
    series: str
    value: str | None
    off: float | None
    verdict_with_margin: Verdict

    def to_json(self) -> dict[str, Any]:
        """Return the check in the form in which ``reproduce --json`` prints it."""
        names = ("what", "paper", "predicted", "simulated", "ci95", "rule")
        more = ("detail", "unit", "words", "softer", "reading", "series")
        return {
            **{name: getattr(self, name) for name in names},
            "verdict": self.verdict.value,
            **{name: getattr(self, name) for name in more},
            "model_verdict": None if self.model_verdict is None else self.model_verdict.value,
            "inequality": self.inequality,
            "value": self.value,
            "off": self.off,
            "verdict_with_margin": self.verdict_with_margin.value,
        }


class Mark(Enum):
    """Status of a claim: whether its orders, shapes and numbers are reproduced."""

    HOLDS = "holds"
    NUMBER_OFF = "number off"
    FAILS = "does not hold"
    OPEN = "open"


def mark_of(checks: Sequence[CheckResult]) -> Mark:
    """Return the status of a claim from its checks. An inequality counts as satisfied if a value
    violates a bound of the paper by no more than a margin.
    """
    orders = [each.verdict_with_margin for each in checks if each.inequality]
    numbers = [each.verdict for each in checks if not each.inequality]
    if Verdict.DEVIATES in orders:
        return Mark.FAILS
    if Verdict.DEVIATES in numbers:
        return Mark.NUMBER_OFF
    return Mark.OPEN if Verdict.OPEN in (*orders, *numbers) else Mark.HOLDS


@dataclass(frozen=True)
class RelatedResult:
    """Verdict of the additional checks of a claim. This verdict does not affect the verdict of the
    claim.
    """

    title: str
    because: str
    verdict: Verdict
    checks: tuple[CheckResult, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the additional checks in the form in which ``reproduce --json`` prints them."""
        return {
            "title": self.title,
            "because": self.because,
            "verdict": self.verdict.value,
            "checks": [check.to_json() for check in self.checks],
        }
