"""Arguments and options that the stability commands share."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lasthop.cli.options import file_name, pairs, read_scenario, writable_file
from lasthop.errors import UserError

if TYPE_CHECKING:
    from lasthop.models.red import Fluid
    from lasthop.plot.figure import Figure
    from lasthop.scenario import Scenario
    from lasthop.stability.case import Case
    from lasthop.stability.curve import Axis

__all__ = [
    "Asked",
    "CaseName",
    "Over",
    "Parameters",
    "Picture",
    "axes",
    "picture",
    "read_case",
    "save",
    "worded",
]

CaseName = Annotated[
    str,
    typer.Argument(
        metavar="CASE",
        help="A scenario file, a model or a paper's case; `models` lists the latter two.",
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help='Set a parameter, such as rtt="200 ms"; of a scenario file a value by its key path.',
    ),
]
Over = Annotated[
    list[str],
    typer.Option(
        "--over", metavar="NAME=LOW..HIGH", help="Vary a parameter, such as rtt=10ms..1s."
    ),
]


PICTURES = (".png", ".pdf", ".svg")


def picture(text: object) -> Path:
    """The value of an option that names a picture."""
    path = file_name(text)
    if path.suffix not in PICTURES:
        raise typer.BadParameter(f"{path}: the name must end in {', '.join(PICTURES)}")
    return writable_file(path, "--out")


Picture = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        parser=picture,
        help="Write a picture, PNG, PDF or SVG.",
        show_default=False,
    ),
]


def save(figure: "Figure", path: Path) -> None:
    """Write a picture, and say so."""
    from lasthop.saving import write_atomically

    write_atomically(path, lambda file: figure.savefig(file, format=path.suffix[1:]))
    typer.echo(f"picture: {path}")


@dataclass(frozen=True)
class Asked:
    """What a command is about: a case, and the scenario that it was derived from, if it was."""

    case: "Case"
    scenario: "Scenario | None" = None
    fluid: "Fluid | None" = None

    def need_rest(self) -> None:
        """Refuse a scenario whose fluid has no point of rest, by the name of its file."""
        from lasthop.stability.errors import NoEquilibriumError

        try:
            _ = self.case.equilibrium
        except NoEquilibriumError as error:
            if self.scenario is None:
                raise
            raise UserError(f"{self.scenario.source}: model {error}") from None

    def introduce(self) -> None:
        """Print the parameters that a scenario became, and what is doubtful about them."""
        from lasthop.cli.stability.answers import number
        from lasthop.cli.tables import print_table

        if self.scenario is None or self.fluid is None:
            return
        typer.echo(f"{self.scenario.source} as a fluid\n")
        rows = []
        for each in self.fluid.derived:
            value = worded(each.value)
            shown = number(value) if isinstance(value, float) else str(value)
            rows.append([each.name, shown, each.unit, each.source])
        print_table(["parameter", "value", "unit", "from"], rows, names=4)
        self.warn()

    def warn(self) -> None:
        """Print what is doubtful about the derived parameters, on standard error."""
        for warning in self.fluid.warnings if self.fluid is not None else ():
            print(f"warning: {warning}", file=sys.stderr)

    def printed(self, answer: Mapping[str, Any]) -> None:
        """Print an answer as JSON, with the scenario and what became of it."""
        from lasthop.cli.stability.answers import print_json

        if self.scenario is None or self.fluid is None:
            print_json(answer)
            return
        derived = {each.name: worded(each.value) for each in self.fluid.derived}
        print_json({"scenario": self.scenario["name"], "parameters": derived, **answer})
        self.warn()


def worded(value: Any) -> str | float:
    """Return a parameter's value as text or number; a window rule by its name."""
    return value if isinstance(value, str | int | float) else str(value.name)


def read_case(name: str, settings: list[str] | None) -> Asked:
    """Return what a command is about: a scenario file, a model, or a paper's case."""
    # Before numpy: the matrices are small, and threads would mostly wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from lasthop.stability.models import MODELS
    from lasthop.stability.presets import PRESETS, named

    if name not in MODELS and name not in PRESETS and is_file(name):
        return from_scenario(name, settings)
    return Asked(named(name, dict(pairs(settings or [], "--set", "NAME=VALUE", 'rtt="200 ms"'))))


def is_file(name: str) -> bool:
    """Whether a case is named as files are: no model's name has a dot or a slash."""
    return name in ("", "-") or "." in name or "/" in name or Path(name).exists()


def from_scenario(name: str, settings: list[str] | None) -> Asked:
    """Return a scenario as a fluid.

    Raises
    ------
    UserError
        If it has no fluid counterpart; the message says why.
    """
    from lasthop.cli.predict import refused
    from lasthop.errors import ModelError
    from lasthop.models.red import fluid

    scenario = read_scenario(name, settings)
    try:
        found = fluid(scenario.to_dict())
    except ModelError as error:
        raise refused(scenario, "red", error) from None
    return Asked(found.case, scenario, found)


def axes(case: "Case", over: list[str], count: int) -> list["Axis"]:
    """Return the parameters to vary, of which there must be `count`."""
    from lasthop.stability.curve import Axis

    found = []
    for name, span in pairs(over, "--over", "NAME=LOW..HIGH", "rtt=10ms..1s"):
        number = case.number(name)
        ends = span.split("..")
        if len(ends) != 2:
            raise UserError(f"--over {name}={span}: LOW..HIGH is needed", "--over rtt=10ms..1s")
        low, high = (number.read(end) for end in ends)
        if not low < high:
            raise UserError(f"--over {name}={span}: {ends[0]} is not below {ends[1]}")
        found.append(Axis(name, low, high))
    if len(found) != count:
        times = "once" if count == 1 else "twice"
        raise UserError(f"--over is needed {times}, not {len(found)} times")
    return found
