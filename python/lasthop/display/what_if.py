"""Texts and tables of a what-if comparison: the conclusion, mean values, and differences."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lasthop.answers.calls import BAD, MAX_CALLS, Call
from lasthop.answers.digits import decimals, estimate, signed, span
from lasthop.display.columns import Column, column_of
from lasthop.display.page import Page, Table
from lasthop.display.text import counted, cut
from lasthop.errors import listed

if TYPE_CHECKING:
    from lasthop.batch.paired import Measure
    from lasthop.whatif.conclusion import Advice
    from lasthop.whatif.what_if import Change, Run, WhatIf

__all__ = [
    "CHANGES",
    "about",
    "changes_title",
    "conclusion",
    "difference_rows",
    "headers",
    "label",
    "legend",
    "notes",
    "title",
    "value_rows",
    "what_if_page",
    "what_if_text",
]

BEST = "* best of its column; cases that share it are the same within the noise"

BEST_OF_CALLS = (
    "* best of its column (good calls only); cases that share it are the same within the noise"
)
"""Legend of the star if some calls are not good. Otherwise, the legend is `BEST`."""

COMMON = "of the stations that all cases have"
"""Explanation of columns such as ``common downloads``."""

WORDS = ("better", "worse", "different", "same", "identical", "unknown")
"""All verdicts. A summary counts how often each verdict occurs, and prints the counts in this
order."""

CHANGES = ("case", "column", "verdict", "difference")
"""Headers of the table of `difference_rows`."""

MORE = 4
"""Factor by which the number of replications must be increased to halve the intervals. [-]"""

MAX_COLUMNS = 4
"""Maximum number of quantities that the conclusion names."""

OF_PERCENTILES = {
    "chunk_completion_p95_s": "chunk completion",
    "completion_p95_s": "completion",
    "one_way_delay_p99_s": "delay",
    "ping_rtt_p95_s": "ping RTT",
    "report_delay_p95_s": "report delay",
    "rtt_p50_s": "RTT",
    "rtt_p95_s": "RTT",
    "rtt_p99_s": "RTT",
    "sojourn_p99_s": "sojourn time",
}
"""Names of the quantities whose column title is only a percentile."""

LONG_NAME = 12
"""Length of an item's name above which a header breaks the name into lines. [characters]"""


def shown(measure: "Measure") -> Column:
    """Return the table column of a measure: title, unit and scale."""
    return column_of(measure.list_name, measure.quantity)


def title(measure: "Measure") -> str:
    """Return the title of a measure's column. If this title is only a percentile, the quantity is
    added.
    """
    result = shown(measure).title
    of = OF_PERCENTILES.get(measure.quantity)
    return result if of is None else f"{of} ({result})"


def label(measure: "Measure") -> str:
    """Return the item and the title of a measure's column on one line."""
    return f"{measure.name} {title(measure)}"


def header(measure: "Measure") -> str:
    """Return the header of a measure's column: item, title and unit on separate lines."""
    name = measure.name
    first, slash, rest = name.partition("/")
    if len(name) > LONG_NAME:
        name = name.replace(" ", "\n") if measure.label or not slash else f"{first}/\n{rest}"
    of = OF_PERCENTILES.get(measure.quantity)
    return f"{name}\n{of}: {shown(measure).header}" if of else f"{name}\n{shown(measure).header}"


def headers(what_if: "WhatIf") -> list[str]:
    """Return the column headers of the table of `value_rows`."""
    return [
        "case",
        *(head for head, _ in verdicts(what_if)),
        *(header(measure) for measure in what_if.measures),
    ]


def verdicts(what_if: "WhatIf") -> Iterator[tuple[str, list[str]]]:
    """Yield the columns with verdicts on calls: the header, and one cell per case.

    If there are few calls, each direction has a column. If there are more, one column contains the
    number of good directions.
    """
    runs = what_if.runs
    labels = list(dict.fromkeys(call.label for run in runs for call in run.calls))
    if len({call.name for run in runs for call in run.calls}) > MAX_CALLS:
        yield "good call\ndirections", [good_directions(run) for run in runs]
        return
    for label in labels:
        results = [next((c for c in run.calls if c.label == label), None) for run in runs]
        name, _, direction = label.rpartition(" ")
        head = f"{name}'s\ncall\n{direction}" if len(labels) > 2 else f"call\n{direction}"
        yield head, ["-" if c is None else verdict(c) for c in results]


def verdict(call: Call) -> str:
    """Return the verdict on one direction of a call with its reason, such as ``bad: loss``."""
    return call.verdict if call.is_good else f"{call.verdict}: {', '.join(call.faults)}"


def good_directions(run: "Run") -> str:
    """Return the number of good call directions in a run, and the number of all directions."""
    return f"{sum(call.is_good for call in run.calls)} of {len(run.calls)}"


def about(what_if: "WhatIf") -> str:
    """Return a line on the runs of a what-if: replications, duration, warm-up and seed."""
    typed = what_if.scenario.typed
    return (
        f"{typed.replications} x {span(typed.duration_s)} per case, first {typed.warmup_s:g} s "
        f"cut, seed {typed.seed}; ± is a 95 % interval"
    )


def intervals(what_if: "WhatIf") -> str:
    """Return a phrase with the confidence level of the differences' intervals."""
    count = what_if.comparisons
    return "99 % intervals" if count == 1 else f"all {count} intervals hold together with 99 %"


def changes_title(what_if: "WhatIf") -> str:
    """Return the title of the table of `difference_rows`."""
    return f"Differences beyond the noise, paired by replication; {intervals(what_if)}"


def value_rows(what_if: "WhatIf") -> list[list[str]]:
    """Return a row per case: verdicts on calls, then mean values. A star marks the best values."""
    best = {(each.case, each.measure.key) for each in what_if.changes if each.is_best}
    of_calls = [cells for _, cells in verdicts(what_if)]
    rows = []
    for number, run in enumerate(what_if.runs):
        name = run.case.name
        row = [name, *(cells[number] for cells in of_calls)]
        for measure in what_if.measures:
            result = what_if.estimate(name, measure)
            scale = shown(measure).scale
            half = None if result is None or result.ci95 is None else result.ci95 * scale
            text = "-" if result is None else estimate(result.mean * scale, half)
            row.append(f"* {text}" if (name, measure.key) in best else text)
        rows.append(row)
    return rows


def legend(what_if: "WhatIf") -> str:
    """Return the legend of the star, and of columns of common stations if the conclusion does not
    explain them; empty if the table has neither.
    """
    parts = []
    if any(change.is_best for change in what_if.changes):
        is_good = all(run.has_good_calls for run in what_if.runs)
        parts.append(BEST if is_good or not what_if.call_measures else BEST_OF_CALLS)
    common = first_common(what_if.measures)
    if common is not None and not any(COMMON in line for line in conclusion(what_if)):
        parts.append(f"{common.name}: those {COMMON}")
    return "; ".join(parts)


def difference_rows(what_if: "WhatIf") -> list[list[str]]:
    """Return a row per difference that is significant, because its confidence interval does not
    contain 0. The row contains case, quantity, verdict and difference.
    """
    rows = []
    for change in what_if.changes:
        if change.difference.is_beyond:
            unit = shown(change.measure).unit
            column = label(change.measure) + (f" [{unit}]" if unit not in ("", "-") else "")
            rows.append([change.case, column, in_words(what_if, change), difference(change)])
    return rows


def in_words(what_if: "WhatIf", change: "Change") -> str:
    """Return the verdict on a difference in words. For calls, the words also say whether the calls
    are good.

    If the calls stay good, a longer delay or a higher loss is not called worse.
    """
    result = change.difference.verdict
    if change.measure not in what_if.call_measures:
        return result
    is_good = what_if.run_of(change.case).has_good_calls
    if result == "worse" and is_good:
        is_loss = change.measure.quantity == "loss_probability"
        return "more, but good" if is_loss else "longer, but good"
    return result if is_good or result == "worse" else f"{result}, but not good"


def difference(change: "Change") -> str:
    """Return a difference with its interval, in the unit of the column."""
    result, scale = change.difference, shown(change.measure).scale
    mean, half = (result.mean or 0.0) * scale, (result.half or 0.0) * scale
    if not half:
        return signed(mean)
    return f"{signed(mean, half)} ± {half:.{decimals(mean, half)}f}"


def conclusion(what_if: "WhatIf") -> Iterator[str]:
    """Yield one to three lines with the conclusion. The conclusion uses only significant
    differences, whose confidence intervals do not contain 0.
    """
    base, *others = what_if.runs
    result = what_if.advice
    lost = what_if.costs([run.case.name for run in others if has_advantage(what_if, run)])
    common = first_common([*(advice.measure for advice in result[:MAX_COLUMNS]), *lost])
    parts = [purpose(what_if, advice, common) for advice in result[:MAX_COLUMNS]]
    if len(result) > MAX_COLUMNS:
        parts.append(f"{counted(len(result) - MAX_COLUMNS, 'more column')} with a best case")
    if base.calls and base.has_good_calls:
        bad = [run.case.name for run in others if any(call.verdict == BAD for call in run.calls)]
        parts.insert(0, "The calls are good as it is" + (f", bad with {quoted(bad)}" * bool(bad)))
    elif what_if.call_measures and result and all(advice.measure for advice in result):
        parts.insert(0, "No case makes the calls better beyond the noise")
    if parts:
        yield ". ".join(parts) + "."
    if not any(change.difference.is_beyond for change in what_if.changes):
        yield "No case differs from the scenario as it is beyond the noise."
    elif not result:
        yield "No case is better than the scenario as it is beyond the noise."
    if lost:
        is_new = common not in [advice.measure for advice in result[:MAX_COLUMNS]]
        phrases = [
            f"{phrase(measure, common if is_new else None)} with {quoted(cases)}"
            for measure, cases in lost.items()
        ]
        yield f"Worse than the scenario as it is: {'; '.join(phrases[:MAX_COLUMNS])}."
    if len(result) > 1:
        for name in [run.case.name for run in others]:
            is_always_named = all(name in advice.cases for advice in result)
            if is_always_named and not any(name in cases for cases in lost.values()):
                yield f'"{name}" has all of these advantages{without_cost(what_if, name)}.'


def quoted(names: Iterable[str]) -> str:
    """Return names of cases as a list for a sentence, each in quotation marks."""
    return listed([f'"{name}"' for name in names])


def has_advantage(what_if: "WhatIf", run: "Run") -> bool:
    """Return whether a case is advised, or is better than the unchanged scenario in any column. A
    better delay or loss of calls that are not good does not count.
    """
    name = run.case.name
    return any(name in advice.cases for advice in what_if.advice) or any(
        change.case == name
        and change.difference.verdict == "better"
        and (run.has_good_calls or change.measure not in what_if.call_measures)
        and change.measure not in what_if.background
        for change in what_if.changes
    )


def first_common(measures: Iterable["Measure | None"]) -> "Measure | None":
    """Return the first measure that includes only the stations that exist in all cases."""
    return next((each for each in measures if each and each.label.startswith("common ")), None)


def without_cost(what_if: "WhatIf", name: str) -> str:
    """Return a clause which says that nothing gets worse in a case. The clause also names the
    delays of calls that get longer but remain good.
    """
    longer = [c for c in what_if.changes if c.case == name and c.difference.verdict == "worse"]
    phrases = [f"; {quantity_of(c.measure)} is {in_words(what_if, c)}" for c in longer]
    return ", and nothing gets worse beyond the noise" + "".join(phrases)


def quantity_of(measure: "Measure") -> str:
    """Return quantity and item of a measure, such as ``the delay of phone's call``."""
    quantity = OF_PERCENTILES.get(measure.quantity) or shown(measure).title
    return f"the {quantity} of {measure.name}"


def phrase(measure: "Measure", common: "Measure | None" = None) -> str:
    """Return a measure as part of a sentence, such as ``goodput of all downloads``. If the measure
    is `common`, its stations are explained.
    """
    is_least = measure.quantity == "goodput_bps" and measure.over == "min"
    name = "the slowest flow" if is_least else measure.name
    return f"{title(measure)} of {name}" + (f" ({COMMON})" if measure == common else "")


def purpose(what_if: "WhatIf", advice: "Advice", common: "Measure | None" = None) -> str:
    """Return a recommendation in words, such as ``Most goodput of all downloads: "mac80211"``. If
    the measure is `common`, its stations are explained.
    """
    names, measure = quoted(advice.cases), advice.measure
    if measure is None:
        run = what_if.run_of(advice.cases[0])
        if run.has_good_calls:
            return f"{'Best' if advice.is_best else 'Better'} for the calls: {names} (all good)"
        good = f"{good_directions(run)} directions good"
        if any(each.calls and each.has_good_calls for each in what_if.runs):
            return f"Better for the calls, but not good: {names} ({good})"
        verb = "improves" if len(advice.cases) == 1 else "improve"
        most = " most" * advice.is_best
        return f"No case makes all calls good; {names} {verb} them{most} ({good})"
    if measure.quantity == "goodput_bps":
        return f"{'Most' if advice.is_best else 'More'} {phrase(measure, common)}: {names}"
    if measure.quantity == "jain":
        return f"{'Most equal' if advice.is_best else 'More equal'} shares: {names}"
    words = ("Highest", "Higher") if measure.direction > 0 else ("Lowest", "Lower")
    return f"{words[not advice.is_best]} {phrase(measure, common)}: {names}"


def notes(what_if: "WhatIf") -> Iterator[str]:
    """Yield sentences on cases without a difference, and on whether more replications would
    help.
    """
    known = {run.case.name for run in what_if.runs if run.is_unchanged or run.never_acts}
    for case in what_if.cases:
        results = {c.difference.verdict for c in what_if.changes if c.case == case.name}
        if case.name in known or results & {"better", "worse", "different"}:
            continue
        if results <= {"identical"}:
            yield f'"{case.name}": identical in every replication, in all columns'
        elif results <= {"identical", "same"}:
            yield f'"{case.name}": same within the noise in all columns'
    yield from what_if.notes
    open_questions = [
        f"{'the calls' if measure is None else phrase(measure)} {in_case(what_if, name)}"
        for name, measure in what_if.undecided
    ]
    if open_questions:
        more = what_if.replications * MORE
        yield (
            f"hint: undecided: {listed(open_questions, 2)}; "
            f"--replications {more} narrows the intervals"
        )


def in_case(what_if: "WhatIf", name: str) -> str:
    """Return a case as a phrase for a sentence, such as ``with "fq"`` or ``as it is``."""
    return name if name == what_if.runs[0].case.name else f'with "{name}"'


def what_if_text(what_if: "WhatIf") -> str:
    """Return the short text of a what-if: the number of cases, and the verdicts on each case."""
    name = what_if.scenario.typed.name
    lines = [f"WhatIf({name!r}: {counted(len(what_if.cases), 'case')})"]
    for case in what_if.cases:
        results: list[str] = [
            each.difference.verdict for each in what_if.changes if each.case == case.name
        ]
        counts = {verdict: results.count(verdict) for verdict in WORDS}
        summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
        lines.append(f"{case.name}: {summary}")
    return cut(lines)


def what_if_page(what_if: "WhatIf") -> Page:
    """Return the page of a what-if: the conclusion, the mean values of the cases, and
    differences.
    """
    return Page(
        what_if.scenario.typed.name,
        about(what_if),
        [
            Table("", headers(what_if), value_rows(what_if)),
            Table(changes_title(what_if), CHANGES, difference_rows(what_if), names=3),
        ],
        notes=[*conclusion(what_if), *filter(None, [legend(what_if)]), *notes(what_if)],
        picture=what_if.plot,
        alt=f"cases of {what_if.scenario.typed.name}",
    )
