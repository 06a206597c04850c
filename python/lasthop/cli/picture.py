"""Option `--plot [FILE]` of several commands: whether to draw, and the path of the picture."""

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import typer

from lasthop.answers.overwrite import refuse_foreign
from lasthop.answers.pictures import PICTURES, is_picture
from lasthop.answers.saving import write_atomically
from lasthop.cli.boundary import note
from lasthop.cli.command_line import command_line
from lasthop.cli.options import file_name, stem, unset, writable, writable_file
from lasthop.scenario.scenario import Scenario

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

OPTION = "--plot"

OUT = Path("out")
"""Default directory of files, without --out."""

OF_OTHERS = (".bmp", ".emf", ".eps", ".gif", ".jpeg", ".jpg", ".ps", ".tif", ".tiff", ".webp")
"""Suffixes of other picture formats, which are neither supported nor scenarios."""

LONGEST = 72
"""Largest number of characters for the changed settings in a default name."""

Parts: TypeAlias = Sequence[tuple[str, str]]
"""Changed values, each with the name of the setting or option."""


def asked_picture(text: object) -> str:
    """Read the value of --plot: empty for the default path, else the name of a picture."""
    name = str(text)
    if name and not is_picture(Path(name)):
        raise typer.BadParameter(f"{name}: the name must end in {', '.join(PICTURES)}")
    return name


PLOT = unset(
    "[FILE]",
    "Draw a picture, in the format of FILE's suffix: PNG, PDF or SVG. By default it is a PNG "
    "in the directory of --out or in out, named after the scenario and changed settings.",
    OPTION,
    parser=asked_picture,
)


def with_values(args: Sequence[str]) -> list[str]:
    """Return the arguments with an explicit value of `--plot`.

    The value is empty unless the name of a picture follows.
    """
    done: list[str] = []
    rest = list(args)
    while rest and rest[0] != "--":
        arg = rest.pop(0)
        if arg != OPTION:
            done.append(arg)
            continue
        follows = rest[0] if rest and not rest[0].startswith("-") else ""
        named = Path(follows).suffix.lower() in (*PICTURES, *OF_OTHERS)
        done.append(f"{OPTION}={rest.pop(0) if named else ''}")
    return [*done, *rest]


def changed(scenario: Scenario, *more: tuple[str, str | None]) -> Parts:
    """Return the settings that change a scenario's file, and other options with a value."""
    from lasthop.plot.about import changes

    given = ((name, value) for name, value in more if value is not None)
    return [*changes(scenario).items(), *given]


def picture_path(
    asked: str | None,
    scenario: Scenario,
    command: str,
    parts: Parts = (),
    out: Path | None = None,
) -> Path | None:
    """Return the file of a picture; None if no picture is requested.

    Parameters
    ----------
    asked : str or None
        The value of --plot.
    scenario : Scenario
        Scenario of the picture.
    command : str
        Command that draws the picture.
    parts : sequence of pairs
        Changed values, for a default name.
    out : Path, optional
        The value of --out.

    Raises
    ------
    UserError
        If the file cannot be written, or if another program's file would be replaced.
    """
    if asked is None:
        return None
    return place(asked, f"{stem(scenario)}-{command}", parts, out, scenario.source)


def place(
    asked: str, beginning: str, parts: Parts = (), out: Path | None = None, scenario: str = ""
) -> Path:
    """Return the path of the picture after checks; a default name contains the changed settings."""
    if asked:
        path = writable_file(file_name(asked), OPTION, scenario)
    else:
        folder = OUT if out is None else out
        path = writable(folder, "--out") / f"{beginning}{changes_part(parts)}.png"
    refuse_foreign(path.parent, [path.name])
    return path


def changes_part(parts: Parts) -> str:
    """Return the changes as part of a file name; different changes give different names."""
    if not parts:
        return ""
    total = "".join(f"-{name}={value}" for name, value in parts)
    plain = re.sub(r"\s+", "", total)
    short = re.sub(r"[^\w.,=+-]+", "_", plain, flags=re.ASCII)[:LONGEST]
    if short == plain:
        return short
    return f"{short}-{hashlib.sha256(total.encode()).hexdigest()[:8]}"


def save_picture(draw: "Callable[[], Figure]", path: Path | None, *, as_json: bool = False) -> None:
    """Draw and write a picture, if one is requested, and print its name.

    The name is printed on standard error if JSON is printed.
    """
    if path is None:
        return
    figure, kind = draw(), path.suffix[1:].lower()
    path.parent.mkdir(parents=True, exist_ok=True)
    from lasthop.plot.figure import metadata

    about = metadata(kind, command_line())
    write_atomically(path, lambda file: figure.savefig(file, format=kind, metadata=about))
    tell("picture", path, as_json=as_json)


def tell(what: str, where: object, *, as_json: bool = False) -> None:
    """Print the kind and path of a written file; use standard error if JSON is printed."""
    note(f"{what}: {where}", err=as_json)
