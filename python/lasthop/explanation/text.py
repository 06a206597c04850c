"""Explanations as lines of text, for the command line and Python's repr."""

import shlex
from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import TYPE_CHECKING

from lasthop.digits import decimals, estimate, signed
from lasthop.explanation.line_use import line_use
from lasthop.explanation.lines import fact_lines
from lasthop.explanation.objectives import Objective, Shown
from lasthop.paired import judge
from lasthop.result import Result
from lasthop.scenario import Scenario

if TYPE_CHECKING:
    from lasthop.explanation.run import Explanation
    from lasthop.explanation.search import Gain

__all__ = ["candidate_lines", "command", "comparison", "opening", "text"]


def command(
    scenario: Scenario, settings: Iterable[tuple[str, str]] = (), verb: str = "simulate"
) -> str:
    """Return a command of the shell that simulates the scenario with these settings."""
    source = scenario.source
    words = ["lasthop", verb, "FILE" if source.startswith("<") else source]
    given = [f"{path}={value}" for path, value in scenario.settings if path != "replications"]
    for setting in [*given, *(f"{key}={value}" for key, value in settings)]:
        words += ["--set", setting]
    return shlex.join(words)


def text(explanation: "Explanation") -> Iterator[str]:
    """Yield the lines of an explanation."""
    yield from opening(explanation)
    yield from comparison(explanation)


def opening(explanation: "Explanation") -> Iterator[str]:
    """Yield the lines that need only the run as it is."""
    objective, result = explanation.objective, explanation.result
    target = f" of {objective.target}" if objective.target else ""
    values = ", ".join(measured(shown, result) for shown in objective.shown)
    yield str(result.summary["scenario"])
    yield f"Objective: {objective.name}{target}: {values}"
    yield ""
    yield from fact_lines(explanation.facts)
    yield from line_use(explanation.scenario, result, explanation.facts)


def comparison(explanation: "Explanation") -> Iterator[str]:
    """Yield the lines on causes and remedies, none before they were compared."""
    if explanation.is_met:
        yield f"Nothing to improve: {explanation.objective.met}."
    if not explanation.replications:
        return
    yield ""
    yield from cause_lines(explanation)
    yield ""
    yield from suggestion_lines(explanation)


def measured(shown: Shown, result: Result) -> str:
    """Return the mean of a quantity over all replications, with its interval."""
    values = shown.values(result)
    difference = judge([0.0] * len(values), values, 0)
    half = difference.ci95 or 0.0
    mean = shown.scale * fmean(values)
    number = estimate(mean, shown.scale * half) if half else f"{mean:.3g}"
    return f"{shown.title} {number} {shown.unit}".rstrip()


def candidate_lines(explanation: "Explanation") -> Iterator[str]:
    """Yield the causes that may apply, each with the edit that removes it."""
    yield "Causes that may apply, each with the edit that removes it:"
    for each in explanation.candidates:
        yield f"{each.id} at {each.subject}: {each.sentence}"
        yield "  " + " ".join(shlex.join(["--set", f"{k}={v}"]) for k, v in each.settings)


def cause_lines(explanation: "Explanation") -> Iterator[str]:
    """Yield the first cause, and those that follow."""
    if not explanation.causes:
        yield (
            f"No cause found: none of {len(explanation.candidates)} edits improves the objective "
            "beyond its interval."
        )
        return
    first, *others = explanation.causes
    yield f"Cause: {first.candidate.title} at {first.candidate.subject}"
    yield f"  {first.candidate.sentence}"
    yield f"  Without it: {change(explanation.objective, first)}"
    for gain in others:
        name = f"{gain.candidate.title} at {gain.candidate.subject}"
        yield f"Also: {name}: {change(explanation.objective, gain, brief=True)}"


def suggestion_lines(explanation: "Explanation") -> Iterator[str]:
    """Yield the remedies that help, each with its gain and its command."""
    if not explanation.suggestions:
        yield "No remedy improves the objective beyond its interval."
        return
    pairs = explanation.suggestions[0].difference.pairs
    yield f"Changes that help, in {pairs} pairs of runs with other seeds:"
    for number, gain in enumerate(explanation.suggestions, 1):
        where = gain.candidate.subject
        title = gain.candidate.title
        at = "" if where.lower() in title.lower() else f" at {where}"
        yield f"{number}. {title}{at}: {change(explanation.objective, gain, brief=True)}"
        yield f"   {command(explanation.scenario, gain.candidate.settings)}"


def change(objective: Objective, gain: "Gain", *, brief: bool = False) -> str:
    """Return a gain in words: the first quantity with its interval, and others that change.

    With `brief`, other quantities are left out unless they rise, which is worse for all of them.
    """
    words = []
    for position, shown in enumerate(objective.shown):
        ours, theirs = shown.values(gain.base), shown.values(gain.result)
        difference = judge(ours, theirs, 0)
        mean = shown.scale * (difference.mean or 0.0)
        half = shown.scale * (difference.ci95 or 0.0)
        places = decimals(mean, half) if half else 2
        before, after = (
            f"{shown.scale * fmean(values):.{places}f}".removesuffix(".00")
            for values in (ours, theirs)
        )
        if position and (before == after or (brief and mean <= 0.0)):
            continue
        line = f"{shown.title} {before} -> {after} {shown.unit}".rstrip()
        if not position:
            line += f" ({signed(mean, half)} ± {half:.{places}f})" if half else ""
        words.append(line)
    return ", ".join(words)
