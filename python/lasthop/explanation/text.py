"""Explanations as lines of text, for the command line and Python's repr."""

from collections.abc import Iterator, Sequence
from math import fsum
from statistics import fmean
from typing import TYPE_CHECKING

from lasthop.answers.calls import call_of
from lasthop.answers.digits import decimals, estimate, signed
from lasthop.batch.paired import judge
from lasthop.display.delays import headlines
from lasthop.explanation.candidates import command
from lasthop.explanation.line_use import line_use
from lasthop.explanation.lines import fact_lines
from lasthop.explanation.noticed import MIN_NOTICED
from lasthop.explanation.objective import Objective, PrintedQuantity
from lasthop.explanation.shares import goodputs
from lasthop.explanation.traffic import always_demands, flows_of
from lasthop.explanation.unequal import unequal_shares
from lasthop.explanation.video import video_verdicts
from lasthop.scenario.typed import Flow
from lasthop.shell import command_text
from lasthop.simulation.result import Result

if TYPE_CHECKING:
    from lasthop.explanation.run import Explanation
    from lasthop.explanation.search import Gain

__all__ = ["candidate_lines", "comparison_lines", "explanation_text", "run_lines", "text"]

PURPOSES = {
    "calls": "good calls",
    "delay": "a short delay",
    "video": "video without stalls, at a high bitrate",
    "throughput": "more goodput",
    "fairness": "equal shares",
}
"""Names of the objectives in the text."""


MIN_LOST = 0.2
"""Smallest printed goodput loss of a table of stations, as a fraction of the goodput before the
change. [-]
"""

MIN_EFFECT = 0.05
"""Smallest printed change of the total goodput, as a fraction of the total goodput before the
change. [-]
"""


def explanation_text(explanation: "Explanation") -> str:
    """Return an explanation as text."""
    return "\n".join(text(explanation))


def text(explanation: "Explanation") -> Iterator[str]:
    """Yield the lines of an explanation."""
    yield from run_lines(explanation)
    yield from comparison_lines(explanation)


def run_lines(explanation: "Explanation") -> Iterator[str]:
    """Yield the lines about the run of the scenario as it is; no comparison of changes is used."""
    objective, result = explanation.objective, explanation.result
    target = f" for {objective.target}" if objective.target else ""
    yield result.heading.scenario
    aim = f"Objective: {PURPOSES[objective.name]}{target}"
    if objective.name == "calls":
        names = {flow.name for flow in flows_of(result.scenario, objective.target)}
        calls = map(call_of, explanation.read_facts.calls)
        yield aim
        yield from headlines([call for call in calls if names & set(call.flows)])
    else:
        values = [mean_with_interval(quantity, result) for quantity in objective.quantities]
        yield f"{aim}; now {', '.join(values)}"
    if objective.name == "video":
        yield from video_verdicts(result, objective.target)
    lines = [
        *fact_lines(explanation.read_facts),
        *line_use(explanation.scenario, result, explanation.read_facts),
    ]
    if lines:
        yield ""
        yield from lines
    if objective.name == "throughput" and (fairness := unequal_shares(result)) is not None:
        index = mean_with_interval(fairness.quantities[0], result)
        asked = command(explanation.scenario, verb="explain")
        yield f"shares are unequal, {index}: {asked} --for fairness compares changes"


def comparison_lines(explanation: "Explanation") -> Iterator[str]:
    """Yield the lines on causes and remedies; nothing if no comparison was made."""
    if explanation.is_met:
        yield f"Nothing to improve: {explanation.objective.met}."
    if not explanation.replications:
        return
    yield ""
    yield from baseline_lines(explanation)
    yield from cause_lines(explanation)
    yield ""
    yield from suggestion_lines(explanation)


def baseline_lines(explanation: "Explanation") -> Iterator[str]:
    """Yield a line with the values of the scenario as it is, in the runs of the comparison."""
    gains = [*explanation.causes, *explanation.suggestions]
    if gains:
        base, pairs = gains[0].base, gains[0].difference.pairs
        values = ", ".join(
            mean_text(quantity, base) for quantity in explanation.objective.quantities
        )
        yield f"Now, in {pairs} runs with other seeds: {values}"


def mean_with_interval(quantity: PrintedQuantity, result: Result) -> str:
    """Return the mean of a quantity over all replications, with its interval."""
    values = quantity.values(result)
    difference = judge([0.0] * len(values), values, 0)
    half = difference.ci95 or 0.0
    mean = quantity.scale * fmean(values)
    number = estimate(mean, quantity.scale * half) if half else rounded(mean)
    return f"{quantity.title} {number} {quantity.unit}".strip()


def candidate_lines(explanation: "Explanation") -> Iterator[str]:
    """Yield the possible causes, each with the edit that removes the cause."""
    yield "Causes that may apply, each with the edit that removes it:"
    for each in explanation.candidates:
        yield f"{each.id} at {each.subject}: {each.sentence}"
        yield "  " + command_text(w for k, v in each.settings for w in ("--set", f"{k}={v}"))


def cause_lines(explanation: "Explanation") -> Iterator[str]:
    """Yield the lines on the first cause and on further causes."""
    if not explanation.causes:
        yield (
            f"No cause found: none of {len(explanation.candidates)} edits improves the objective "
            f"beyond its interval, and by {100 * MIN_NOTICED:g} % or more."
        )
        return
    first, *others = explanation.causes
    yield f"Cause: {first.candidate.title} ({first.candidate.subject})"
    yield f"  {first.candidate.sentence}"
    edit = ", ".join(f"{key}={value}" for key, value in first.candidate.settings)
    change = change_text(explanation.objective, first)
    yield f"  With {edit}: {change}{of_others(explanation, first)}"
    for gain in others:
        name = f"{gain.candidate.title} ({gain.candidate.subject})"
        yield f"Also: {name}: {change_text(explanation.objective, gain)}"


def suggestion_lines(explanation: "Explanation") -> Iterator[str]:
    """Yield the lines on remedies that help, each with its gain and its command."""
    suggestions = explanation.suggestions
    settings = [gain for gain in suggestions if gain.candidate.is_setting]
    others = [gain for gain in suggestions if not gain.candidate.is_setting]
    if not settings:
        yield "No setting that was tried improves the objective beyond its interval."
    else:
        yield "Settings that help:"
    for number, gain in enumerate(settings, 1):
        yield from remedy_lines(explanation, gain, f"{number}.")
    if others:
        yield "Also helps, but is not a setting:"
    for gain in others:
        yield from remedy_lines(explanation, gain, "-")


def remedy_lines(explanation: "Explanation", gain: "Gain", mark: str) -> Iterator[str]:
    """Yield the lines on one remedy: its gain and its command."""
    candidate = gain.candidate
    name = f"{candidate.title} {candidate.place}".rstrip()
    yield f"{mark} {name}"
    yield f"   {change_text(explanation.objective, gain)}{side_effects(explanation, gain)}"
    yield f"   {command(explanation.scenario, candidate.settings)}"


def change_text(objective: Objective, gain: "Gain") -> str:
    """Return the printed quantities after a change, with their differences from the base.

    If the change is no clear gain, the interval of the quantity is printed instead of its
    difference.
    """
    words = []
    for quantity in objective.quantities:
        ours, theirs = quantity.values(gain.base), quantity.values(gain.result)
        direction = quantity.direction or objective.direction
        difference = judge(ours, theirs, direction)
        mean = quantity.scale * (difference.mean or 0.0)
        half = quantity.scale * (difference.ci95 or 0.0)
        if half and direction * mean > half:
            text = mean_text(quantity, gain.result)
            words.append(f"{text} ({signed(mean, half)} ± {half:.{decimals(mean, half)}f})")
        else:
            words.append(mean_with_interval(quantity, gain.result))
    return ", ".join(words)


def side_effects(explanation: "Explanation", gain: "Gain") -> str:
    """Return the effects of a change on other goodputs, as the end of a sentence.

    The text contains the goodput of all flows if it changes by 5 % or more. It also contains the
    goodput of bulk flows for one table of stations: the table that loses most, if the loss is 20 %
    or more. Only changes that exceed their intervals are included.
    """
    flows = explanation.scenario.typed.flows
    tables: dict[str, list[Flow]] = {}
    for flow in flows:
        if always_demands(flow):
            direction = f" ({flow.direction})" if flow.direction else ""
            tables.setdefault(f"{flow.class_name}{direction}", []).append(flow)
    changes = {name: goodput_change(explanation, gain, members) for name, members in tables.items()}
    lost = {
        name: each
        for name, each in changes.items()
        if each and each[1] < (1.0 - MIN_LOST) * each[0]
    }
    words = []
    if explanation.objective.name != "throughput":
        total = goodput_change(explanation, gain, flows)
        if total and abs(total[1] - total[0]) >= MIN_EFFECT * total[0]:
            words.append(f"goodput of all flows {arrow(*total)}")
    if lost:
        name = min(lost, key=lambda each: lost[each][1] / lost[each][0])
        words.append(f"goodput of {name} {arrow(*lost[name])}")
    return "".join(f"; {each}" for each in words)


def of_others(explanation: "Explanation", gain: "Gain") -> str:
    """Return how much goodput a slow station costs the other stations, as the end of a sentence.

    The text is empty if the cost is unknown."""
    candidate = gain.candidate
    others = [
        flow
        for flow in explanation.scenario.typed.flows
        if always_demands(flow) and flow.class_name != candidate.subject
    ]
    change = goodput_change(explanation, gain, others) if others else None
    if candidate.id != "slow-station" or change is None:
        return ""
    return f"; goodput of the others {arrow(*change)}"


def goodput_change(
    explanation: "Explanation", gain: "Gain", flows: Sequence[Flow]
) -> tuple[float, float] | None:
    """Return the goodput of flows before and after a change; None without a clear difference.
    [bit/s]
    """
    before, after = (total_goodput(result, flows) for result in (gain.base, gain.result))
    comparisons = max(len(explanation.suggestions), 1)
    difference = judge(before, after, 1, comparisons=comparisons)
    return (fmean(before), fmean(after)) if difference.is_beyond else None


def arrow(before_bps: float, after_bps: float) -> str:
    """Return two goodputs as text with an arrow between them."""
    return f"{rounded(1e-6 * before_bps)} -> {rounded(1e-6 * after_bps)} Mb/s"


def total_goodput(result: Result, flows: Sequence[Flow]) -> list[float]:
    """Return the total goodput of flows in each replication. [bit/s]"""
    return [fsum(row) for row in zip(*goodputs(result, flows), strict=True)]


def mean_text(quantity: PrintedQuantity, result: Result) -> str:
    """Return the mean of a quantity over all replications, as text without an interval."""
    mean = quantity.scale * fmean(quantity.values(result))
    return f"{quantity.title} {rounded(mean)} {quantity.unit}".strip()


def rounded(value: float) -> str:
    """Return a number as text with two or three digits; from 100, all digits before the decimal
    point.
    """
    if abs(value) >= 100.0:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 1.0 else f"{value:.2g}"
