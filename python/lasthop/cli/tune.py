"""`lasthop tune`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from lasthop.cli.boundary import Interrupted
from lasthop.cli.options import (
    File,
    Jobs,
    Json,
    Replications,
    Seed,
    Settings,
    file_name,
    read_scenario,
    whole_number,
    writable,
)
from lasthop.cli.progress import stage_bar
from lasthop.digits import estimate, plain, signed
from lasthop.errors import UserError
from lasthop.tune import CONFIRM, GIVE_UP, TuneInterrupted, Tuning
from lasthop.tune import tune as search
from lasthop.tuning.measures import Estimate, estimated
from lasthop.tuning.search import Trial

__all__ = ["tune"]

SHOWN = {
    "goodput_bps": ("goodput", "Mb/s", 1e-6),
    "rtt_s": ("RTT", "ms", 1e3),
    "sojourn_s": ("AP delay", "ms", 1e3),
    "jain": ("Jain's index", "-", 1.0),
    "direction_jain": ("Jain's index of directions", "-", 1.0),
    "updown_ratio": ("up/down ratio", "-", 1.0),
    "worst_fairness_level": ("worst fairness level", "-", 1.0),
}
"""What the tables show, in their order: title, unit, and factor from the result's unit."""

COMPARED = ("goodput_bps", "rtt_s", "sojourn_s", "jain")
"""What is shown of every confirmed setting."""


def per_cent(text: str | float) -> float:
    """The value of --give-up; the default comes as a number."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < 100.0:
        raise typer.BadParameter(f'"{text}" is no percentage from 0 to below 100')
    return value


def candidates(text: str | int) -> int:
    """The value of --confirm; the default comes as a number."""
    return whole_number(str(text), 1, 1000, "a number of candidates")


def tune(
    file: File,
    objective: Annotated[
        str, typer.Option("--for", metavar="AIM", help="throughput, delay or fairness.")
    ],
    give_up: Annotated[
        float,
        typer.Option(
            metavar="PERCENT",
            parser=per_cent,
            help="What another aim may cost of the present goodput and of Jain's index.",
        ),
    ] = 100.0 * GIVE_UP,
    pifs: Annotated[
        bool, typer.Option("--pifs/--no-pifs", help="Whether the AP may use PIFS access.")
    ] = True,
    txop: Annotated[
        bool, typer.Option("--txop/--no-txop", help="Whether to search TXOP limits.")
    ] = True,
    confirm: Annotated[
        int,
        typer.Option(
            metavar="N", parser=candidates, help="Candidates to confirm by whole simulations."
        ),
    ] = CONFIRM,
    replications: Replications = None,
    seed: Seed = None,
    jobs: Jobs = None,
    settings: Settings = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=file_name,
            help="Write tuning.json, a picture, and the table as Parquet and CSV.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Find the contention windows, TXOP limits and AP access that serve a scenario best."""
    scenario = read_scenario(file, settings, replications=replications, seed=seed)
    if out is not None:
        writable(out)
    interrupted = None
    with stage_bar() as progress:
        try:
            found = search(
                scenario,
                objective,
                give_up=give_up / 100.0,
                pifs=pifs,
                txop=txop,
                confirm=confirm,
                jobs=jobs,
                progress=progress,
            )
        except TuneInterrupted as stop:
            interrupted, found = stop, stop.finished
        except UserError as error:
            raise UserError(f"--for: {error}", error.hint) from None
    try:
        if out is not None:
            found.save(out)
    finally:  # A full disk must not cost the result.
        if as_json:
            sys.stdout.write(found.to_json())
        else:
            print_tuning(found)
    if out is not None and not as_json:
        typer.echo(f"tables and picture: {out}")
    if interrupted is not None:
        raise Interrupted(str(interrupted))


def print_tuning(tuning: Tuning) -> None:
    """How it was searched, what was confirmed, what to set, and what that gains and costs."""
    from lasthop.cli.tables import print_table

    base = tuning.base
    typer.echo(f"{base['name']}: tuned for {tuning.objective}")
    for line in how_searched(tuning):
        typer.echo(line)
    typer.echo()
    if not tuning.confirmed:
        return
    shown = [name for name in COMPARED if name in tuning.present.samples]
    headers = ["AP / stations", "predicted\ngoodput\n[Mb/s]"]
    for name in shown:
        title, unit, _ = SHOWN[name]
        headers.append(f"{title.replace(' ', chr(10))}\n[{unit}]")
    print_table(headers, [table_row(tuning, trial, shown) for trial in tuning.confirmed])
    typer.echo("* chosen\n")
    if tuning.chosen is tuning.present:
        typer.echo("Nothing to set: no setting serves better than the present one.")
        return
    typer.echo(f"Set {tuning.chosen.name}, in the file:\n\n{tuning.toml}")
    options = [f"--set {path}={value}" for path, value in tuning.settings.items()]
    pairs = [" ".join(options[at : at + 2]) for at in range(0, len(options), 2)]
    typer.echo("or on the command line:\n\n" + " \\\n".join(pairs) + "\n")
    print_table(["against the present setting", "now", "then", "change"], list(gain_rows(tuning)))


def how_searched(tuning: Tuning) -> list[str]:
    """How many settings were looked at, and how."""
    trials = tuning.trials
    modelled = sum(trial.predicted is not None for trial in trials[1:])
    screened = sum(trial.screened is not None for trial in trials[1:])
    base = tuning.base
    lines = [f"{len(trials) - 1} settings"]
    if modelled:
        lines[0] += f", {modelled} ranked by model edca"
    lines[0] += f", {screened} tried by a short simulation,"
    runs = f"{base['replications']} x {base['duration_s']:g} s, seed {base['seed']}"
    confirmed = sum(trial is not tuning.present for trial in tuning.confirmed)
    lines.append(f"{confirmed} confirmed by {runs}; ± is a 95 % interval")
    if tuning.refusal is not None:
        lines.append(f"not ranked by the model: {tuning.refusal}")
    return lines


def table_row(tuning: Tuning, trial: Trial, shown: list[str]) -> list[str]:
    """One confirmed setting."""
    mark = " *" if trial is tuning.chosen else ""
    guess = (trial.predicted or {}).get("goodput_bps")
    return [
        f"{trial.name}{mark}",
        plain(None if guess is None else guess * 1e-6),
        *(scaled(estimated(trial.samples).get(name), SHOWN[name][2]) for name in shown),
    ]


def gain_rows(tuning: Tuning) -> list[list[str]]:
    """Every quantity now and then, and the change with the interval of its paired difference."""
    now, then = estimated(tuning.present.samples), estimated(tuning.chosen.samples)
    rows = []
    for name, (title, unit, scale) in SHOWN.items():
        if name not in tuning.gains:
            continue
        change = tuning.gains[name]
        half = None if change.ci95 is None else change.ci95 * scale
        text = signed(change.mean * scale, half)
        if half:
            text += f" ± {estimate(half, half).partition(' ')[0]}"
        if now[name].mean:
            text += f" ({100 * change.mean / now[name].mean:+.1f} %)"
        rows.append(
            [f"{title} [{unit}]", scaled(now[name], scale), scaled(then.get(name), scale), text]
        )
    return rows


def scaled(value: Estimate | None, scale: float) -> str:
    """An estimate as text."""
    if value is None:
        return "-"
    return estimate(value.mean * scale, None if value.ci95 is None else value.ci95 * scale)
