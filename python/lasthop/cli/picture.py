"""Option `--plot [FILE]` of several commands: whether to draw a picture, and where to save it."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from lasthop.answers.overwrite import refuse_foreign
from lasthop.answers.pictures import PICTURES, is_picture, wrong_name
from lasthop.answers.saving import write_atomically
from lasthop.cli.boundary import note
from lasthop.cli.command_line import command_line
from lasthop.cli.declared import bad_parameter
from lasthop.cli.options import file_name, stem, unset, writable, writable_file
from lasthop.extras import need
from lasthop.scenario.scenario import Scenario

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

OPTION = "--plot"

OUT = Path("out")
"""Directory of output files if --out is not given."""

OF_OTHERS = (".bmp", ".emf", ".eps", ".gif", ".jpeg", ".jpg", ".ps", ".tif", ".tiff", ".webp")
"""Suffixes of unsupported picture formats, so that such a name is not read as a scenario."""

LONGEST = 72
"""Maximum length of the changed settings in a default file name. [characters]"""

Parts: TypeAlias = Sequence[tuple[str, str]]
"""Changed values: pairs of the name of a setting or option, and its value."""


def asked_picture(text: object) -> str:
    """Check the value of --plot: the file name of a picture, or empty for the default name."""
    name = str(text)
    if name and not is_picture(Path(name)):
        raise bad_parameter(wrong_name(name))
    return name


def plot_option(folder: str) -> Any:
    """Return the option --plot; `folder` describes the default directory of the picture."""
    return unset(
        "[FILE]",
        "Draw a picture, in the format of FILE's suffix: PNG, PDF or SVG. By default it is a PNG "
        f"in {folder}, named after the scenario and changed settings.",
        OPTION,
        parser=asked_picture,
    )


PLOT = plot_option("the directory of --out or in out")
PLOT_IN_OUT = plot_option("the directory out")
"""Option --plot of commands without the option --out."""


def with_values(args: Sequence[str]) -> list[str]:
    """Return the arguments with `--plot` replaced by `--plot=FILE`, or by `--plot=` without a file.

    The next argument is the file if its suffix is that of a picture.
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
    """Return the settings that change the scenario's file, and the options in `more` that are
    given.
    """
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
    """Return the path of the picture; None if --plot is not given.

    Parameters
    ----------
    asked : str or None
        Value of the option --plot.
    scenario : Scenario
        Scenario. The default name of the picture begins with the name of the scenario's file.
    command : str
        Command that draws the picture.
    parts : sequence of pairs
        Changed values, which are part of the default file name.
    out : Path, optional
        Value of the option --out.

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
    """Return the path of the picture; raise an error if it cannot be drawn or written."""
    need("pictures")
    if asked:
        path = writable_file(file_name(asked), OPTION, scenario)
    else:
        folder = OUT if out is None else out
        path = writable(folder, "--out") / f"{beginning}{changes_part(parts)}.png"
    refuse_foreign(path.parent, [path.name])
    return path


def changes_part(parts: Parts) -> str:
    """Return changed values as part of a file name; different values give different names."""
    if not parts:
        return ""
    total = "".join(f"-{name}={value}" for name, value in parts)
    plain = re.sub(r"\s+", "", total)
    short = re.sub(r"[^\w.,=+-]+", "_", plain, flags=re.ASCII)[:LONGEST]
    if short == plain:
        return short
    import hashlib

    return f"{short}-{hashlib.sha256(total.encode()).hexdigest()[:8]}"


def save_picture(draw: "Callable[[], Figure]", path: Path | None, *, as_json: bool = False) -> None:
    """Draw a picture, write it to `path` and print the path; do nothing if `path` is None.

    The path is printed on standard error if standard output is JSON.
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
    """Print what was written and the path; print on standard error if standard output is JSON."""
    note(f"{what}: {where}", err=as_json)
