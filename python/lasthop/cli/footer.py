"""Short explanation below the tables of a run: where packets wait, and what limits the flows."""

import shlex
from collections.abc import Iterator

import typer

from lasthop.answer import Answer
from lasthop.scenario import Scenario

__all__ = ["print_footer"]

MOST_LINES = 3
"""Most lines on facts. [lines]"""


def print_footer(scenario: Scenario, answer: Answer) -> None:
    """Print what a finished run explains, and the command that explains more.

    Nothing is simulated.
    """
    for line in footer(scenario, answer):
        typer.echo(line)


def footer(scenario: Scenario, answer: Answer) -> Iterator[str]:
    """Yield the lines of the short explanation."""
    from lasthop.explanation.facts import facts
    from lasthop.explanation.lines import fact_lines

    lines = list(fact_lines(facts(scenario, answer), most_delays=2))[:MOST_LINES]
    if lines:
        yield "why:"
        yield from (f"  {line}" for line in lines)
    if not scenario.source.startswith("<"):
        yield f"what helps: lasthop explain {shlex.quote(scenario.source)}"
