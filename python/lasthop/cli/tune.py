"""`lasthop tune`."""

from collections.abc import Sequence
from math import nextafter
from pathlib import Path
from textwrap import wrap
from typing import Annotated

import typer

from lasthop.answers.digits import estimate, plain, signed
from lasthop.answers.estimates import estimate_text
from lasthop.answers.overwrite import refuse_foreign
from lasthop.cli.announcing import Announcer, announce
from lasthop.cli.boundary import Interrupted, print_either, warn
from lasthop.cli.elsewhere import CLUSTER, ON_SLURM, SLURM_OPTIONS, workers
from lasthop.cli.options import (
    JOBS,
    JSON,
    REPLICATIONS,
    SEED,
    SETTINGS,
    File,
    counted,
    flag,
    out_option,
    preset,
    read_scenario,
    stem,
    unset,
    whole_number,
    writable,
)
from lasthop.cli.picture import PLOT, changed, picture_path, save_picture, tell
from lasthop.cli.progress import stage_bar
from lasthop.cli.report import ANONYMISE, REPORT_FILE, report_path, save_report
from lasthop.cli.tables import print_table
from lasthop.errors import ScenarioError, UserError, listed
from lasthop.extras import need
from lasthop.tuning.bounds import GIVE_UP, MIN_JAIN
from lasthop.tuning.calls import calls_of
from lasthop.tuning.categories import CATEGORIES, categories_in_use, delay_quantity
from lasthop.tuning.costs import changed as changed_in_words
from lasthop.tuning.measures import estimated
from lasthop.tuning.objectives import OBJECTIVES, Evenness, spread
from lasthop.tuning.search import ProgressCallback, TuneProgress
from lasthop.tuning.settings import counts_are_no_times
from lasthop.tuning.shown import SHOWN
from lasthop.tuning.trial import Trial
from lasthop.tuning.tune import CONFIRM, TUNING_FILES, TuneInterrupted, Tuning
from lasthop.tuning.tune import tune as search

COMPARED = (
    "calls",
    "beside_calls_goodput_bps",
    "goodput_bps",
    "rtt_s",
    "sojourn_s",
    *(delay_quantity(category) for category in CATEGORIES),
    "jain",
)
"""Quantities in the first printed table, for settings that full simulations confirmed."""

CONFIGURATIONS = ("hostapd",)
"""Accepted values of --write."""

COUNTED = ("starved_flows", "starving_stations", "longest_starved_s")
"""Quantities that are omitted if they are 0 both at present and with the recommended setting."""

HIDDEN_BY_AVERAGES = ("jain_p05", "longest_starved_s", "sojourn_p99_s", "one_way_delay_p99_s")
"""Quantities in the second printed table: percentiles and starvation."""


LINE_WIDTH = 88
"""Width to which sentences below a table are wrapped. [characters]"""

LONG_TITLE = 12
"""Width to which a long column title is wrapped. [characters]"""

MAX_LINES = 3
"""Maximum number of words of a title that has one word per line. A title with more words is wrapped
to `LONG_TITLE`.
"""


def aim(text: str) -> str:
    """Check the value of --for, the aim of the search."""
    if text not in OBJECTIVES:
        raise typer.BadParameter(f'"{text}": expected one of {", ".join(OBJECTIVES)}')
    return text


def access_category(text: str) -> str:
    """Check the value of --category, an access category."""
    if text not in CATEGORIES:
        raise typer.BadParameter(f'"{text}": expected one of {", ".join(CATEGORIES)}')
    return text


def number(text: str | float, most: float, what: str) -> float:
    """Return a number from 0 to `most` from an option's text, or from its default, which is a
    number.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= most:
        raise typer.BadParameter(f'"{text}": expected {what}')
    return value


def per_cent(text: str | float) -> float:
    """Return the percentage from --give-up. [%]"""
    return number(text, nextafter(100.0, 0.0), "a percentage from 0 to below 100")


def jain_index(text: str | float) -> float:
    """Return Jain's index from --min-jain. [-]"""
    return number(text, 1.0, "Jain's index from 0 to 1")


def configuration(text: str) -> str:
    """Check the value of --write."""
    if text not in CONFIGURATIONS:
        raise typer.BadParameter(f'"{text}": expected {", ".join(CONFIGURATIONS)}')
    return text


def candidates(text: str | int) -> int:
    """Return the number of candidates from --confirm, or from its default, which is a number."""
    return whole_number(str(text), 1, 1000, "a number of candidates")


def tune(
    file: File,
    objective: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="AIM",
            parser=aim,
            help="Optimise throughput, delay, fairness or calls.",
        ),
    ],
    category: str | None = unset(
        "NAME",
        "Search the parameters of this access category; by default the category of most TCP "
        "connections.",
        parser=access_category,
    ),
    give_up: float = preset(
        100.0 * GIVE_UP,
        "PERCENT",
        "Rule out settings that worsen the goodput or Jain's index by more than this "
        "percentage. With the aims throughput and delay, the limit also applies to each "
        "flow's mean RTT and its 99th percentile, and to each station's goodput.",
        parser=per_cent,
    ),
    min_jain: float = preset(
        MIN_JAIN,
        "X",
        "Rule out settings with a lower 5th percentile of Jain's index over windows of 1 "
        "s. If the percentile of the present setting is lower, it is the limit.",
        parser=jain_index,
    ),
    pifs: bool = flag(
        "--pifs/--no-pifs",
        "Try PIFS access of the AP, or do not try it. Default: try it.",
        default=True,
    ),
    txop: bool = flag(
        "--txop/--no-txop",
        "Search TXOP limits, or do not search them. Default: search them.",
        default=True,
    ),
    write: str | None = unset(
        "FORM",
        "Also print the setting as lines of a configuration file. The only FORM is hostapd.",
        parser=configuration,
    ),
    confirm: int = preset(
        CONFIRM, "N", "Confirm N candidates by full simulations.", parser=candidates
    ),
    replications: str | None = REPLICATIONS,
    seed: str | None = SEED,
    jobs: int | None = JOBS,
    cluster: str | None = CLUSTER,
    on_slurm: bool = ON_SLURM,
    slurm_options: list[str] | None = SLURM_OPTIONS,
    settings: list[str] | None = SETTINGS,
    out: Path | None = out_option(
        "The files are tuning.json, hostapd.conf, tables and a picture, if a "
        "setting is recommended. Finished simulations are kept there and reused. By default "
        "no files are written."
    ),
    plot: str | None = PLOT,
    report: Path | None = REPORT_FILE,
    anonymise: bool = ANONYMISE,
    as_json: bool = JSON,
) -> None:
    """Find the contention windows, TXOP limits and AP access that are best for an aim."""
    scenario = read_scenario(file, settings, replications=replications, seed=seed)
    need("lasthop tune", *(() if out is None else ("lasthop tune --out",)))
    if out is not None:
        writable(out)
        refuse_foreign(out, TUNING_FILES)
    usual = {"give-up": 100.0 * GIVE_UP, "min-jain": MIN_JAIN, "confirm": CONFIRM}
    given = {"give-up": give_up, "min-jain": min_jain, "confirm": confirm}
    reported = report_path(report, anonymise, file)
    picture = picture_path(
        plot,
        scenario,
        f"tune-{objective}",
        changed(
            scenario,
            ("category", category),
            *((name, f"{value:g}") for name, value in given.items() if value != usual[name]),
            *((name, "no") for name, on in (("pifs", pifs), ("txop", txop)) if not on),
        ),
        out,
    )
    used = categories_in_use(scenario)
    if used and objective == "calls":
        used = categories_in_use(calls_of(scenario).alongside(scenario))
    if category is not None and category not in used:
        raise UserError(
            f"--category {category}: no flow uses this category: expected {' or '.join(used)}"
        )
    interrupted = None
    folder = Path("out") / f"{stem(scenario)}-tune" if out is None else out
    with (
        workers(cluster, on_slurm, slurm_options, jobs, folder) as executor,
        stage_bar() as draw,
    ):
        try:
            tuning = search(
                scenario,
                objective,
                category=category,
                give_up=give_up / 100.0,
                min_jain=min_jain,
                pifs=pifs,
                txop=txop,
                confirm=confirm,
                jobs=jobs,
                executor=executor,
                directory=out,
                progress=announcing(draw),
            )
        except TuneInterrupted as stop:
            interrupted, tuning = stop, stop.finished
    written: list[Path] = []
    try:
        if out is not None:
            written = tuning.save(out)
    finally:  # The result is printed even if the disk is full.
        print_either(as_json, tuning.to_json, lambda: print_tuning(tuning, write))
    if out is not None:
        what = (
            files_in_words(written)
            if written
            else "finished simulations, without a recommended setting"
        )
        tell(what, out, as_json=as_json)
    if picture is not None and not tuning.confirmed:
        warn(f"{picture}: not drawn: no setting was confirmed")
    else:
        save_picture(tuning.plot, picture, as_json=as_json)
    save_report(tuning, reported, anonymise, as_json=as_json)
    if interrupted is not None:
        raise Interrupted(str(interrupted))


def announcing(draw: ProgressCallback | None) -> ProgressCallback:
    """Return a callback that draws progress and announces a long search and its long stages."""
    stages = dict[str, Announcer]()

    def hear(progress: TuneProgress) -> bool | None:
        if about_s := progress["about_s"]:
            if not stages:
                so_far = progress["so_far"] and f", so far {progress['so_far']}"
                what = f"searching up to {progress['settings']} settings{so_far}"
                announce(what, about_s, "about")
            stage = f"{progress['stage']} {progress['candidates']} settings"
            if stage not in stages:
                stages[stage] = Announcer(stage, about_s)
            stages[stage].hear(progress["done"], progress["candidates"])
        return None if draw is None else draw(progress)

    return hear


def files_in_words(written: Sequence[Path]) -> str:
    """Return a text about written files: tables and the picture by kind, other files by name."""
    kinds = {".csv": "tables", ".parquet": "tables", ".png": "picture"}
    *most, last = dict.fromkeys(kinds.get(path.suffix, path.name) for path in written)
    return f"{', '.join(most)} and {last}"


def print_tuning(tuning: Tuning, write: str | None = None) -> None:
    """Print a search: settings that full simulations confirmed, the recommendation, its gains and
    its costs.
    """
    base = tuning.base
    what = "" if categories_in_use(base) == ["best-effort"] else f", category {tuning.category}"
    typer.echo(f"{base.typed.name}: tuned for {tuning.objective}{what}")
    for line in how_searched(tuning):
        typer.echo(line)
    typer.echo()
    if tuning.confirmed:
        print_confirmed(tuning, COMPARED, predicted_quantity(tuning))
        typer.echo("Quantities that averages hide:\n")
        print_confirmed(tuning, HIDDEN_BY_AVERAGES)
        out = any(tuning.objection(trial) for trial in tuning.confirmed)
        typer.echo("* chosen" + (", x ruled out" if out else "") + "\n")
    for line in delays(tuning):
        typer.echo(line)
    if not tuning.recommended:
        typer.echo(tuning.verdict)
        return
    print_setting(tuning, write)
    print_table(["quantity", "present", "recommended", "change"], list(gain_rows(tuning)))
    for line in spreads(tuning):
        typer.echo(line)
    for title, lines in (
        ("Costs", tuning.costs),
        ("Stations with less goodput", loss_lines(tuning)),
    ):
        if lines:
            typer.echo("\n".join([f"{title}:", *(f"- {line}" for line in lines), ""]))


def print_setting(tuning: Tuning, write: str | None) -> None:
    """Print the recommended setting as TOML, as --set options, and as hostapd.conf if `write` is
    given.
    """
    typer.echo(f"Set {tuning.chosen.name}, in these tables of the file:\n\n{tuning.toml}")
    options = [f"--set {path}={value}" for path, value in tuning.settings.items()]
    pairs = [" ".join(options[at : at + 2]) for at in range(0, len(options), 2)]
    typer.echo("or on the command line:\n\n" + " \\\n".join(pairs) + "\n")
    if write is not None:
        print_hostapd(tuning)
    elif counts_are_no_times(tuning.base, list(tuning.settings.items())):
        typer.echo(
            "These TXOP limits are numbers of packets. Access points limit TXOPs in time, so that\n"
            "stations with high rates or short packets send more packets. Try cell.txop_limit and\n"
            "cell.ap.txop_limit first.\n"
        )
    checked = tuning.chosen.checked
    if checked is not None:
        typer.echo(
            f"Compared with the present setting by {checked.result.replications} x "
            f"{tuning.base.typed.duration_s:g} s with fresh seeds, seed {checked.result.seed}:\n"
        )


def delays(tuning: Tuning) -> list[str]:
    """Return lines about a delay outside the cell, and about the delays of calls."""
    lines = []
    if tuning.elsewhere is not None:
        lines.append("The delay does not arise at the access point:")
        lines += [f"- {tuning.elsewhere.text}", ""]
    if tuning.call_delays:
        calls = " and ".join(each.text for each in tuning.call_delays)
        aim = "finds a setting for calls"
        if tuning.elsewhere is not None:
            aim = "maximises the number of calls, and cannot shorten that delay"
        lines += [f"Delay of the calls: {calls}; `--for calls` {aim}", ""]
    return lines


def loss_lines(tuning: Tuning) -> list[str]:
    """Return a line for each station whose goodput loss exceeds the interval of the change."""
    return [
        changed_in_words(each.station, each.now_bps * 1e-6, each.then_bps * 1e-6, "Mb/s")
        for each in tuning.losers
    ]


def print_hostapd(tuning: Tuning) -> None:
    """Print lines for hostapd.conf, and the results with the rounded values of these lines."""
    typer.echo(f"For hostapd.conf:\n\n{tuning.hostapd}")
    try:
        chosen, written = estimated(tuning.chosen.samples), tuning.as_hostapd
    except ScenarioError as error:
        first = str(error).partition("\n")[0]
        typer.echo(f"Not simulated with these lines: {first}\n")
        return
    rows = [
        [
            shown.head,
            estimate_text(chosen[name], shown.scale),
            estimate_text(written.get(name), shown.scale),
        ]
        for name, shown in SHOWN.items()
        if name in chosen and name in (*COMPARED, *HIDDEN_BY_AVERAGES) and name in written
    ]
    print_table(["quantity", "recommended", "hostapd.conf"], rows)


def print_confirmed(tuning: Tuning, quantities: Sequence[str], guessed: str | None = None) -> None:
    """Print quantities of settings that full simulations confirmed; `guessed` is a predicted
    quantity.
    """
    shown = [name for name in quantities if name in tuning.present.samples]
    headers = ["AP / stations", *([head(guessed, "predicted ")] if guessed else [])]
    headers += [head(name) for name in shown]
    rows = [table_row(tuning, trial, guessed, shown) for trial in tuning.confirmed]
    print_table(headers, rows)


def how_searched(tuning: Tuning) -> list[str]:
    """Return lines on the number of examined settings, and on settings that were left out."""
    trials = tuning.trials[1:]
    modelled = sum(trial.predicted is not None for trial in trials)
    screened = sum(trial.screened is not None for trial in trials)
    base = tuning.base.typed
    lines = [f"{len(trials)} settings"]
    if modelled:
        lines[0] += f", {modelled} ranked by model edca"
    lines[0] += f", {screened} simulated briefly,"
    confirmed = sum(trial is not tuning.present for trial in tuning.confirmed)
    runs = f"{base.replications} x {base.duration_s:g} s, seed {base.seed}"
    interval = "± is a 95 % interval"
    if base.replications < 2:
        interval = "one replication has no interval: the result may be chance"
    lines.append(f"{confirmed} confirmed by {runs}; {interval}")
    lines += unsupported_by_model(tuning, modelled)
    lines += fairness_stations(tuning)
    if tuning.calls is not None:
        lines.append(f"calls: {tuning.calls.what}; all other columns are for one call")
    lines += [f"unexpected: {each}" for each in tuning.irregular]
    lines += [f"not searched: {each.what}: {each.why}" for each in tuning.left_out]
    lines += [
        f"ruled out: {counted(len(names), 'setting')} because of {why}"
        for why, names in tuning.ruled_out.items()
    ]
    return lines


def fairness_stations(tuning: Tuning) -> list[str]:
    """Return lines on the stations whose goodputs enter the fairness index, if the aim is fairness.

    The lines also report if these stations change between settings."""
    if tuning.objective != "fairness":
        return []
    now, then = (tuning.judged(each) for each in (tuning.present, tuning.chosen))
    judged = "fairness is that of the stations whose demand is not met"
    if now == then or not then:
        return [f"{judged}: {listed(now)}"] if now else []
    return [
        f"{judged}: with the present setting {listed(now) or 'none'}, with {tuning.chosen.name} "
        f"{listed(then)}"
    ]


def unsupported_by_model(tuning: Tuning, modelled: int) -> list[str]:
    """Return lines on settings that the model could not rank, with the reason."""
    trials = tuning.trials[1:]
    refused = [trial for trial in trials if trial.refusal is not None]
    if not modelled:
        return [f"not ranked by the model: {tuning.refusal}"] if tuning.refusal else []
    lines = []
    if refused:
        first = refused[0]
        lines.append(
            f"simulated without a prediction: {counted(len(refused), 'setting')} that the model "
            f"does not support, such as {first.name}, which {first.refusal}"
        )
    if tuning.refusal:
        lines.append(f"the model does not support the present setting either: {tuning.refusal}")
    return lines


def predicted_quantity(tuning: Tuning) -> str | None:
    """Return the quantity of the aim if the model predicts it; else None."""
    name = OBJECTIVES[tuning.objective].aim.quantity
    known = any(name in (trial.predicted or {}) for trial in tuning.confirmed)
    return name if known else None


def head(name: str, before: str = "") -> str:
    """Return a column header: the title on one or several lines, then the unit."""
    shown = SHOWN[name]
    words = f"{before}{shown.title}".split(" ")
    lines = wrap(" ".join(words), LONG_TITLE) if len(words) > MAX_LINES else words
    return "\n".join([*lines, f"[{shown.unit}]"])


def table_row(tuning: Tuning, trial: Trial, guessed: str | None, shown: list[str]) -> list[str]:
    """Return the table row of a setting that full simulations confirmed."""
    mark = " x" if tuning.objection(trial) else ""
    cells = [trial.name + (" *" if trial is tuning.chosen else mark)]
    if guessed is not None:
        guess = (trial.predicted or {}).get(guessed)
        cells.append(plain(None if guess is None else guess * SHOWN[guessed].scale))
    measured = estimated(trial.samples)
    return cells + [estimate_text(measured.get(name), SHOWN[name].scale) for name in shown]


def spreads(tuning: Tuning) -> list[str]:
    """Return a line on the relative spread of goodputs, if the aim is Jain's index.

    If Jain's index is near 1, it hides differences of goodputs."""
    aim = OBJECTIVES[tuning.objective].aim
    if not isinstance(aim, Evenness) or aim.quantity not in tuning.gains:
        return []
    now, then = (100.0 * spread(each[aim.quantity].mean) for each in (tuning.before, tuning.after))
    spreads_text = (
        f"Goodputs differ by {plain(now)} % with the present setting and by {plain(then)} % with "
        "the recommended setting"
    )
    return [*wrap(f"{spreads_text} (standard deviation over mean).", LINE_WIDTH), ""]


def gain_rows(tuning: Tuning) -> list[list[str]]:
    """Return table rows with present value, new value, and change with the interval of paired
    runs.
    """
    now, then = tuning.before, tuning.after
    rows = []
    for name, shown in SHOWN.items():
        if name not in tuning.gains:
            continue
        if name in COUNTED and now[name].mean == then[name].mean == 0.0:
            continue
        scale, change = shown.scale, tuning.gains[name]
        half = None if change.ci95 is None else change.ci95 * scale
        text = signed(change.mean * scale, half)
        if half:
            text += f" ± {estimate(half, half).partition(' ')[0]}"
        if now[name].mean:
            text += f" ({100 * change.mean / now[name].mean:+.1f} %)"
        rows.append(
            [
                shown.head,
                estimate_text(now[name], scale),
                estimate_text(then.get(name), scale),
                text,
            ]
        )
    return rows
