"""What-if questions as text and tables: values, differences, and verdicts in words."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lasthop.digits import decimals, estimate, plain, signed, span
from lasthop.display.columns import Column, column_of
from lasthop.display.page import Table, page
from lasthop.display.text import counted, cut

if TYPE_CHECKING:
    from lasthop.paired import Measure
    from lasthop.whatif.what_if import Change, WhatIf

__all__ = [
    "about",
    "difference_rows",
    "headers",
    "intervals",
    "label",
    "sentences",
    "title",
    "value_rows",
    "what_if_html",
    "what_if_text",
]

SAME = "same within the noise"
BEST = "* best of its column; cases that share the mark are the same within the noise"

WORDS = {
    "better": "better",
    "worse": "worse",
    "different": "different",
    "same": SAME,
    "identical": "identical in every replication",
    "unknown": "without a value to compare",
}
"""Verdicts in words, in the order of the sentences."""

MORE = "more replications narrow the intervals: --replications N"

OF_PERCENTILES = {
    "completion_p95_s": "completion",
    "one_way_delay_p99_s": "delay",
    "ping_rtt_p95_s": "ping RTT",
    "report_delay_p95_s": "report delay",
    "rtt_p95_s": "RTT",
    "rtt_p99_s": "RTT",
    "sojourn_p99_s": "sojourn time",
}
"""Names of the quantities whose column has only the title of a percentile."""

LONG_NAME = 12
"""Length at which the name of an item is broken after a slash. [characters]"""


def shown(measure: "Measure") -> Column:
    """Return title, unit and scale of a column."""
    return column_of(measure.list_name, measure.quantity)


def title(measure: "Measure") -> str:
    """Return the title of a column; that of a percentile begins with its quantity."""
    found = shown(measure).title
    of = OF_PERCENTILES.get(measure.quantity)
    return found if of is None else f"{of} ({found})"


def label(measure: "Measure") -> str:
    """Return the name and the title of a column on one line."""
    return f"{measure.name} {title(measure)}"


def header(measure: "Measure") -> str:
    """Return the name over the title over the unit, with line breaks."""
    name = measure.name
    first, slash, rest = name.partition("/")
    if measure.label:
        name = name.replace(" ", "\n")
    elif slash and len(name) > LONG_NAME:
        name = f"{first}/\n{rest}"
    of = OF_PERCENTILES.get(measure.quantity)
    return "\n".join(filter(None, [name, of, shown(measure).header]))


def headers(what_if: "WhatIf") -> list[str]:
    """Return the headers of a table with a row per case and a column per measure."""
    return ["case", *(header(measure) for measure in what_if.measures)]


def about(what_if: "WhatIf") -> str:
    """Return the runs of a question: replications, duration, warm-up and seed."""
    typed = what_if.scenario.typed
    return (
        f"{typed.replications} x {span(typed.duration_s)} per case, first {typed.warmup_s:g} s "
        f"cut, seed {typed.seed}; ± is a 95 % interval"
    )


def intervals(what_if: "WhatIf") -> str:
    """Return a sentence on the intervals of the differences."""
    count = what_if.comparisons
    if count == 1:
        return "± is a 99 % interval of the paired difference"
    return f"± is an interval; all {count} hold at the same time with a probability of 99 %"


def value_rows(what_if: "WhatIf") -> list[list[str]]:
    """Return a row per case with its means; the best of each column has a star."""
    best = {(each.case, each.measure.key) for each in what_if.changes if each.is_best}
    rows = []
    for run in what_if.runs:
        name = run.case.name
        row = [name]
        for measure in what_if.measures:
            found = what_if.estimate(name, measure)
            scale = shown(measure).scale
            half = None if found is None or found.ci95 is None else found.ci95 * scale
            text = "-" if found is None else estimate(found.mean * scale, half)
            row.append(f"* {text}" if (name, measure.key) in best else text)
        rows.append(row)
    return rows


def difference_rows(what_if: "WhatIf") -> list[list[str]]:
    """Return a row per case with its differences; ``same`` and ``identical`` in words."""
    count = len(what_if.measures)
    return [
        [case.name, *map(cell, what_if.changes[at * count : (at + 1) * count])]
        for at, case in enumerate(what_if.cases)
    ]


def cell(change: "Change") -> str:
    """Return a difference with its interval, or the word for none."""
    match change.difference.verdict:
        case "unknown":
            return "-"
        case "identical":
            return "identical"
        case "same":
            return f"same ({difference(change)})"
    return difference(change)


def difference(change: "Change") -> str:
    """Return a difference with its interval, in the unit of the column."""
    found, scale = change.difference, shown(change.measure).scale
    mean, half = (found.mean or 0.0) * scale, (found.half or 0.0) * scale
    if not half:
        return signed(mean)
    return f"{signed(mean, half)} ± {half:.{decimals(mean, half)}f}"


def sentences(what_if: "WhatIf") -> Iterator[str]:
    """Yield each case's verdicts in words, one line per verdict, and notes.

    A line of a case after its first begins with two spaces.
    """
    count = len(what_if.measures)
    told = {note.partition(":")[0] for note in what_if.notes if ": no change:" in note}
    for at, case in enumerate(what_if.cases):
        if case.name in told:
            continue
        changes = what_if.changes[at * count : (at + 1) * count]
        if all(each.difference.verdict == "identical" for each in changes):
            yield f"{case.name}: {WORDS['identical']}, in all columns"
            continue
        yield f"{case.name}:"
        for verdict, words in WORDS.items():
            found = [each for each in changes if each.difference.verdict == verdict]
            if found:
                yield f"  {words}: {'; '.join(map(in_words, found))}"
    yield from what_if.notes
    if not any(each.difference.is_beyond for each in what_if.changes):
        yield f"No case differs from {what_if.runs[0].case.name} beyond the noise."
    if any(each.difference.verdict == "same" for each in what_if.changes):
        yield f"hint: {MORE}"


def in_words(change: "Change") -> str:
    """Return a column's name, with both values if they differ beyond the interval."""
    name, found = label(change.measure), change.difference
    if not found.is_beyond:
        return name
    column = shown(change.measure)
    unit = f" {column.unit}" if column.unit not in ("", "-") else ""
    values = [plain((value or 0.0) * column.scale) for value in (found.case, found.base)]
    return f"{name} {values[0]}{unit} instead of {values[1]}{unit}"


def what_if_text(what_if: "WhatIf") -> str:
    """Return the number of cases, and the verdicts of each case."""
    name = what_if.scenario.typed.name
    lines = [f"WhatIf({name!r}: {counted(len(what_if.cases), 'case')})"]
    for case in what_if.cases:
        verdicts: list[str] = [
            each.difference.verdict for each in what_if.changes if each.case == case.name
        ]
        counts = {verdict: verdicts.count(verdict) for verdict in WORDS}
        told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
        lines.append(f"{case.name}: {told}")
    return cut(lines)


def what_if_html(what_if: "WhatIf") -> str:
    """Return the values and the differences of the cases, and verdicts in words."""
    heads: Sequence[str] = headers(what_if)
    return page(
        what_if.scenario.typed.name,
        about(what_if),
        [
            Table("", heads, value_rows(what_if)),
            Table(f"differences; {intervals(what_if)}", heads, difference_rows(what_if)),
        ],
        notes=[BEST, *sentences(what_if)],
        picture=what_if.plot,
        alt=f"cases of {what_if.scenario.typed.name}",
    )
