"""Arguments and options that the stability commands have in common."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lasthop.answers.pictures import PICTURES, is_picture
from lasthop.cli.boundary import warn
from lasthop.cli.options import out_option, pairs, read_scenario, stem, unset
from lasthop.cli.picture import place, save_picture
from lasthop.cli.stability.answers import number, print_json
from lasthop.cli.tables import print_table
from lasthop.errors import TooCostlyError, UserError

if TYPE_CHECKING:
    from lasthop.models.red import Fluid
    from lasthop.plot.figure import Figure
    from lasthop.scenario.scenario import Scenario
    from lasthop.stability.axis import Axis
    from lasthop.stability.case import Case

CaseName = Annotated[
    str,
    typer.Argument(
        metavar="CASE",
        help="Scenario file, or the name of a model or of a case of a paper; `lasthop stability "
        "models` lists the names.",
    ),
]
PARAMETERS = unset(
    "NAME=VALUE",
    'Set a parameter, such as rtt="200 ms"; in a scenario file, replace a value by its key path.',
    "--set",
)
Over = Annotated[
    list[str],
    typer.Option(
        "--over",
        metavar="NAME=LOW..HIGH",
        help="Vary a parameter, such as rtt=10ms..1s. Optionally use values in equal steps, such "
        "as q_th=5..50:5, or in equal ratios, such as rtt=10ms..1s log 50.",
    ),
]


KEY_PATHS = {
    "rtt": "dumbbell.rtt",
    "flows": "dumbbell.flows",
    "link_capacity": "dumbbell.bottleneck",
    "min_th": "queue.red.min_th",
    "max_th": "queue.red.max_th",
    "max_p": "queue.red.max_p",
    "queue_weight": "queue.red.weight",
    "buffer": "queue.limit",
    "target": "queue.pi.target",
    "a": "queue.pi.a",
    "b": "queue.pi.b",
    "update": "queue.pi.update",
    "q_th": "queue.threshold",
    "alpha": "tcp.compound.alpha",
    "k": "tcp.compound.k",
    "beta": "tcp.compound.beta",
}
"""Scenario key paths that correspond to parameters of the fluid model, for a `dumbbell`."""

SPAN = re.compile(r"((?:(?!\.\.).)+)\.\.((?:(?!\.\.|:|\slog\s).)+)(?::(.+)|\s+log\s+(\d{1,6}))?")
"""Pattern of a range LOW..HIGH, optionally with :STEP, or with the number of logarithmic values."""


OUT = out_option(
    "The only file is a picture. If DIR ends in .png, .pdf or .svg, DIR is the name of the "
    "picture, as with --plot."
)


def picture_path(
    out: Path | None,
    plot: str | None,
    asked: "Asked",
    command: str,
    *more: tuple[str, str],
) -> Path | None:
    """Return the path of the picture; None if neither --plot nor --out is given.

    Parameters
    ----------
    out : Path or None
        Value of the option --out.
    plot : str or None
        Value of the option --plot.
    asked : Asked
        Case or scenario that the command analyses.
    command : str
        Name of the command.
    more : pairs
        Further values in the default file name, in addition to the settings.
    """
    if out is not None and out.suffix and not is_picture(out) and not out.is_dir():
        raise UserError(
            f"--out {out}: expected a directory, or a name that ends in {', '.join(PICTURES)}"
        )
    if out is not None and is_picture(out):
        if plot:
            raise UserError(
                f"--out {out}: --plot {plot} names another picture; expected only one of the two"
            )
        out, plot = None, str(out)
    elif out is None and plot is None:
        return None
    return place(plot or "", f"{asked.stem}-{command}", [*asked.settings, *more], out)


def save(draw: "Callable[[ModuleType], Figure]", path: Path | None, *, as_json: bool) -> None:
    """Write the picture to `path` and print the path; print on standard error if standard output is
    JSON.

    The function `draw` gets the module `lasthop.plot.stability`, which imports matplotlib.
    """

    def drawn() -> "Figure":
        from lasthop.plot import stability as pictures

        return draw(pictures)

    save_picture(drawn, path, as_json=as_json)


@dataclass(frozen=True)
class Asked:
    """Subject of a command: a case of a fluid model, and the scenario that it was derived from."""

    case: "Case"
    name: str
    scenario: "Scenario | None" = None
    fluid: "Fluid | None" = None
    settings: tuple[tuple[str, str], ...] = ()
    """Settings of the command line: pairs of key path or parameter name, and value."""

    @contextmanager
    def answering(self, max_time: float, max_memory: float) -> Iterator[None]:
        """Limit time and memory while the body runs, and name the scenario's file in errors."""
        import numpy as np

        from lasthop.progress.cost_limits import allowing
        from lasthop.stability.errors import ConvergenceError, NoEquilibriumError

        try:
            # Extreme values are visible in the printed numbers, so NumPy's warnings are disabled.
            with allowing(max_time, max_memory), np.errstate(all="ignore"):
                yield
        except (ConvergenceError, NoEquilibriumError) as error:
            if self.scenario is None:
                raise
            raise UserError(f"{self.scenario.source}: model {error}", error.hint) from None
        except TooCostlyError as error:
            if self.scenario is None:
                raise
            raise UserError(f"{self.scenario.source}: {error}", error.hint) from None

    @property
    def title(self) -> str:
        """Title of pictures: the name of the scenario or of the case."""
        return self.name if self.scenario is None else self.scenario.typed.name

    @property
    def stem(self) -> str:
        """Beginning of the file names of pictures."""
        return self.name if self.scenario is None else stem(self.scenario)

    @property
    def about(self) -> str:
        """Changed settings as text in pictures."""
        from lasthop.plot.about import changes_text

        return changes_text(dict(self.settings))

    def introduce(self) -> None:
        """Print a line on the fluid model that was derived from a scenario, and warnings about the
        model.
        """
        if self.scenario is None or self.fluid is None:
            return
        what = f"{self.case.model.name}, {self.fluid.flows} flows, "
        what += f"{number(float(self.case.decided['capacity']))} packets/s per flow"
        typer.echo(f"fluid model of {self.scenario.source}: {what}\n")
        self.warn()

    def list_parameters(self) -> None:
        """Print the parameters of the fluid model that were derived from a scenario."""
        if self.fluid is None:
            return
        rows = []
        for each in self.fluid.derived:
            value = worded(each.value)
            shown = number(value) if isinstance(value, float) else str(value)
            rows.append([each.name, shown, each.unit, each.source])
        print_table(["parameter", "value", "unit", "derived from"], rows, names=4)

    def warn(self) -> None:
        """Print warnings about the derived parameters on standard error."""
        warn(*(self.fluid.warnings if self.fluid is not None else ()))

    def printed(self, **answer: Any) -> None:
        """Print a result as JSON, with the model, the scenario, and the derived parameters."""
        parts: dict[str, Any] = {}
        if self.scenario is not None and self.fluid is not None:
            derived = {each.name: worded(each.value) for each in self.fluid.derived}
            parts = {"scenario": self.scenario.typed.name, "parameters": derived}
        print_json({**parts, "model": self.case.model.name, **answer})
        self.warn()


def worded(value: Any) -> str | float:
    """Return a parameter's value as a number or text; a window rule becomes its name."""
    return value if isinstance(value, str | int | float) else str(value.name)


def read_case(name: str, settings: list[str] | None) -> Asked:
    """Return the subject of a command from a scenario file, a model, or a case of a paper."""
    # Set before numpy is imported. Threads would slow down operations on small matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from lasthop.stability.models import MODELS
    from lasthop.stability.presets import PRESETS, named

    if name not in MODELS and name not in PRESETS and is_file(name):
        return from_scenario(name, settings)
    given = dict(pairs(settings or [], "--set", "NAME=VALUE", 'rtt="200 ms"'))
    return Asked(named(name, given), name, settings=tuple(given.items()))


def is_file(name: str) -> bool:
    """Return whether a name is a file: it exists, or it has a dot or a separator of folders, which
    no model name has.
    """
    return name in ("", "-") or any(each in name for each in "./\\") or Path(name).exists()


def from_scenario(name: str, settings: list[str] | None) -> Asked:
    """Return the fluid model of a scenario.

    Raises
    ------
    UserError
        If the fluid model does not support the scenario; the message contains the reason.
    """
    from lasthop.cli.predict import refused
    from lasthop.errors import ModelError
    from lasthop.models.red import fluid

    for path, _ in pairs(settings or [], "--set", "PATH=VALUE", 'dumbbell.rtt="200 ms"'):
        if path in KEY_PATHS:
            raise UserError(
                f"--set {path}: expected the key path of a scenario's value",
                f"write --set {KEY_PATHS[path]}=..., or vary the parameter of the fluid model by "
                f"--over {path}=LOW..HIGH",
            )
    scenario = read_scenario(name, settings)
    try:
        result = fluid(scenario.typed)
    except ModelError as error:
        raise refused(scenario, "red", error) from None
    return Asked(result.case, name, scenario, result, scenario.settings)


def over_parts(over: list[str]) -> list[tuple[str, str]]:
    """Return the --over options as pairs of parameter name and range."""
    return pairs(over, "--over", "NAME=LOW..HIGH", "rtt=10ms..1s")


def axes(asked: Asked, over: list[str], count: int, *, of_rest: bool = True) -> list["Axis"]:
    """Return the varied parameters with their ranges; raise an error unless there are `count`
    parameters. See `axis_of` for `of_rest`.
    """
    from lasthop.stability.axis import axis_of

    results = []
    for name, span in over_parts(over):
        read = SPAN.fullmatch(span)
        if read is None:
            raise UserError(
                f"--over {name}={span}: expected LOW..HIGH, optionally with :STEP or log N",
                "write --over rtt=10ms..1s",
            )
        fluids = next((short for short, path in KEY_PATHS.items() if path == name), None)
        if fluids is not None:
            raise UserError(
                f"--over {name}: is a key path of the scenario: expected a parameter of the fluid "
                "model",
                f"write --over {fluids}={span}",
            )
        low, high, step, ratios = read.groups()
        values = None if ratios is None else int(ratios)
        results.append(
            axis_of(asked.case, name, low, high, step=step, ratios=values, of_rest=of_rest)
        )
    if len(results) != count:
        wanted = "one parameter" if count == 1 else "two parameters, each in its own --over"
        raise UserError(f"--over: expected {wanted}, but {len(results)} given")
    return results
