"""Verdicts on the claims of the papers as plain text, at most 80 columns wide and without
colour.
"""

from collections.abc import Mapping, Sequence
from textwrap import indent, wrap
from typing import Any

import typer

from lasthop.cli.screen import screen_width
from lasthop.scenario.from_json import read_as
from lasthop.studies.ledger import CAUSES
from lasthop.studies.messages import (
    BANDS,
    MessageRow,
    claims_by_cause,
    closeness_of,
    holds_text,
    summary,
)
from lasthop.studies.outcomes import CheckResult
from lasthop.studies.report import paper_value, predicted, simulated, tally
from lasthop.studies.reproduction import Reproduction

WIDTH = 78
"""Width of the text, unless the terminal is narrower. [characters]"""
HEADER = ("verdict", "paper", "predicted", "simulated", "check")


def print_ledger(reproduction: Reproduction) -> None:
    """Print all claims with verdict, checks and reason, then the messages and the totals."""
    results = reproduction.results
    for result in results:
        typer.echo(f"{result.claim.id}: {result.verdict.value} ({result.mark.value})")
        typer.echo("\n".join(_wrapped(result.claim.text)))
        _print_checks(result.checks)
        causes = [f"not reproduced; cause: {each}" for each in result.causes]
        for line in [*result.why.splitlines(), *causes]:
            typer.echo("\n".join(_wrapped(line)))
        for each in result.related:
            because = each.because[:1].upper() + each.because[1:]
            title = f"also judged, but not counted: {each.title}: {each.verdict.value}. {because}"
            typer.echo("\n".join(_wrapped(title)))
            _print_checks(each.checks)
        typer.echo()
    claims = [result.to_json() for result in results]
    for message in reproduction.messages:
        _print_message(read_as(MessageRow, message), claims)
    typer.echo(tally(results))
    typer.echo("\n".join(wrap(summary(reproduction.messages, claims, CAUSES), _width())))


def _print_message(message: MessageRow, claims: Sequence[Mapping[str, Any]]) -> None:
    """Print a message of a paper, whether it holds, and the margins of the claims that support
    it.
    """
    count = closeness_of(message, claims)
    typer.echo(f"{message.subject}: does the message hold? {holds_text(message)}")
    typer.echo("\n".join(_wrapped(message.text)))
    numbers = ", ".join(
        f"{each} within {100 * band:.0f} %" for each, band in zip(count.numbers, BANDS, strict=True)
    )
    counts = f"orders and shapes that hold: {count.orders}; reproduced numbers: {numbers}"
    typer.echo("\n".join(_wrapped(counts)))
    if why := claims_by_cause(message, claims):
        typer.echo("\n".join(_wrapped(f"claims not reproduced, by cause: {why}")))
    typer.echo()


def _width() -> int:
    return min(WIDTH, screen_width())


def _wrapped(text: str) -> list[str]:
    return wrap(text, _width(), initial_indent="  ", subsequent_indent="    ")


def _print_checks(checks: Sequence[CheckResult]) -> None:
    if any(check.simulated is not None or check.predicted for check in checks):
        typer.echo(_table(checks))
        for softer in dict.fromkeys(check.softer for check in checks if check.softer):
            typer.echo("\n".join(_wrapped(f"weaker than the paper's statement: {softer}")))


def _table(checks: Sequence[CheckResult]) -> str:
    """Return a table of all checks with their values; the wrapped statement is in the last
    column.
    """
    rows = [HEADER] + [
        (
            check.verdict.value,
            paper_value(check),
            predicted(check),
            simulated(check),
            check.what + (f" [{check.unit}]" if check.unit else ""),
        )
        for check in checks
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER) - 1)]
    room = max(24, _width() - sum(widths) - 2 * len(widths) - 2)
    lines = []
    for row in rows:
        first, *values = (
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=False))
        )
        start = "  ".join([first, *values])
        for text in wrap(row[-1], room):
            lines.append(f"{start}  {text}".rstrip())
            start = " " * len(start)
    return indent("\n".join(lines), "  ")
