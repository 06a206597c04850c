"""`lasthop what-if`."""

from pathlib import Path
from textwrap import wrap

import typer

from lasthop.answers.overwrite import refuse_foreign
from lasthop.answers.quantities import check_name
from lasthop.cli import options
from lasthop.cli.boundary import Interrupted, note, print_either
from lasthop.cli.limits import kept_disciplines
from lasthop.cli.options import File, counted, file_name, out_option, read_scenario, unset, writable
from lasthop.cli.picture import PLOT, changed, picture_path, save_picture, tell
from lasthop.cli.progress import batch_bar
from lasthop.cli.report import ANONYMISE, REPORT_FILE, report_path, save_report
from lasthop.cli.screen import screen_width
from lasthop.cli.tables import print_table
from lasthop.display.what_if import (
    CHANGES,
    about,
    changes_title,
    conclusion,
    difference_rows,
    headers,
    legend,
    notes,
    value_rows,
)
from lasthop.errors import UserError
from lasthop.extras import need
from lasthop.whatif.cases import (
    EXAMPLE,
    Case,
    all_cases,
    case_of_text,
    cases_of_file,
    scenarios_of,
)
from lasthop.whatif.what_if import FILES, REPLICATIONS, WhatIf, base_of
from lasthop.whatif.what_if import what_if as ask

WIDEST = 100
"""Largest width to which sentences are wrapped. [characters]"""


def what_if(
    file: File,
    case: list[str] | None = unset(
        '"NAME: PATH=VALUE; ..."',
        "Compare this case: a name and one or more settings, such as "
        '"fq: wire.queue.fq_codel={}"; repeatable.',
    ),
    cases: Path | None = unset(
        "FILE.toml",
        "Compare the cases of this file, with one table [case.NAME] per case and one setting "
        "per line.",
        parser=file_name,
    ),
    replications: str | None = unset(
        "N",
        "Run this many independent replications of each case, at least 2; by default "
        f"{REPLICATIONS}, or as many as the scenario sets if these are more.",
    ),
    seed: str | None = options.SEED,
    jobs: int | None = options.JOBS,
    settings: list[str] | None = options.SETTINGS,
    show: list[str] | None = unset(
        "NAME",
        "Compare this quantity, one column per item, such as flows.one_way_delay_p99_s; "
        "repeatable. By default delay and loss of each call, goodput in each direction, and "
        "Jain's index.",
    ),
    max_time: float | None = options.RUN_TIME,
    out: Path | None = out_option(
        "The files are what-if.json and tables of the differences. Finished "
        "simulations are kept there and reused. By default no files are written."
    ),
    plot: str | None = PLOT,
    report: Path | None = REPORT_FILE,
    anonymise: bool = ANONYMISE,
    as_json: bool = options.JSON,
) -> None:
    """Compare named cases of a scenario with the scenario as it is."""
    asked = asked_cases(case or [], cases)
    for name in show or ():
        check_name(name)
    given = read_scenario(file, settings, replications=replications, seed=seed)
    scenario = base_of(given, replications)
    need("lasthop what-if", *(() if out is None else ("lasthop what-if --out",)))
    known = set(kept_disciplines(scenario))
    for each in scenarios_of(scenario, asked).values():
        for line in kept_disciplines(each):
            if line not in known:
                note(f"note: {line}", err=True)
    if out is not None:
        writable(out)
        refuse_foreign(out, FILES)
    reported = report_path(report, anonymise, file)
    case_names = [("case", each.name) for each in asked]
    picture = picture_path(plot, scenario, "what-if", changed(given, *case_names), out)
    if picture is not None:
        need("a picture")
    with batch_bar(f"comparing {counted(len(asked), 'case')}") as progress:
        try:
            result = ask(
                scenario,
                asked,
                replications=scenario.typed.replications,
                show=show or (),
                directory=out,
                jobs=jobs,
                progress=progress,
                max_time_s=max_time,
            )
        except KeyboardInterrupt:
            remaining = "no simulation is kept" if out is None else "finished simulations are kept"
            again = None if out is None else "run the same command again to continue"
            raise Interrupted(f"not all cases are simulated; {remaining}", again) from None
    try:
        if out is not None:
            result.save(out)
    finally:  # The result is printed even if the disk is full.
        print_either(as_json, result.to_json, lambda: print_what_if(result))
    if out is not None:
        tell("comparison and tables", out, as_json=as_json)
    save_picture(result.plot, picture, as_json=as_json)
    save_report(result, reported, anonymise, as_json=as_json)


def asked_cases(texts: list[str], file: Path | None) -> list[Case]:
    """Return the cases of --case and --cases; raise an error if there is none."""
    if not texts and file is None:
        raise UserError("no case to compare: expected --case or --cases", EXAMPLE)
    results = [case_of_text(text) for text in texts]
    return all_cases([*results, *(cases_of_file(file) if file is not None else ())])


def print_what_if(result: WhatIf) -> None:
    """Print the conclusion, the means of each case, their differences, and notes."""
    cases = counted(len(result.cases), "case")
    typer.echo(f"{result.scenario.typed.name}: {cases} compared with the scenario as it is")
    typer.echo(about(result))
    for line in conclusion(result):
        echo_wrapped(line)
    typer.echo()
    print_table(headers(result), value_rows(result), most=None)
    if line := legend(result):
        echo_wrapped(line)
        typer.echo()
    if rows := difference_rows(result):
        echo_wrapped(f"{changes_title(result)}:")
        print_table(CHANGES, rows, names=3, most=None)
    for line in notes(result):
        echo_wrapped(line)


def echo_wrapped(line: str) -> None:
    """Print a sentence, wrapped to the width of the screen."""
    typer.echo("\n".join(wrap(line, min(screen_width() or WIDEST, WIDEST))))
