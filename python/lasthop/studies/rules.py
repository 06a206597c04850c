"""The three kinds of rules by which a measured value decides a check.

``claims.toml`` begins with the definitions of *number*, *trend* and *shape*. A rule judges the
values of the simulation, which have confidence intervals, and the values of the model, which have
none.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from lasthop.answers.digits import estimate, plain


class Verdict(Enum):
    """Outcome of a check or a claim, from the best to the worst."""

    REPRODUCED = "reproduced"
    OPEN = "open"
    DEVIATES = "deviates"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst verdict: `deviates` before `open` before `reproduced`."""
    return max(verdicts, key=list(Verdict).index)


class RuleError(ValueError):
    """Error for an invalid rule in ``claims.toml``."""


@dataclass(frozen=True)
class Measured:
    """Simulated and predicted value of one quantity.

    Parameters
    ----------
    simulated : float, optional
        Mean over the replications; None without a simulation.
    ci95 : float, optional
        Half width of the mean's 95 % interval; None with fewer than two replications.
    predicted : float, optional
        Prediction of the model; None if there is no prediction.
    """

    simulated: float | None = None
    ci95: float | None = None
    predicted: float | None = None


Values = Mapping[str, Measured]


@dataclass(frozen=True)
class Rules:
    """Tolerances that are common to all checks. [-]"""

    band: float
    half_width: float
    band_about: float
    half_width_about: float
    quick_margin: float
    bound_margin: float


@dataclass(frozen=True)
class Weighed:
    """A value with the half width of its interval. The half width is None if it is unknown."""

    mean: float | None
    half: float | None


@dataclass(frozen=True)
class Judged:
    """Verdict of a rule, with the value and half width that decide it, and their texts."""

    verdict: Verdict
    value: float | None
    half: float | None
    detail: str


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.3g} %"


@dataclass(frozen=True)
class Judge:
    """Values on which a verdict is based: simulated or predicted values, with margins.

    Plain numbers in inequalities can be bounds that the paper states. An inequality also holds if a
    value violates such a bound by at most the fraction `bound_margin` of the bound. [-]
    """

    values: Values
    model: bool
    quick: bool
    rules: Rules
    bound_margin: float = 0.0

    @property
    def margin(self) -> float:
        """Factor by which the half width of a confidence interval is multiplied. The factor is
        larger than 1 in a quick run. [-]
        """
        return self.rules.quick_margin if self.quick and not self.model else 1.0

    def estimate(self, key: str) -> Weighed | None:
        """Return the value with the name `key`, or None if its study was not run."""
        measured = self.values.get(key)
        if measured is None:
            return None
        if self.model:
            return Weighed(measured.predicted, 0.0)
        half = None if measured.ci95 is None else self.margin * measured.ci95
        return Weighed(measured.simulated, half)


_KEY = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?")


def is_key(text: str) -> bool:
    """Return whether `text` is the name of a value, ``STUDY.NAME``, and not a number."""
    return _KEY.fullmatch(text) is not None


@dataclass(frozen=True)
class Term:
    """One side of an inequality: a measured value multiplied by a factor, or a plain number."""

    factor: float
    key: str | None

    @classmethod
    def parse(cls, text: str) -> "Term":
        """Read ``number``, ``key`` or ``number * key``."""
        parts = [part.strip() for part in text.split("*")]
        if len(parts) == 1 and _NUMBER.fullmatch(parts[0]):
            return cls(float(parts[0]), None)
        if len(parts) == 1 and is_key(parts[0]):
            return cls(1.0, parts[0])
        if len(parts) == 2 and _NUMBER.fullmatch(parts[0]) and is_key(parts[1]):
            return cls(float(parts[0]), parts[1])
        raise RuleError(f"not a number, a value or `number * value`: {text!r}")

    def estimate(self, judge: Judge) -> Weighed | None:
        """Return the value of this side of the inequality. A plain number has no interval."""
        if self.key is None:
            return Weighed(self.factor, 0.0)
        value = judge.estimate(self.key)
        if value is None or value.mean is None:
            return value
        half = None if value.half is None else abs(self.factor) * value.half
        return Weighed(self.factor * value.mean, half)

    def shown(self, weighed: Weighed) -> str:
        """Return the value of this side for display: the measured value and its factor."""
        mean, half, factor = weighed.mean, weighed.half, self.factor
        if mean is None or self.key is None or factor in (0.0, 1.0):
            return estimate(mean, half)
        measured = estimate(mean / factor, None if half is None else half / abs(factor))
        return f"{factor:g} × {measured}"


@dataclass(frozen=True)
class Number:
    """Rule that a value agrees with the paper's number or range `span`. If `span` is None, the
    value must agree with the model's prediction.
    """

    value: str
    span: tuple[float, float] | None
    about: bool

    def reads(self) -> set[str]:
        """Return the names of the values that this rule reads."""
        return {self.value}

    def paper(self) -> float | str | None:
        """Return the paper's number or range for display."""
        if self.span is None:
            return "model"
        low, high = self.span
        return low if low == high else f"{plain(low)}..{plain(high)}"

    def describe(self, rules: Rules) -> str:
        """Return the rule as text."""
        band, width = self._limits(rules)
        return f"number: interval overlaps {_percent(band)}, half width at most {_percent(width)}"

    def judge(self, judge: Judge) -> Judged:
        """Judge whether the interval of the value overlaps the band around the paper's value."""
        band, width = self._limits(judge.rules)
        result = judge.estimate(self.value)
        if result is None or result.mean is None:
            return _undecided([result])
        mean, half = result.mean, result.half
        span = self.span or _predicted(judge.values[self.value])
        if span is None:
            return Judged(Verdict.OPEN, mean, half, "the model gives no value")
        if half is None:
            return Judged(Verdict.OPEN, mean, None, "no interval: fewer than two replications")
        low, high = span
        largest = max(map(abs, (mean, low, high)))
        low, high = low - band * abs(low), high + band * abs(high)
        detail = f"{estimate(mean, half)} against {plain(low)}..{plain(high)}"
        if mean + half < low or mean - half > high:
            return Judged(Verdict.DEVIATES, mean, half, detail)
        if half > judge.margin * width * largest:
            reason = f"{estimate(mean, half)}: the interval is wider than ± {_percent(width)}"
            return Judged(Verdict.OPEN, mean, half, reason)
        if judge.quick and not judge.model and (mean - half < low or mean + half > high):
            return Judged(Verdict.OPEN, mean, half, detail)
        return Judged(Verdict.REPRODUCED, mean, half, detail)

    def relative_error(self, value: float | None) -> float | None:
        """Return the relative distance of a value from the paper's value; None if the rule has no
        `span`.

        The distance is 0 within the paper's range.
        """
        if self.span is None or value is None:
            return None
        low, high = self.span
        nearest = min(max(value, low), high)
        return (value - nearest) / abs(nearest) if nearest else None

    def _limits(self, rules: Rules) -> tuple[float, float]:
        if self.about:
            return rules.band_about, rules.half_width_about
        return rules.band, rules.half_width


def _predicted(measured: Measured) -> tuple[float, float] | None:
    model = measured.predicted
    return None if model is None else (model, model)


@dataclass(frozen=True)
class Shape:
    """Rule that every inequality ``left < right`` holds by more than the confidence intervals of
    both sides.
    """

    text: str
    inequalities: tuple[tuple[Term, Term], ...]
    trend: bool

    @classmethod
    def parse(cls, holds: Sequence[str]) -> "Shape":
        """Read chains such as ``"a < 2 * b < 3"``. The sign ``>`` reverses the order."""
        pairs: list[tuple[Term, Term]] = []
        for chain in holds:
            signs = re.findall(r"[<>]", chain)
            terms = [Term.parse(part) for part in re.split(r"[<>]", chain)]
            if not signs:
                raise RuleError(f"no inequality: {chain!r}")
            for sign, left, right in zip(signs, terms, terms[1:], strict=False):
                pairs.append((left, right) if sign == "<" else (right, left))
        return cls(", ".join(holds), tuple(pairs), trend=False)

    def reads(self) -> set[str]:
        """Return the names of the values that this rule reads."""
        return {term.key for pair in self.inequalities for term in pair if term.key is not None}

    def paper(self) -> float | str | None:
        """Return the paper's statement for display."""
        return self.text

    def describe(self, rules: Rules) -> str:
        """Return the rule as text."""
        del rules
        if self.trend:
            return "trend: the difference is positive, outside both intervals"
        return "shape: every inequality holds outside its intervals; the tightest margin is shown"

    def judge(self, judge: Judge) -> Judged:
        """Judge every inequality, and return the worst verdict. Among inequalities with this
        verdict, the inequality with the smallest margin is returned.
        """
        outcomes = [_below(left, right, judge) for left, right in self.inequalities]
        failed = [outcome for outcome in outcomes if outcome.verdict is Verdict.DEVIATES]
        unknown = [outcome for outcome in outcomes if outcome.value is None]
        if unknown and not failed:
            return unknown[0]
        return min(failed or outcomes, key=_clearance)


def _clearance(judged: Judged) -> float:
    return (judged.value or 0.0) - (judged.half or 0.0)


def _below(left: Term, right: Term, judge: Judge) -> Judged:
    """Judge ``left < right`` by comparing the difference of both sides with the sum of their half
    widths.
    """
    a, b = left.estimate(judge), right.estimate(judge)
    if a is None or b is None or a.mean is None or b.mean is None:
        return _undecided([a, b])
    gap = b.mean - a.mean
    for term in (left, right):
        if term.key is None:
            gap += judge.bound_margin * abs(term.factor)
    if a.half is None or b.half is None:
        return Judged(Verdict.OPEN, gap, None, "no interval: fewer than two replications")
    reach = a.half + b.half
    detail = f"{left.shown(a)} < {right.shown(b)}"
    if gap > reach:
        return Judged(Verdict.REPRODUCED, gap, reach, detail)
    if gap < -reach:
        return Judged(Verdict.DEVIATES, gap, reach, f"not {detail}")
    return Judged(Verdict.OPEN, gap, reach, f"{detail}: within the intervals")


def _undecided(sides: Sequence[Weighed | None]) -> Judged:
    reason = "no study runs it yet" if None in sides else "the run gave no value"
    return Judged(Verdict.OPEN, None, None, reason)
