"""The claims ledger, which computes verdicts from measured values by the rules in ``claims.toml``.

A claim is *reproduced* if a run of lasthop shows it. It *deviates* if a valid run shows a different
result. It is *open* if no run decides the claim. Every verdict is computed from measured values and
the rules of ``claims.toml``; no verdict is written by hand. Additional checks of a claim (with a
replaced rule, or with our model instead of the paper's) have separate verdicts, which do not affect
the verdict on the claim.

A quick run judges more strictly than a full run: a decision must still hold with every interval
``quick_margin`` times as wide. The full run may decide a claim that is open in the quick run, but
does not reverse a verdict.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import compress
from typing import Any

from lasthop.scenario.from_json import Table, named, read_as
from lasthop.studies.findings import Finding
from lasthop.studies.messages import Message
from lasthop.studies.outcomes import CheckResult, Mark, RelatedResult, mark_of
from lasthop.studies.rules import (
    Judge,
    Number,
    RuleError,
    Rules,
    Shape,
    Term,
    Values,
    Verdict,
    is_key,
    worst,
)

KINDS = ("message", "detail")
CAUSES = {
    "paper": "the paper contradicts itself or its own settings",
    "unstated": "the result depends on a setting that the paper does not state",
    "number": "a value misses its band, or its interval is too wide to decide",
    "rule": "our rule asks for something that the paper does not say",
    "ours": "lasthop may be wrong",
}
"""Possible causes if a check is not reproduced: key and description of each cause."""


@dataclass(frozen=True)
class Difference:
    """Reason why checks of a claim are not reproduced.

    Parameters
    ----------
    checks : tuple of str
        Titles of the checks, or of series of checks.
    because : str
        Key of the cause in `CAUSES`.
    run : str
        Study and runs that show the cause.
    reason : str
        Explanation of the cause.
    """

    checks: tuple[str, ...]
    because: str
    run: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return the difference in the form in which ``reproduce --json`` prints it."""
        return {**vars(self), "checks": list(self.checks)}


@dataclass(frozen=True)
class ClaimResult:
    """One claim with its verdict, the verdicts of its checks, and the reason for its verdict.

    `mark` is the status of the claim: the claim holds, only a number is wrong, an order or a shape
    is wrong, or the claim is open.
    """

    claim: "Claim"
    verdict: Verdict
    why: str
    checks: tuple[CheckResult, ...]
    related: tuple[RelatedResult, ...]

    @property
    def mark(self) -> Mark:
        """Status of the claim."""
        return mark_of(self.checks)

    @property
    def causes(self) -> list[str]:
        """Texts on the checks that are not reproduced: the cause, its explanation, and the
        checks.
        """
        return [
            f"{each.because}: {each.reason} ({'; '.join(each.checks)})"
            for each in self.claim.differences
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the claim in the form in which ``reproduce --json`` prints it."""
        return {
            "id": self.claim.id,
            "kind": self.claim.kind,
            "mark": self.mark.value,
            "differences": [each.to_json() for each in self.claim.differences],
            "verdict": self.verdict.value,
            "why": self.why,
            "checks": [check.to_json() for check in self.checks],
            "beside": [each.to_json() for each in self.related],
        }


@dataclass(frozen=True)
class Check:
    """One statement that a run can decide.

    Parameters
    ----------
    words : str
        Words of the paper that the rule judges.
    softer : str
        Difference that makes the rule less strict than the words of the paper.
    reading : str
        Interpretation of the words if they are ambiguous.
    series : str
        Name of the series of similar checks to which this check belongs, such as "eta, X = 1, 2,
        3".
    bound : bool
        Whether the plain numbers in the rule's inequalities are bounds that the paper states.
    """

    what: str
    rule: Number | Shape
    by_model: bool
    unit: str
    words: str = ""
    softer: str = ""
    reading: str = ""
    series: str = ""
    bound: bool = False

    def studies(self) -> set[str]:
        """Return the names of the studies that measure the values of this check."""
        return {key.split(".")[0] for key in self.rule.reads()}

    def result(self, values: Values, rules: Rules, quick: bool) -> CheckResult:
        """Judge the check by the measured values."""
        simulation = self.rule.judge(Judge(values, model=False, quick=quick, rules=rules))
        model = self.rule.judge(Judge(values, model=True, quick=quick, rules=rules))
        # The displayed value has the interval of the runs, not the wider interval of a quick run.
        shown = self.rule.judge(Judge(values, model=False, quick=False, rules=rules))
        judged = model if self.by_model else simulation
        bound_margin = rules.bound_margin if self.bound else 0.0
        with_margin = Judge(
            values, model=self.by_model, quick=quick, rules=rules, bound_margin=bound_margin
        )
        detail = model.detail if self.by_model else shown.detail
        if not self.by_model and simulation.verdict is not shown.verdict:
            detail += ": too close for a quick run"
        against_model = isinstance(self.rule, Number) and self.rule.span is None
        return CheckResult(
            what=self.what,
            paper=self.rule.paper(),
            predicted=model.value,
            simulated=None if self.by_model else shown.value,
            ci95=None if self.by_model else shown.half,
            rule=self.rule.describe(rules) + (" (judged on the model)" if self.by_model else ""),
            verdict=judged.verdict,
            detail=detail,
            unit=self.unit,
            inequality=isinstance(self.rule, Shape),
            model_verdict=None if model.value is None or against_model else model.verdict,
            words=self.words,
            softer=self.softer,
            reading=self.reading,
            series=self.series,
            value=self.rule.value if isinstance(self.rule, Number) else None,
            off=self.rule.relative_error(judged.value) if isinstance(self.rule, Number) else None,
            verdict_with_margin=self.rule.judge(with_margin).verdict,
        )


@dataclass(frozen=True)
class RelatedChecks:
    """Additional checks of a claim, with their name, and the reason why they do not affect its
    verdict.
    """

    title: str
    because: str
    checks: tuple[Check, ...]

    def result(self, values: Values, rules: Rules, quick: bool) -> RelatedResult:
        """Judge the additional checks. The verdict of the additional checks does not affect the
        verdict of the claim.
        """
        checks = tuple(check.result(values, rules, quick) for check in self.checks)
        verdict = worst(check.verdict for check in checks)
        return RelatedResult(self.title, self.because, verdict, checks)


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, with the checks that decide whether it is reproduced."""

    id: str
    subject: str
    text: str
    figure: str
    checks: tuple[Check, ...]
    related: tuple[RelatedChecks, ...] = ()
    kind: str = "detail"
    """Kind of the claim: "message" if the claim supports a message of the paper, or "detail"."""
    differences: tuple[Difference, ...] = ()

    def studies(self) -> set[str]:
        """Return the names of the studies whose values the claim uses."""
        every = [*self.checks, *(check for each in self.related for check in each.checks)]
        return set().union(*(check.studies() for check in every))

    def result(
        self,
        values: Values,
        rules: Rules,
        *,
        quick: bool = False,
        findings: Sequence[Finding | str] = (),
    ) -> ClaimResult:
        """Judge the claim.

        Parameters
        ----------
        values : mapping
            Measured values of the studies of its subject, keyed ``STUDY.NAME``.
        rules : Rules
            Bands and precisions.
        quick : bool
            Whether the values come from a quick run.
        findings : sequence of Finding or str
            Findings about the claim; if the claim deviates, its causes.
        """
        checks = tuple(check.result(values, rules, quick) for check in self.checks)
        verdict = worst(check.verdict for check in checks)
        others = tuple(each.result(values, rules, quick) for each in self.related)
        why = _why(self, verdict, checks, findings)
        return ClaimResult(self, verdict, why, checks, others)


def _why(
    claim: Claim, verdict: Verdict, checks: Sequence[CheckResult], findings: Sequence[Finding | str]
) -> str:
    unmeasured = [check for check in checks if check.detail == "no study runs it yet"]
    if len(unmeasured) == len(checks):
        return "no study runs it yet"
    lines = [
        f"{check.what}: {check.detail}"
        for check in checks
        if check.verdict is not Verdict.REPRODUCED
    ]
    lead = "cause" if verdict is Verdict.DEVIATES else "found"
    lines += [f"{lead}: {finding}" for finding in findings]
    if verdict is Verdict.DEVIATES and not findings:
        lines.append("no run isolates why")
    simulated = compress(checks, (not check.by_model for check in claim.checks))
    model = [check for check in simulated if check.model_verdict is not None]
    if model:
        missed = [check.what for check in model if check.model_verdict is not Verdict.REPRODUCED]
        held = len(model) - len(missed)
        line = f"model: {held} of {len(model)} checks hold"
        lines.append(f"{line}, not: {'; '.join(missed)}" if missed else line)
    return "\n".join(lines)


@dataclass(frozen=True)
class Ledger:
    """All claims with their rules."""

    rules: Rules
    subjects: Mapping[str, str]
    claims: tuple[Claim, ...]
    texts: Mapping[str, str] = field(default_factory=dict)
    """Text of the rules in ``claims.toml``, by id of the claim."""
    messages: tuple[Message, ...] = ()
    """Messages of all papers."""

    def select(self, names: Sequence[str]) -> tuple[Claim, ...]:
        """Return the claims of the named subjects and ids; without names, all claims.

        Raises
        ------
        KeyError
            If a name is neither a subject nor a claim; the error contains the first such name.
        """
        known = {claim.id for claim in self.claims} | set(self.subjects)
        for name in names:
            if name not in known:
                raise KeyError(name)
        chosen = set(names)
        return tuple(
            claim
            for claim in self.claims
            if not names or claim.id in chosen or claim.subject in chosen
        )


_COMMON_KEYS = {
    *("what", "kind", "at", "unit", "judge"),
    *("words", "where", "softer", "reading"),
}
_ALLOWED = {
    "number": {*_COMMON_KEYS, "value", "paper", "range", "about"},
    "trend": {*_COMMON_KEYS, "larger", "smaller"},
    "shape": {*_COMMON_KEYS, "holds", "bound"},
}


def load(text: str | None = None) -> Ledger:
    """Read the rules, by default from the project's ``claims.toml``.

    Raises
    ------
    RuleError
        If a rule is not valid.
    """
    return _own() if text is None else _read(text)


@cache
def _own() -> Ledger:
    """Return the rules of the project's ``claims.toml``. The rules are cached, because reading the
    file takes 0.1 s.
    """
    path = resources.files("lasthop").joinpath("studies/claims.toml")
    return _read(path.read_text(encoding="utf-8"))


class _CheckTable(Table):
    """A check, or a series of checks, in ``claims.toml``."""

    what: str
    kind: str
    at: tuple[Any, ...] = ("",)
    paper: Any = None
    range: Any = None
    value: str = ""
    larger: str = ""
    smaller: str = ""
    holds: tuple[str, ...] = ()
    judge: str = "simulation"
    unit: str = ""
    words: str = ""
    softer: str = ""
    reading: str = ""
    about: bool = False
    bound: bool = False


class _RelatedTable(Table):
    """Additional checks of a claim in ``claims.toml``."""

    title: str
    because: str
    check: tuple[Any, ...]


class _DifferenceTable(Table):
    """Reason why checks of a claim are not reproduced, in ``claims.toml``."""

    checks: tuple[str, ...]
    because: str
    run: str
    reason: str


class _ClaimTable(Table):
    """A claim in ``claims.toml``."""

    id: str
    kind: str
    text: str
    figure: str
    check: tuple[Any, ...]
    related: tuple[_RelatedTable, ...] = named("beside", ())
    difference: tuple[_DifferenceTable, ...] = ()


class _MessageTable(Table):
    """A message of a paper in ``claims.toml``."""

    subject: str
    text: str
    claims: tuple[str, ...]
    condition: str = ""
    holds: tuple[str, ...] = ()
    agrees: tuple[str, ...] = ()
    judge: str = "simulation"


class _File(Table):
    """Content of ``claims.toml``."""

    rules: Any
    subject: Mapping[str, str]
    claim: tuple[Any, ...]
    message: tuple[_MessageTable, ...] = ()


def _read(text: str) -> Ledger:
    file = read_as(_File, tomllib.loads(text))
    claims = tuple(_claim(entry, file.subject) for entry in file.claim)
    twice = {claim.id for claim in claims if [c.id for c in claims].count(claim.id) > 1}
    if twice:
        raise RuleError(f"claims given twice: {', '.join(sorted(twice))}")
    messages = tuple(_message(entry, claims) for entry in file.message)
    return Ledger(Rules(**file.rules), file.subject, claims, texts_of(text), messages)


def _message(table: _MessageTable, claims: Sequence[Claim]) -> Message:
    """Return a message with the claims of its subject that support it."""
    carriers = {claim.id for claim in claims if claim.kind == "message"}
    subject, text = table.subject, table.text
    for name in table.claims:
        if name not in carriers or name.rpartition("-")[0] != subject:
            raise RuleError(f'message "{text}": {name} is no claim of {subject} of kind "message"')
    holds = tuple(Shape.parse([chain]) for chain in table.holds)
    if not holds and not table.agrees:
        raise RuleError(f'message "{text}": neither `holds` nor `agrees`')
    by_model = table.judge == "model"
    return Message(subject, text, table.condition, table.claims, holds, table.agrees, by_model)


def texts_of(text: str) -> dict[str, str]:
    """Return the part of ``claims.toml`` that belongs to each claim, by id of the claim."""
    parts = re.split(r"^(?=\[\[claim\]\])", text, flags=re.MULTILINE)[1:]
    results = {}
    for part in parts:
        rule = re.sub(r"^# -+ \w+\n*\Z", "", part.rstrip() + "\n", flags=re.MULTILINE).rstrip()
        [claim] = tomllib.loads(part)["claim"]
        results[read_as(_ClaimTable, claim).id] = rule
    return results


def _claim(entry: Mapping[str, Any], subjects: Mapping[str, str]) -> Claim:
    table = read_as(_ClaimTable, entry)
    subject = table.id.rpartition("-")[0]
    if subject not in subjects:
        raise RuleError(f"{table.id}: no such subject")
    try:
        others = tuple(
            RelatedChecks(each.title, each.because, _all_checks(each.check))
            for each in table.related
        )
        checks = _all_checks(table.check)
        differences = tuple(_difference(each, checks) for each in table.difference)
        if table.kind not in KINDS:
            raise RuleError(f"kind: {table.kind!r} is none of {', '.join(KINDS)}")
    except (RuleError, KeyError) as error:
        raise RuleError(f"{table.id}: {error}") from error
    return Claim(
        table.id, subject, table.text, table.figure, checks, others, table.kind, differences
    )


def _difference(table: _DifferenceTable, checks: Sequence[Check]) -> Difference:
    """Return the reason why checks are not reproduced, and check that the claim has these
    checks.
    """
    known = {name for check in checks for name in (check.what, check.series)}
    for name in table.checks:
        if name not in known:
            raise RuleError(f"difference: no check is called {name!r}")
    if table.because not in CAUSES:
        raise RuleError(f"because: {table.because!r} is none of {', '.join(CAUSES)}")
    return Difference(table.checks, table.because, table.run, table.reason)


def _all_checks(tables: Sequence[Mapping[str, Any]]) -> tuple[Check, ...]:
    return tuple(check for table in tables for check in _checks(table))


def _checks(entry: Mapping[str, Any]) -> list[Check]:
    """Return the checks of one table in ``claims.toml``. A table with `at` has one check for each
    value.
    """
    table = read_as(_CheckTable, entry)
    unknown = set(entry) - _ALLOWED[table.kind]
    if unknown:
        raise RuleError(f"unknown keys: {', '.join(sorted(unknown))}")
    places = [str(place) for place in table.at]
    papers = table.paper
    if not isinstance(papers, list):
        papers = [papers] * len(places)
    return [
        Check(
            what=table.what.replace("{}", in_words(place)),
            rule=_rule(table, place, paper),
            by_model=table.judge == "model",
            unit=table.unit,
            words=table.words,
            softer=table.softer,
            reading=table.reading,
            series=table.what.replace("{}", ", ".join(map(in_words, places))),
            bound=table.bound,
        )
        for place, paper in zip(places, papers, strict=True)
    ]


def in_words(place: str) -> str:
    """Return a part of a value's name as text for a sentence, such as 0.3 for ``0_3``."""
    return re.sub(r"(?<=\d)_(?=\d)", ".", place).replace("_", " ")


def _rule(table: _CheckTable, place: str, paper: float | str | None) -> Number | Shape:
    def key(pattern: str) -> str:
        name = pattern.replace("{}", place)
        if not is_key(name):
            raise RuleError(f"not a value: {name!r}")
        return name

    if table.kind == "shape":
        return Shape.parse([hold.replace("{}", place) for hold in table.holds])
    if table.kind == "trend":
        smaller, larger = key(table.smaller), key(table.larger)
        pair = (Term(1.0, smaller), Term(1.0, larger))
        return Shape(f"{larger} > {smaller}", (pair,), trend=True)
    if paper == "model":
        return Number(key(table.value), None, table.about)
    if (paper is None) == (table.range is None):
        raise RuleError("a number needs either `paper` or `range`")
    low, high = (paper, paper) if paper is not None else table.range
    return Number(key(table.value), (float(low), float(high)), table.about)
