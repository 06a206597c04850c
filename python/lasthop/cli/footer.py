"""Short explanation below the tables of a run: where packets wait, and what limits the flows."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from lasthop.answers.answer import Answer
from lasthop.cli.screen import echo, screen_width
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import CsmaScenario
from lasthop.simulation.result import Result

__all__ = ["print_footer", "print_notes"]

MAX_FACTS = 3
"""Maximum number of facts, not counting the sentences on the utilisation of the wire."""

WIDEST = 80
"""Largest width to which facts are wrapped. [characters]"""


def print_footer(scenario: Scenario, answer: Answer) -> None:
    """Print facts about a finished run, and the `lasthop explain` command that tries changes.

    Nothing is simulated.
    """
    for line in footer(scenario, answer):
        echo(line)


def print_notes(notes: Sequence[str]) -> None:
    """Print notes about a finished run, wrapped to the width of the screen."""
    for note in notes:
        echo("\n".join(wrapped(f"note: {note}", "")))


def footer(scenario: Scenario, answer: Answer) -> Iterator[str]:
    """Yield the lines of the explanation below the tables."""
    from lasthop.explanation.facts import facts, read_facts
    from lasthop.explanation.line_use import line_use
    from lasthop.explanation.lines import fact_lines

    result = read_facts(facts(scenario, answer))
    lines = list(fact_lines(result, most_delays=2))[:MAX_FACTS]
    lines += line_use(scenario, answer, result)
    if isinstance(answer, Result) and any(flow.stream for flow in scenario.typed.tcp_flows):
        from lasthop.explanation.video import video_verdicts

        bad = ("never plays", "stalls")
        lines += [
            line
            for line in video_verdicts(answer)
            if line.partition(": ")[2].partition(":")[0] in bad
        ]
    if lines:
        yield "why:"
        for line in lines:
            yield from wrapped(line, "  ")
    is_explained = not isinstance(scenario.typed, CsmaScenario)
    if is_explained and not scenario.source.startswith("<"):
        from lasthop.explanation.unequal import is_unequal
        from lasthop.extras import first_install
        from lasthop.shell import command_text

        asked = ["lasthop", "explain", scenario.source]
        if isinstance(answer, Result) and is_unequal(answer):
            asked += ["--for", "fairness"]
        yield f"what helps: {command_text(asked)}{first_install('lasthop explain FILE')}"


def wrapped(line: str, indent: str) -> list[str]:
    """Return a line, wrapped to the width of the screen. Continuation lines have a larger
    indent.
    """
    return wrap(
        line,
        min(WIDEST, screen_width()),
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
