"""Explanations as lines of text, for the command line and Python's repr."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from lasthop.digits import estimate, plain
from lasthop.explain.objectives import Objective, Shown
from lasthop.paired import judge
from lasthop.result import Result
from lasthop.scenario import Scenario

if TYPE_CHECKING:
    from lasthop.explain.explanation import Explanation
    from lasthop.explain.search import Gain

__all__ = ["command", "fact_lines", "text"]

MOST_DELAYS = 4
"""Flows whose waits are printed."""

LIMITED_BY = {
    "application": "the application",
    "air": "the air",
    "rwnd": "the receive window",
    "cwnd": "the congestion window",
}


def command(scenario: Scenario, settings: Iterable[tuple[str, str]] = (), verb: str = "simulate") -> str:
    """Return a command of the shell that simulates the scenario with these settings."""
    source = scenario.source
    words = ["lasthop", verb, "FILE" if source.startswith("<") else source]
    given = [f"{path}={value}" for path, value in scenario.settings if path != "replications"]
    for setting in [*given, *(f"{key}={value}" for key, value in settings)]:
        words += ["--set", setting]
    return shlex.join(words)


def text(explanation: "Explanation") -> Iterator[str]:
    """Yield the lines of an explanation."""
    objective, result = explanation.objective, explanation.result
    target = f" of {objective.target}" if objective.target else ""
    values = ", ".join(measured(shown, result) for shown in objective.shown)
    yield str(result.summary["scenario"])
    yield f"Objective: {objective.name}{target}: {values}"
    yield ""
    yield from fact_lines(explanation.facts)
    if explanation.is_met:
        yield f"Nothing to improve: {objective.met}."
        return
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
    number = estimate(shown.scale * fmean(values), shown.scale * half)
    return f"{shown.title} {number} {shown.unit}".rstrip()


def fact_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield where packets wait, what limits whom, and who costs the others air time."""
    calls = [call["flows"] for call in facts["calls"]]
    in_calls = {name for flows in calls for name in flows}
    delays = sorted(facts["delays"], key=lambda item: (item["flow"] not in in_calls, -item["total_s"]))
    for item in delays[:MOST_DELAYS]:
        parts = [part for part in item["parts"] if part["share"] >= 0.05][:3]
        shares = ", ".join(f"{100 * part['share']:.0f} % in {part['queue']}" for part in parts)
        yield f"{item['flow']} takes {1e3 * item['total_s']:.3g} ms: {shares or 'no queue'}"
    for item in facts["limits"]:
        flows = listed(item["flows"])
        if item["by"] == "line":
            yield f"{item['where']} limits {flows}: the line is {100 * item['fraction']:.0f} % used"
        elif item["by"] == "air":
            yield f"the air limits {flows}: it is busy {100 * item['fraction']:.0f} % of the time"
        else:
            share = f"{100 * item['fraction']:.0f} % of the time"
            yield f"{LIMITED_BY[item['by']]} limits {flows}: {share}"
    air = facts["air"]
    if air:
        yield (
            f"{air['station']} costs most air: {100 * air['airtime_fraction']:.0f} % of the time "
            f"for {100 * air['goodput_share']:.0f} % of the goodput"
        )


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return names in a list, and the number of those that are left out."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


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
        yield f"Also: {name}: {change(explanation.objective, gain)}"


def suggestion_lines(explanation: "Explanation") -> Iterator[str]:
    """Yield the remedies that help, each with its gain and its command."""
    if not explanation.suggestions:
        yield "No remedy improves the objective beyond its interval."
        return
    yield "What helps, in pairs of runs with fresh seeds:"
    for number, gain in enumerate(explanation.suggestions, 1):
        where = gain.candidate.subject
        title = gain.candidate.title
        at = "" if where in title else f" ({where})"
        yield f"{number}. {title}{at}: {change(explanation.objective, gain)}"
        yield f"   {command(explanation.scenario, gain.candidate.settings)}"


def change(objective: Objective, gain: "Gain") -> str:
    """Return a gain in words: the first quantity with its interval, and others that change."""
    words = []
    for position, shown in enumerate(objective.shown):
        ours, theirs = shown.values(gain.base), shown.values(gain.result)
        before, after = shown.scale * fmean(ours), shown.scale * fmean(theirs)
        if position and abs(after - before) < 0.05:
            continue
        line = f"{shown.title} {plain(before)} -> {plain(after)} {shown.unit}".rstrip()
        if not position:
            difference = judge(ours, theirs, 0)
            half = shown.scale * (difference.ci95 or 0.0)
            mean = shown.scale * (difference.mean or 0.0)
            line += f" ({'+' if mean > 0 else ''}{estimate(mean, half)})"
        words.append(line)
    return ", ".join(words)
