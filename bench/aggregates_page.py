"""Write the tables of the comparison with ns-3 in docs/validation.md and README.md."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from aggregates_cases import Case
from aggregates_compared import Compared
from pages import rewrite, table

from lasthop.answers.estimates import Estimate

HERE = Path(__file__).parent
VALIDATION, README = HERE.parent / "docs" / "validation.md", HERE / "README.md"
GOODPUT, RULES, COST = (
    "Aggregates compared with ns-3",
    "Aggregates compared with ns-3: collisions",
    "Aggregates of 802.11n, ac and ax",
)
"""Titles of the sections that contain the tables."""


def write(
    compared: Iterable[Compared],
    rules: Iterable[Compared],
    costs: Iterable[tuple[Case, Mapping[str, Any]]],
) -> None:
    """Write the tables of both pages."""
    goodputs = ("goodput, ns-3 [Mb/s]", "goodput, lasthop with the rules of ns-3 [Mb/s]")
    head = (
        "cell, traffic, stations",
        *goodputs,
        "Jain's index, ns-3",
        "Jain's index, lasthop with the rules of ns-3",
        "goodput, lasthop by the standard [Mb/s]",
    )
    of_rules = ("cell, traffic, stations, rule", *goodputs)
    rewrite(
        VALIDATION,
        {
            GOODPUT: table(head, (row(each) for each in compared)),
            RULES: table(of_rules, (row(each)[:3] for each in rules)),
        },
    )
    of_costs = (
        "cell",
        "ns-3 [us/segment]",
        "lasthop [us/segment]",
        "cost of ns-3 / lasthop, median of the rounds",
        "this ratio, least to greatest round",
    )
    rewrite(README, {COST: table(of_costs, (tuple(cost_row(case, seen)) for case, seen in costs))})


def row(compared: Compared) -> Sequence[str]:
    """Return the table row of a case, with the results of both simulators."""
    peer, mine = compared.peer, compared.ours
    return (
        compared.case.title,
        mbps(peer.goodput_bps),
        f"{mbps(mine.goodput_bps)} ({compared.relative_difference:+.1%})",
        *("" if index is None else f"{index.mean:.3f}" for index in (peer.jain, mine.jain)),
        mbps(compared.standard.goodput_bps),
    )


def mbps(goodput_bps: Estimate) -> str:
    """Return a goodput with its confidence interval as text. [Mb/s]"""
    half = "" if goodput_bps.ci95 is None else f" ± {goodput_bps.ci95 / 1e6:.1f}"
    return f"{goodput_bps.mean / 1e6:.1f}{half}"


def cost_row(case: Case, seen: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """Yield the table cells with the cost of a segment in both simulators."""
    ratios = [theirs / mine for mine, theirs in zip(seen["ours_us"], seen["peer_us"], strict=True)]
    yield re.sub(r", (\d+)$", r", \1 stations", case.name)
    yield f"{median(seen['peer_us']):.0f}"
    yield f"{median(seen['ours_us']):.3f}"
    yield f"{median(ratios):.0f}"
    yield f"{min(ratios):.0f} to {max(ratios):.0f} in {len(ratios)} rounds"
