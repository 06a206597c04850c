"""The claims ledger: rules from ``claims.toml``, measured values in, verdicts out.

A claim is *reproduced* when lasthop's own run shows it, *deviates* when an honest run shows
something else, *open* when no run decides it. Every verdict is computed here from measured values
and the rules of ``claims.toml``; nothing is typed in by hand. Additional checks of a claim (a
replaced rule, or a model of ours where the paper's is judged) have verdicts of their own, which do
not count in the claim's.

A quick run judges more strictly than a full run: a decision must still hold with every interval
``quick_margin`` times as wide. The full run may settle a claim that it leaves open, but does not
overturn a verdict.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from importlib import resources
from itertools import compress
from typing import Any

from lasthop.studies.findings import Finding
from lasthop.studies.messages import Message
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
"""Why a check is not reproduced."""


@dataclass(frozen=True)
class CheckResult:
    """One check with its verdict, as ``reproduce --json`` prints it, and what it rests on."""

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
        """Return the object of ``reproduce --json``."""
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
    """Status of a claim."""

    HOLDS = "holds"
    NUMBER_OFF = "number off"
    FAILS = "does not hold"
    OPEN = "open"


def mark_of(checks: Sequence[CheckResult]) -> Mark:
    """Return what holds: orders and shapes first, a bound of the paper with its margin."""
    orders = [each.verdict_with_margin for each in checks if each.inequality]
    numbers = [each.verdict for each in checks if not each.inequality]
    if Verdict.DEVIATES in orders:
        return Mark.FAILS
    if Verdict.DEVIATES in numbers:
        return Mark.NUMBER_OFF
    return Mark.OPEN if Verdict.OPEN in (*orders, *numbers) else Mark.HOLDS


@dataclass(frozen=True)
class Difference:
    """Why checks of a claim are not reproduced.

    Parameters
    ----------
    checks : tuple of str
        Titles of the checks, or of rows of checks.
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
        """Return the object of ``reproduce --json``."""
        return {**vars(self), "checks": list(self.checks)}


@dataclass(frozen=True)
class BesideResult:
    """Additional checks of a claim, with the verdict that they would give."""

    title: str
    because: str
    verdict: Verdict
    checks: tuple[CheckResult, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the object of ``reproduce --json``."""
        return {
            "title": self.title,
            "because": self.because,
            "verdict": self.verdict.value,
            "checks": [check.to_json() for check in self.checks],
        }


@dataclass(frozen=True)
class ClaimResult:
    """One claim with the verdicts of its checks and the reason for its own.

    `mark` says whether its orders and shapes hold, whether only a number is off, or neither.
    """

    claim: "Claim"
    verdict: Verdict
    why: str
    checks: tuple[CheckResult, ...]
    beside: tuple[BesideResult, ...]

    @property
    def mark(self) -> Mark:
        """Status of the claim."""
        return mark_of(self.checks)

    @property
    def causes(self) -> list[str]:
        """Why checks are not reproduced: the cause, its reason, and the checks."""
        return [
            f"{each.because}: {each.reason} ({'; '.join(each.checks)})"
            for each in self.claim.differences
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the object of ``reproduce --json``."""
        return {
            "id": self.claim.id,
            "kind": self.claim.kind,
            "mark": self.mark.value,
            "differences": [each.to_json() for each in self.claim.differences],
            "verdict": self.verdict.value,
            "why": self.why,
            "checks": [check.to_json() for check in self.checks],
            "beside": [each.to_json() for each in self.beside],
        }


@dataclass(frozen=True)
class Check:
    """One statement that a run can decide.

    Parameters
    ----------
    words : str
        The paper's own, which the rule judges.
    softer : str
        In what the rule is softer than they are.
    reading : str
        How they were read where they leave it open.
    series : str
        Name of a row of such checks, "eta, X = 1, 2, 3", equal for all of them.
    bound : bool
        The plain numbers of its inequalities are bounds that the paper states.
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
        """Return the names of the studies that measure its values."""
        return {key.split(".")[0] for key in self.rule.reads()}

    def result(self, values: Values, rules: Rules, quick: bool) -> CheckResult:
        """Judge the check on what was measured."""
        simulation = self.rule.judge(Judge(values, model=False, quick=quick, rules=rules))
        model = self.rule.judge(Judge(values, model=True, quick=quick, rules=rules))
        # What was measured stands in the answer as it is, not as a quick run widens it.
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
    """Checks whose verdict is shown with a claim's: their names, and why they do not count."""

    title: str
    because: str
    checks: tuple[Check, ...]

    def result(self, values: Values, rules: Rules, quick: bool) -> BesideResult:
        """Judge them by themselves."""
        checks = tuple(check.result(values, rules, quick) for check in self.checks)
        verdict = worst(check.verdict for check in checks)
        return BesideResult(self.title, self.because, verdict, checks)


@dataclass(frozen=True)
class Claim:
    """One statement of a paper."""

    id: str
    subject: str
    text: str
    figure: str
    checks: tuple[Check, ...]
    beside: tuple[RelatedChecks, ...] = ()
    kind: str = "detail"
    """Whether it carries a message of the paper, "message", or is a "detail"."""
    differences: tuple[Difference, ...] = ()

    def studies(self) -> set[str]:
        """Return the names of the studies, within its subject, that it rests on."""
        every = [*self.checks, *(check for each in self.beside for check in each.checks)]
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
            Findings about the claim; if it deviates, the causes.
        """
        checks = tuple(check.result(values, rules, quick) for check in self.checks)
        verdict = worst(check.verdict for check in checks)
        others = tuple(each.result(values, rules, quick) for each in self.beside)
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
    """The rules of each claim as the file has them."""
    messages: tuple[Message, ...] = ()
    """Main message of each paper."""

    def select(self, names: Sequence[str]) -> tuple[Claim, ...]:
        """Return the claims of the named subjects and ids, all if none is named.

        Raises
        ------
        KeyError
            With the first name that is neither a subject nor a claim.
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
    """Read the rules, by default the project's own ``claims.toml``.

    Raises
    ------
    RuleError
        If a rule does not make sense.
    """
    return _own() if text is None else _read(text)


@cache
def _own() -> Ledger:
    """Return the project's own rules, which take a tenth of a second to read."""
    path = resources.files("lasthop").joinpath("studies/claims.toml")
    return _read(path.read_text(encoding="utf-8"))


def _read(text: str) -> Ledger:
    tree = tomllib.loads(text)
    subjects: dict[str, str] = tree["subject"]
    claims = tuple(_claim(entry, subjects) for entry in tree["claim"])
    twice = {claim.id for claim in claims if [c.id for c in claims].count(claim.id) > 1}
    if twice:
        raise RuleError(f"claims given twice: {', '.join(sorted(twice))}")
    messages = tuple(_message(entry, claims) for entry in tree.get("message", ()))
    return Ledger(Rules(**tree["rules"]), subjects, claims, texts_of(text), messages)


def _message(entry: Mapping[str, Any], claims: Sequence[Claim]) -> Message:
    """Return a message, which refers to claims of its subject that carry it."""
    carriers = {claim.id for claim in claims if claim.kind == "message"}
    subject, text = entry["subject"], entry["text"]
    for name in entry["claims"]:
        if name not in carriers or name.rpartition("-")[0] != subject:
            raise RuleError(f'message "{text}": {name} is no claim of {subject} of kind "message"')
    holds = tuple(Shape.parse([chain]) for chain in entry.get("holds", ()))
    agrees = tuple(entry.get("agrees", ()))
    if not holds and not agrees:
        raise RuleError(f'message "{text}": neither `holds` nor `agrees`')
    condition, names = entry.get("condition", ""), tuple(entry["claims"])
    by_model = entry.get("judge", "simulation") == "model"
    return Message(subject, text, condition, names, holds, agrees, by_model)


def texts_of(text: str) -> dict[str, str]:
    """Return the part of the file for each claim, by its id."""
    parts = re.split(r"^(?=\[\[claim\]\])", text, flags=re.MULTILINE)[1:]
    results = {}
    for part in parts:
        messages = re.sub(r"^# -+ \w+\n*\Z", "", part.rstrip() + "\n", flags=re.MULTILINE).rstrip()
        results[tomllib.loads(part)["claim"][0]["id"]] = messages
    return results


def _claim(entry: Mapping[str, Any], subjects: Mapping[str, str]) -> Claim:
    subject = entry["id"].rpartition("-")[0]
    if subject not in subjects:
        raise RuleError(f"{entry['id']}: no such subject")
    try:
        others = tuple(
            RelatedChecks(each["title"], each["because"], _all_checks(each["check"]))
            for each in entry.get("beside", ())
        )
        checks = _all_checks(entry["check"])
        differences = tuple(_difference(each, checks) for each in entry.get("difference", ()))
        kind = entry["kind"]
        if kind not in KINDS:
            raise RuleError(f"kind: {kind!r} is none of {', '.join(KINDS)}")
    except (RuleError, KeyError) as error:
        raise RuleError(f"{entry['id']}: {error}") from error
    return Claim(
        entry["id"], subject, entry["text"], entry["figure"], checks, others, kind, differences
    )


def _difference(entry: Mapping[str, Any], checks: Sequence[Check]) -> Difference:
    """Return a difference, which refers to checks of its claim."""
    known = {name for check in checks for name in (check.what, check.series)}
    named = tuple(entry["checks"])
    for name in named:
        if name not in known:
            raise RuleError(f"difference: no check is called {name!r}")
    if entry["because"] not in CAUSES:
        raise RuleError(f"because: {entry['because']!r} is none of {', '.join(CAUSES)}")
    return Difference(named, entry["because"], entry["run"], entry["reason"])


def _all_checks(tables: Sequence[Mapping[str, Any]]) -> tuple[Check, ...]:
    return tuple(check for table in tables for check in _checks(table))


def _checks(table: Mapping[str, Any]) -> list[Check]:
    """Return the checks of one table: one, or one for each entry of `at`."""
    unknown = set(table) - _ALLOWED[table["kind"]]
    if unknown:
        raise RuleError(f"unknown keys: {', '.join(sorted(unknown))}")
    places = [str(place) for place in table.get("at", [""])]
    papers = table.get("paper")
    if not isinstance(papers, list):
        papers = [papers] * len(places)
    return [
        Check(
            what=table["what"].replace("{}", in_words(place)),
            rule=_rule(table, place, paper),
            by_model=table.get("judge", "simulation") == "model",
            unit=table.get("unit", ""),
            words=table.get("words", ""),
            softer=table.get("softer", ""),
            reading=table.get("reading", ""),
            series=table["what"].replace("{}", ", ".join(map(in_words, places))),
            bound=bool(table.get("bound", False)),
        )
        for place, paper in zip(places, papers, strict=True)
    ]


def in_words(place: str) -> str:
    """Return a part of a value's name as a sentence has it: 0.3 for ``0_3``, two classes."""
    return re.sub(r"(?<=\d)_(?=\d)", ".", place).replace("_", " ")


def _rule(table: Mapping[str, Any], place: str, paper: float | str | None) -> Number | Shape:
    def key(name: str) -> str:
        text: str = table[name].replace("{}", place)
        if not is_key(text):
            raise RuleError(f"not a value: {text!r}")
        return text

    if table["kind"] == "shape":
        return Shape.parse([hold.replace("{}", place) for hold in table["holds"]])
    if table["kind"] == "trend":
        pair = (Term(1.0, key("smaller")), Term(1.0, key("larger")))
        return Shape(f"{key('larger')} > {key('smaller')}", (pair,), trend=True)
    about = bool(table.get("about", False))
    if paper == "model":
        return Number(key("value"), None, about)
    if (paper is None) == ("range" not in table):
        raise RuleError("a number needs either `paper` or `range`")
    low, high = (paper, paper) if paper is not None else table["range"]
    return Number(key("value"), (float(low), float(high)), about)
