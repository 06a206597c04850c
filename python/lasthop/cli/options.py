"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from lasthop.errors import UserError
from lasthop.scenario import Scenario

__all__ = [
    "File",
    "Jobs",
    "Json",
    "Model",
    "Replications",
    "Seed",
    "Settings",
    "pairs",
    "read_scenario",
    "stem",
    "writable",
]

File = Annotated[
    str, typer.Argument(metavar="FILE", help="Scenario, TOML or JSON; - is standard input.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Replace a value, such as cell.ap.cwmin=15."),
]
# Text: the engine says what is allowed, as it does for the scenario's own value.
Replications = Annotated[
    str | None, typer.Option(metavar="N", help="Independent replications.", show_default=False)
]
Seed = Annotated[
    str | None, typer.Option(metavar="N", help="Seed of all random streams.", show_default=False)
]


def thread_count(text: str) -> int:
    """The value of --jobs."""
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:4]) <= 1024:
        raise typer.BadParameter(f'"{text}" is not a number of threads from 1 to 1024')
    return int(text)


Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=thread_count,
        help="Threads; by default one for each processor.",
        show_default=False,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Analytical model: edca or hotspot; by default the one that suits the scenario.",
        show_default=False,
    ),
]


def read_scenario(
    file: str,
    settings: list[str] | None = None,
    *,
    replications: str | None = None,
    seed: str | None = None,
    series: str | None = None,
) -> Scenario:
    """The scenario in `file`, with values set from the command line."""
    given = {
        "replications": replications,
        "seed": seed,
        "record.series_interval": series,
    }
    every = pairs(settings or [], "--set")
    every += [(path, value) for path, value in given.items() if value is not None]
    return Scenario("-" if file == "-" else Path(file), every)


def pairs(given: list[str], option: str) -> list[tuple[str, str]]:
    """``PATH=VALUE`` arguments of an option as pairs."""
    for text in given:
        if "=" not in text or text.startswith("="):
            raise UserError(f'{option} "{text}": not of the form PATH=VALUE')
    return [(path.strip(), value.strip()) for path, _, value in (t.partition("=") for t in given)]


def stem(scenario: Scenario) -> str:
    """What files about this scenario are called."""
    return "scenario" if scenario.source.startswith("<") else Path(scenario.source).stem


def writable(directory: Path) -> Path:
    """The directory, or an error before hours of simulation if nothing can be written there."""
    import os

    nearest = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise UserError(f"{nearest}: not a directory")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UserError(f"{nearest}: not writable")
    return directory
