"""`lasthop explain`."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap

import typer

from lasthop.cli import options
from lasthop.cli.boundary import Interrupted, simulating
from lasthop.cli.options import flag, read_scenario, unset, whole_number
from lasthop.cli.screen import screen_width
from lasthop.errors import UserError

WIDEST = 100
"""Largest width to which text is wrapped. [characters]"""


def replications_asked(text: str) -> int:
    """Return the number from --replications."""
    return whole_number(text, 2, 1000, "a number of replications")


def explain(
    given: list[str] | None = typer.Argument(
        None,
        metavar="FILE|TERM",
        help="Scenario file, or the name of a term, quantity, key, assumption or claim, such as "
        "Jain, a1 or acsma-4.",
        show_default=False,
    ),
    objective: str | None = unset(
        "AIM",
        "Improve calls, delay, video, throughput or fairness; by default what suits the traffic "
        "of the scenario, such as calls if it has calls.",
        "--for",
    ),
    target: str | None = unset(
        "NAME", "Improve this station or flow; by default all of them.", "--target"
    ),
    replications: int | None = unset(
        "N",
        "Confirm each change by N pairs of runs; by default 12, and fewer if a run is long.",
        parser=replications_asked,
    ),
    seed: str | None = options.SEED,
    jobs: int | None = options.JOBS,
    settings: list[str] | None = options.SETTINGS,
    max_time: float | None = options.RUN_TIME,
    list_only: bool = flag(
        "--list", "List the causes that may apply, with their edits, without simulating them."
    ),
    rules: bool = flag("--rules", "Print the table of causes."),
    term: bool = flag("--term", "Explain a term, even if a file has this name."),
    terms: bool = flag("--terms", "List the names of all terms."),
    as_json: bool = options.JSON,
) -> None:
    """Explain a scenario, with the changes that help; or explain a term.

    If the argument is a file, it is a scenario. The command prints where packets wait, what limits
    each flow, and which station costs most air time. Then it simulates changes in pairs of runs,
    and prints the first cause and each change that helps.

    Any other argument is a term. Capitals, hyphens and the plural make no difference. All entries
    with the name are printed.
    """
    words = given or []
    if rules:
        print_rules(as_json=as_json)
        return
    if terms or term or not is_file(words):
        explain_term(words, terms=terms, as_json=as_json)
        return
    [file] = words
    scenario = read_scenario(file, settings, seed=seed)
    from lasthop.cli.progress import share_bar
    from lasthop.explanation.run import examine
    from lasthop.explanation.text import candidate_lines, comparison_lines, run_lines
    from lasthop.extras import need

    need("lasthop explain FILE")
    with simulating() as progress:
        result = examine(
            scenario,
            objective=objective,
            target=target,
            jobs=jobs,
            progress=progress,
            max_time_s=max_time,
        )
    if not as_json:
        print_lines(run_lines(result))
    if not list_only:
        with share_bar("comparing changes") as share:
            try:
                result.compare(
                    replications=replications, jobs=jobs, progress=share, max_time_s=max_time
                )
            except KeyboardInterrupt:
                raise Interrupted("no change was compared") from None
    if as_json:
        typer.echo(result.to_json(), nl=False)
    else:
        print_lines(candidate_lines(result) if list_only else comparison_lines(result))


def is_file(words: Sequence[str]) -> bool:
    """Return whether the arguments are one file name. The file must exist, or its name must have
    the suffix of a scenario file.
    """
    if len(words) != 1:
        return False
    [word] = words
    return word == "-" or word.endswith((".toml", ".json")) or Path(word).is_file()


def explain_term(words: Sequence[str], *, terms: bool, as_json: bool) -> None:
    """Print the glossary entries of a term, or all terms."""
    from lasthop.cli.explain_term import print_names, print_term

    if terms:
        print_names(as_json=as_json)
    elif not words:
        raise UserError(
            "missing argument FILE or TERM: expected a scenario, or a name such as Jain, TXOP or "
            "a1",
            "run `lasthop explain --terms` for all names",
        )
    else:
        print_term(" ".join(words), as_json=as_json)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines; wrap them unless they are commands or settings."""
    width = min(screen_width() or WIDEST, WIDEST)
    for line in lines:
        text = line.lstrip()
        if not text or text.startswith(("lasthop ", "--set ")):
            typer.echo(line)
            continue
        indent = " " * (len(line) - len(text))
        for part in wrap(text, width, initial_indent=indent, subsequent_indent=indent + "  "):
            typer.echo(part)


def print_rules(*, as_json: bool) -> None:
    """Print the table of the causes that `explain` examines."""
    import json

    from lasthop.explanation.facts import rules

    table = rules()
    if as_json:
        typer.echo(json.dumps([asdict(rule) for rule in table], indent=2))
        return
    for rule in table:
        typer.echo(f"{rule.id}: {rule.title} ({', '.join(rule.objectives)})")
        for text in (f"applies: {rule.applies}", f"edit: {rule.edit}"):
            for line in wrap(text, WIDEST, initial_indent="  ", subsequent_indent="    "):
                typer.echo(line)
