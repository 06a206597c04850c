"""Short explanation below the tables of a run: where packets wait, and what limits the flows."""

import shlex
from collections.abc import Iterator
from textwrap import wrap

import typer

from lasthop.answer import Answer
from lasthop.cli.screen import screen_width
from lasthop.scenario import Scenario

__all__ = ["print_footer"]

MOST_FACTS = 3
"""Most facts."""

WIDEST = 80
"""Width at which a fact is wrapped, unless the screen is narrower. [characters]"""


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

    lines = list(fact_lines(facts(scenario, answer), most_delays=2))[:MOST_FACTS]
    if lines:
        yield "why:"
        for line in lines:
            yield from wrap(
                line,
                min(WIDEST, screen_width()),
                initial_indent="  ",
                subsequent_indent="    ",
                break_long_words=False,
                break_on_hyphens=False,
            )
    if not scenario.source.startswith("<"):
        yield f"what helps: lasthop explain {shlex.quote(scenario.source)}"
